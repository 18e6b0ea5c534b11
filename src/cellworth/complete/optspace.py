r"""OptSpace (Keshavan, Montanari and Oh, 2010): trimming, a spectral start, and descent over subspaces.

.. math:: \min_{X^\top X = I,\ Y^\top Y = I}\ F(X, Y), \qquad
          F(X, Y) = \min_S\ \tfrac12\|R_\Omega(M - XSY^\top)\|_\mathrm{F}^2

F depends only on the subspaces spanned by X (n, r) and Y (d, r), so it is a function on a product of two
Grassmann manifolds. With the best S, and R the residual of the observed cells, its gradients are
:math:`-RYS^\top` and :math:`-R^\top XS`. Steps are taken in the metric defined by S, along
:math:`RYS^{-1}` and :math:`R^\top XS^{-\top}`, so that weak and strong components converge equally fast.

The authors may add to F a term that keeps rows of X and Y from carrying a component alone,

.. math:: \rho\sum_i G\Bigl(\frac{n\|X_i\|^2}{3\mu_0 r}\Bigr)
          + \rho\sum_j G\Bigl(\frac{d\|Y_j\|^2}{3\mu_0 r}\Bigr), \qquad G(z) = e^{(z-1)^2} - 1
          \text{ for } z > 1, \text{ else } 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.factored_completer import (
    FactoredCompleter,
    check_rank,
    choose_rank,
    mean_square,
    shrink_rows,
)
from cellworth.complete.hold_out import hold_out
from cellworth.complete.inputs import check_number
from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    determined_rank,
    leading_directions,
    never_stop,
    norm_or_one,
    residual,
    sum_of_squares,
)
from cellworth.complete.solver.monitor import Callback

PATH_STEPS = 100  # of a fit that is only used to choose the rank
MOST_COMPONENTS = 20  # to try: the core alone takes r^6 flops
BLOCK_BYTES = 1 << 22
ENOUGH = 1e-4  # fraction of the predicted decrease that a step must achieve (Armijo)
HALVINGS = 30
STEEPEST = 5.0  # beyond the limit by this, the incoherence term goes on in a straight line


class OptSpaceCompleter(FactoredCompleter):
    r"""Fill the holes of a table from the pair of subspaces that best fits its observed cells.

    Following Keshavan, Montanari and Oh (2010), solves

    .. math:: \min_{X^\top X = I,\ Y^\top Y = I}\ \min_S\ \tfrac12\|R_\Omega(M - XSY^\top)\|_F^2

    over X (n, r), Y (d, r) and S (r, r). Rows and columns with more than twice the mean number of
    observed cells are left out of the spectral start (trimming). From there it descends along the
    gradient on the two Grassmann manifolds, in the metric defined by S, with a line search; S is the
    exact least-squares solution at each point. An observed 0 is a value like any other. Finally, unlike
    in the paper, the rows are re-estimated from :math:`SY^\top` with a ridge, so that rows with few
    observed cells stay sensible; ``ridge=0`` skips this.

    Parameters
    ----------
    rank : int, "spectrum" or None, default=None
        The number r of components, at most the number of rows or columns. "spectrum": the authors'
        estimate, the i that minimises :math:`(\sigma_{i+1} + \sigma_1\sqrt{i/\epsilon})/\sigma_i`
        over the singular values of the trimmed table, :math:`\epsilon = |\Omega|/\sqrt{nd}`; fast, but
        it can miss weak components. None: the rank, up to 20, that best fills a hidden tenth of the
        observed cells; each component must lower their error by 1 %.
    ridge : float or None, default=None
        Noise variance, in scaled units, for estimating rows. 0 keeps X S Y^T. None: chosen on the
        hidden cells, between 1e-6 and 1 times the mean square of the observed values.
    incoherence : float, default=0.0
        :math:`\rho`, the weight of the authors' incoherence term, in units of the objective; 0 leaves it out,
        as their program does.
    incoherence_limit : float, default=1.0
        :math:`\mu_0`: rows of X longer than :math:`\sqrt{3\mu_0 r/n}`, and of Y than
        :math:`\sqrt{3\mu_0 r/d}`, are penalised.
    scale : {"minmax", "standard", None}, default="standard"
        How to scale columns first. Results are in the units of the input. "standard", the default of all
        low-rank completers without labels, weights columns equally and fills a cell with its column's mean
        if nothing is known about it. "minmax", which `SupervisedCompleter` takes from its paper, fills such
        a cell with the column's smallest value, and the means take up one component.
    tol : float, default=1e-3
        Stop when the part of the residual that subspaces of this rank could still remove is below this
        fraction of the norm of the observed (scaled) values. Noisy tables gain nothing from a smaller
        value; to recover a noise-free table exactly, use 1e-6.
    max_iter : int, default=500
        The maximum number of gradient steps.
    random_state : int, numpy.random.Generator or None, default=0
        Draws the hidden cells. None draws different ones in each fit.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Precision of the computation and of the result. None: float32 for a float32 table, else float64.
    callback : callable or None, default=None
        Called with a `Progress` after each step of the final fit; returning true stops the fit.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    low_rank_ : tuple of (n, rank_) and (rank_, d) arrays
        Factors of the estimate in scaled units. The rows of the right one are orthogonal; the left
        one has columns of mean square 1, or less where the ridge shrank them.
    rank_ : int
    ridge_ : float
        The noise variance used, in scaled units.
    objective_ : (n_iter_ + 1,) array
        :math:`\frac12\|R_\Omega(M - XSY^\top)\|_F^2`, plus the incoherence term if there is one, at the
        start and after each step, before the rows are re-estimated; never increases.
    n_iter_ : int
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: its factors are fitted to the whole table at once. Use `SupervisedCompleter`.

    Per step at rank r: about five products of 2 n d r flops, and 2 n r^2 (d + r^2) + O(r^6) flops for
    each S that the line search tries, usually one. The choice of rank and ridge uses at most 10,000 rows.
    Memory: four arrays of the table's size besides the table.

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
        incoherence: float = 0.0,
        incoherence_limit: float = 1.0,
        scale: Literal["minmax", "standard"] | None = "standard",
        tol: float = 1e-3,
        max_iter: int = 500,
        random_state: int | np.random.Generator | None = 0,
        dtype: DTypeLike | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.rank = rank
        self.ridge = ridge
        self.incoherence = incoherence
        self.incoherence_limit = incoherence_limit
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
        check_number("incoherence", self.incoherence, minimum=0)
        check_number("incoherence_limit", self.incoherence_limit, above=0)

    def _factorise(
        self, values: FloatArray, observed: BoolArray, rng: np.random.Generator, watch: Watch
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

    def _candidates(self, trimmed: FloatArray, cells: int) -> range:
        """Return the ranks to choose from: a single one if it is given or estimated."""
        if self.rank is None:
            return range(1, 1 + min(MOST_COMPONENTS, determined_rank(trimmed.shape, cells)))
        if self.rank == "spectrum":
            singular_values, _ = leading_directions(trimmed, min(trimmed.shape))
            rank = estimate_rank(singular_values, cells, trimmed.shape)
        else:
            rank = min(int(self.rank), *trimmed.shape)
        return range(rank, rank + 1)

    def _fits(
        self, values: FloatArray, observed: BoolArray, ranks: range, watch: Watch = never_stop
    ) -> Iterator[Factors]:
        """Yield the fit of each rank, each from its own spectral start."""
        trimmed = trim(values, observed)
        max_iter = self.max_iter if len(ranks) == 1 else min(self.max_iter, PATH_STEPS)
        term = Incoherence(float(self.incoherence), float(self.incoherence_limit))
        for rank in ranks:
            X, Y = spectral_start(trimmed, rank)
            yield descend(values, observed, X, Y, tol=self.tol, max_iter=max_iter, watch=watch, term=term)


# Numerical kernel: arrays only.


def trim(values: FloatArray, observed: BoolArray) -> FloatArray:
    """Return ``values`` with 0 in rows and columns that have more than twice the mean number of cells.

    They would dominate the spectrum without telling more about it than others.
    """
    n, d = values.shape
    cells = int(observed.sum())
    keep_rows = observed.sum(axis=1) <= 2 * cells / n
    keep_columns = observed.sum(axis=0) <= 2 * cells / d
    return values * np.outer(keep_rows, keep_columns)


def estimate_rank(singular_values: FloatArray, cells: int, shape: tuple[int, int]) -> int:
    r"""Return the rank that the spectrum of the trimmed table suggests.

    It minimises over i :math:`(\sigma_{i+1} + \sigma_1\sqrt{i/\epsilon})/\sigma_i` with
    :math:`\epsilon = |\Omega|/\sqrt{nd}`: a value worth keeping is well above the next.
    """
    sigma = singular_values[singular_values > singular_values[:1].sum() * 1e-6]
    if len(sigma) < 2:
        return 1
    i = np.arange(1, len(sigma))
    epsilon = cells / np.sqrt(shape[0] * shape[1])
    return int(i[np.argmin((sigma[1:] + sigma[0] * np.sqrt(i / epsilon)) / sigma[:-1])])


def spectral_start(trimmed: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal X (n, rank), Y (d, rank) that span the leading directions of the trimmed table."""
    _, Y = leading_directions(trimmed, rank)
    X, _ = np.linalg.qr(trimmed @ Y)
    return X, Y


class Incoherence(NamedTuple):
    """The authors' incoherence term: its weight rho and limit mu_0."""

    weight: float = 0.0
    limit: float = 1.0

    def of(self, X: FloatArray) -> tuple[float, FloatArray]:
        """Return the term of orthonormal columns X (n, r), and its gradient (n, r)."""
        if self.weight == 0:
            return 0.0, np.zeros_like(X)
        unit = len(X) / (3 * self.limit * X.shape[1])
        beyond = np.maximum(unit * np.einsum("ij,ij->i", X, X) - 1, 0)
        curved = np.minimum(beyond, STEEPEST)
        grown = np.exp(curved**2)
        slope = 2 * curved * grown
        total = float((grown - 1 + slope * (beyond - curved)).sum())
        return self.weight * total, (2 * self.weight * unit * slope)[:, None] * X


NO_TERM = Incoherence()


class SubspacePair(NamedTuple):
    """Two subspaces, the best core between them, its residual, and F."""

    X: FloatArray
    Y: FloatArray
    S: FloatArray
    R: FloatArray
    value: float


def at(
    values: FloatArray, observed: BoolArray, X: FloatArray, Y: FloatArray, term: Incoherence = NO_TERM
) -> SubspacePair:
    """Return the point (X, Y) with its best S."""
    S = best_core(values, observed, X, Y)
    R = residual(values, observed, X @ S, Y.T)
    return SubspacePair(X, Y, S, R, sum_of_squares(R) / 2 + term.of(X)[0] + term.of(Y)[0])


def best_core(values: FloatArray, observed: BoolArray, X: FloatArray, Y: FloatArray) -> FloatArray:
    r"""Return :math:`\arg\min_S \|R_\Omega(M - XSY^\top)\|`, (r, r), of least norm if not unique.

    The normal equations are :math:`\sum_{ij\in\Omega} x_ix_i^\top S\,y_jy_j^\top = X^\top R_\Omega(M)Y`.
    O(n r^2 (d + r^2) + r^6), in row blocks.
    """
    (n, d), r = values.shape, X.shape[1]
    of_columns = np.einsum("ja,jb->jab", Y, Y).reshape(d, r * r)
    system = np.zeros((r * r, r * r))
    size = max(1, BLOCK_BYTES // (8 * max(d, r * r)))
    for i in range(0, n, size):
        x = X[i : i + size]
        of_rows = np.einsum("ia,ib->iab", x, x).reshape(len(x), r * r)
        system += of_rows.T @ (observed[i : i + size].astype(X.dtype) @ of_columns)
    system = system.reshape(r, r, r, r).transpose(0, 2, 1, 3).reshape(r * r, r * r)
    side = (X.T @ values @ Y).reshape(-1).astype(np.float64)
    S, *_ = np.linalg.lstsq(system, side, rcond=1e-12)
    return S.reshape(r, r).astype(X.dtype)


def descend(
    values: FloatArray,
    observed: BoolArray,
    X: FloatArray,
    Y: FloatArray,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
    term: Incoherence = NO_TERM,
) -> Factors:
    """Minimise F from orthonormal X (n, r), Y (d, r); ``values`` (n, d) is 0 in the holes.

    Stops when the gradient of the squared residual over tables of rank r is below ``tol`` times the
    norm of the values.

    Notes
    -----
    Per iteration about five products of 2 n d r flops and `best_core`.
    """
    norm = norm_or_one(values)
    here = at(values, observed, X, Y, term)
    fit = Factors(X, Y.T, [here.value])
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        RY, RX = here.R @ here.Y, here.R.T @ here.X
        core = here.X.T @ RY
        slope = np.sqrt(max(0.0, sum_of_squares(RY) + sum_of_squares(RX) - sum_of_squares(core))) / norm
        there = None if slope <= tol else _search(values, observed, here, RY, RX, term)
        fit.converged = there is None
        if there is not None:
            here = there
        fit.objective.append(here.value)
        fit.stopped = watch(fit.n_iter, here.value, float(slope))
    fit.left, fit.right = here.X @ here.S, here.Y.T
    return fit


def _search(
    values: FloatArray,
    observed: BoolArray,
    here: SubspacePair,
    RY: FloatArray,
    RX: FloatArray,
    term: Incoherence,
) -> SubspacePair | None:
    """Return a point with a lower F along the scaled gradient; None if there is none beyond rounding."""
    X, Y, S = here.X, here.Y, here.S
    inverse = np.linalg.pinv(S, rcond=np.sqrt(np.finfo(S.dtype).eps))
    from_X, from_Y = term.of(X)[1], term.of(Y)[1]  # in the same metric
    toward_X, toward_Y = (RY - from_X @ inverse.T) @ inverse, (RX - from_Y @ inverse) @ inverse.T
    toward_X -= X @ (X.T @ toward_X)
    toward_Y -= Y @ (Y.T @ toward_Y)
    fall = float(np.vdot(RY @ S.T - from_X, toward_X) + np.vdot(RX @ S - from_Y, toward_Y))
    change = (toward_X @ S) @ Y.T + (X @ S) @ toward_Y.T
    change *= observed
    step = fall / (sum_of_squares(change) or 1.0)  # exact if F equals its linear model
    for _ in range(HALVINGS if fall > 0 else 0):
        new_X, _ = np.linalg.qr(X + step * toward_X)
        new_Y, _ = np.linalg.qr(Y + step * toward_Y)
        there = at(values, observed, new_X, new_Y, term)
        if there.value < here.value - ENOUGH * step * fall:
            return there
        step /= 2
    return None
