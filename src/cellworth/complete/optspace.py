"""OptSpace: a spectral start, then descent over pairs of subspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.factored import Callback, FactoredCompleter, check_rank
from cellworth.complete.held_out import hold_out
from cellworth.complete.inputs import check_number
from cellworth.complete.row_ridge import choose_rank, mean_square, shrink_rows
from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    determined_rank,
    leading_directions,
    never_stop,
)
from cellworth.complete.solver.grassmann import descend, estimate_rank, spectral_start, trim

Array = NDArray[np.floating]

PATH_STEPS = 100  # of a fit that only serves to choose the rank
MOST_COMPONENTS = 20  # that are tried: the core alone takes r^6 flops


class OptSpaceCompleter(FactoredCompleter):
    r"""Fill the holes of a table from the pair of subspaces that fits its observed cells best.

    Solves, after Keshavan, Montanari and Oh (2010),

    .. math:: \min_{X^\top X = I,\ Y^\top Y = I}\ \min_S\ \tfrac12\|R_\Omega(M - XSY^\top)\|_F^2

    over X (n, r), Y (d, r) and S (r, r). Rows and columns with more than twice the mean number of
    observed cells are left out of the spectral start (trimming). From there it descends along the
    gradient on the two Grassmann manifolds, in the metric that S defines, with a line search; S is
    the exact least-squares solution at each point. An observed 0 is a value like any other. At the end,
    unlike in the publication, the rows are estimated once more from :math:`SY^\top` with a ridge, so
    that rows with few observed cells stay sensible; ``ridge=0`` leaves that out.

    Parameters
    ----------
    rank : int, "spectrum" or None, default=None
        The number r of components, at most that of rows and of columns. "spectrum": the authors'
        estimate, the i with the least :math:`(\sigma_{i+1} + \sigma_1\sqrt{i/\epsilon})/\sigma_i`
        over the singular values of the trimmed table, :math:`\epsilon = |\Omega|/\sqrt{nd}`; quick,
        but it can miss weak components. None: the rank, up to 20, that fills a hidden tenth of the
        observed cells best; one more component must lower the error in them by 1 %.
    ridge : float or None, default=None
        Noise variance in scaled units, with which rows are estimated. 0: as X S Y^T says. None: chosen
        on the hidden cells, between 1e-6 and 1 times the mean square of the observed values.
    scale : {"minmax", "standard", None}, default="standard"
        How columns are brought to a common scale first. Results are in the units of the input. Without
        information a cell is filled with what scales to 0: the column's mean under "standard", its
        smallest value under "minmax", where the means also take up one component.
    tol : float, default=1e-3
        Ends when the part of the residual that subspaces of this rank could still remove is below this
        fraction of the norm of the observed (scaled) values. Noisy tables gain nothing from less;
        for exact recovery of a table without noise take 1e-6.
    max_iter : int, default=500
        Most gradient steps.
    random_state : int, numpy.random.Generator or None, default=0
        Draws the hidden cells. None draws anew in each fit.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Precision of the work and of the result. None: float32 for a float32 table, else float64.
    callback : callable or None, default=None
        Called with a `Progress` after each step of the final fit; a true return value ends it there.

    Attributes
    ----------
    completed_ : (n, d) array
        The table of `fit` without holes, in its own units; observed cells are kept as they were.
    low_rank_ : tuple of (n, rank_) and (rank_, d) arrays
        Factors of the estimate in scaled units. The rows of the right one are orthogonal; the left
        one has columns of mean square 1, or less where the ridge shrank them.
    rank_ : int
    ridge_ : float
        Noise variance as it was used, in scaled units.
    objective_ : (n_iter_ + 1,) array
        :math:`\frac12\|R_\Omega(M - XSY^\top)\|_F^2` at the start and after each step, before the rows
        are estimated anew; never rises.
    n_iter_ : int
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the input had column names.

    Notes
    -----
    Per step at rank r: about five products of 2 n d r flops, and 2 n r^2 (d + r^2) + O(r^6) flops for
    each S that the line search tries, usually one. The choice of rank and ridge works on at most 10,000 rows.
    Memory: four arrays of the table's size beside the table.

    References
    ----------
    R. H. Keshavan, A. Montanari and S. Oh, "Matrix completion from a few entries", IEEE Transactions
    on Information Theory 56 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.optspace import OptSpaceCompleter
    >>> X = np.outer(np.arange(1.0, 101.0), [1.0, 10.0, 100.0])  # three columns in proportion
    >>> X[29, 2] = np.nan
    >>> completer = OptSpaceCompleter(scale="minmax", tol=1e-6)
    >>> completer.fit_transform(X)[29].round()
    array([  30.,  300., 3000.])
    >>> completer.transform([[60.0, np.nan, np.nan]]).round()
    array([[  60.,  600., 6000.]])
    """

    def __init__(
        self,
        *,
        rank: int | Literal["spectrum"] | None = None,
        ridge: float | None = None,
        scale: Literal["minmax", "standard"] | None = "standard",
        tol: float = 1e-3,
        max_iter: int = 500,
        random_state: int | np.random.Generator | None = 0,
        dtype: DTypeLike | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.rank = rank
        self.ridge = ridge
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.dtype = dtype
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.rank, str) or self.rank != "spectrum":
            check_rank(self.rank, "'spectrum', ")
        if self.ridge is not None:
            check_number("ridge", self.ridge, minimum=0)

    def _factorise(
        self, values: Array, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        trimmed, ridge = trim(values, observed), self.ridge
        ranks = self._candidates(trimmed, int(observed.sum()))
        if len(ranks) > 1 or ridge is None:
            held = hold_out(values, observed, rng)
            choice = choose_rank(held, self._fits(held.values, held.observed, ranks), ridge)
            ranks = range(choice.rank, choice.rank + 1)
            ridge = choice.relative * mean_square(values, observed) if ridge is None else ridge
        (fit,) = self._fits(values, observed, ranks, watch)
        shrink_rows(fit, values, observed, ridge)
        self.ridge_ = float(ridge)
        return fit

    def _row_penalty(self) -> float:
        return self.ridge_

    def _candidates(self, trimmed: Array, cells: int) -> range:
        """Return the ranks to choose from: one if it is given or estimated."""
        if self.rank is None:
            return range(1, 1 + min(MOST_COMPONENTS, determined_rank(trimmed.shape, cells)))
        if self.rank == "spectrum":
            singular_values, _ = leading_directions(trimmed, min(trimmed.shape))
            rank = estimate_rank(singular_values, cells, trimmed.shape)
        else:
            rank = min(int(self.rank), *trimmed.shape)
        return range(rank, rank + 1)

    def _fits(
        self, values: Array, observed: BoolArray, ranks: range, watch: Watch = never_stop
    ) -> Iterator[Factors]:
        """Yield the fit of each rank, each from its own spectral start."""
        trimmed = trim(values, observed)
        max_iter = self.max_iter if len(ranks) == 1 else min(self.max_iter, PATH_STEPS)
        for rank in ranks:
            X, Y = spectral_start(trimmed, rank)
            yield descend(values, observed, X, Y, tol=self.tol, max_iter=max_iter, watch=watch)

    def _easier(self) -> str:
        return ", or lower rank, which makes the problem easier."
