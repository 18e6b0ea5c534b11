"""NNLS: nuclear-norm-regularised least squares by accelerated proximal gradient."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.factored import Callback, FactoredCompleter, check_rank
from cellworth.complete.penalty_path import (
    PenaltyUnit,
    check_penalty,
    choose_penalty,
    largest_drop,
    largest_singular_value,
    singular_values,
)
from cellworth.complete.solver.continuation import minimise
from cellworth.complete.solver.factors import Factors, Watch

Array = NDArray[np.floating]

CLEAR_DROP = 5.0  # ratio of neighbouring singular values at which a given penalty's fit is cut
PATH_TOL, PATH_STEPS = 1e-3, 100  # of a fit that only serves to choose


class NNLSCompleter(FactoredCompleter):
    r"""Fill the holes of a table by least squares with a trace (nuclear) norm.

    Solves, after Toh and Yun (2010),

    .. math:: \min_{\hat X}\ \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \mu\|\hat X\|_{tr}

    by accelerated proximal gradient steps with their three devices: the penalty comes down to
    :math:`\mu` from step to step, steps are longer than the Lipschitz constant allows where a test
    shows that they may be, and small singular values are cut off.

    Parameters
    ----------
    trace_penalty : float or None, default=None
        :math:`\mu`, not negative: larger gives a lower rank and smaller values. None: the one of 16,
        from 0.6 down to 0.0003 times the largest singular value of the scaled table with zeros in its
        holes, that fills a hidden tenth of the observed cells best.
    penalty_unit : {"absolute", "relative"}, default="absolute"
        "absolute" takes `trace_penalty` as it is; "relative" as a fraction of the largest singular
        value of the scaled table with zeros in its holes.
    rank : int or None, default=None
        Most components; None sets no limit.
    truncate : bool, default=True
        Cut small singular values off. With a given penalty: where one is less than a fifth of the one
        before, at the largest such drop. With a chosen penalty: at the largest drop, if the hidden cells
        are filled better so, by which a table of one clear rank is fitted with next to no penalty.
        False: the minimiser of the convex problem above.
    scale : {"minmax", "standard", None}, default="standard"
        How columns are brought to a common scale first. Results are in the units of the input. Without
        information a cell is filled with what scales to 0: the column's mean under "standard", its
        smallest value under "minmax", where the penalty also weighs on the means.
    tol : float, default=1e-4
        Ends when the step, times its inverse length, is below this fraction of the norm of the
        observed (scaled) values.
    max_iter : int, default=1000
        Most proximal steps.
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
        Balanced factors of :math:`\hat X` in scaled units: ``left @ right``.
    rank_ : int
    trace_penalty_ : float
        :math:`\mu` as it was used, whatever `penalty_unit`.
    objective_ : array
        Objective after each step at the final penalty and rank limit; never rises.
    n_iter_ : int
        Proximal steps of the final fit, those at larger penalties included.
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the input had column names.

    Notes
    -----
    Per step, on n rows and d <= n columns: 3 n d^2 flops, some ten passes over the table and an
    eigendecomposition of a d x d matrix (on the other side for n < d). The choice of the penalty works
    on at most 10,000 rows. Memory: seven arrays of the table's size beside the table.

    References
    ----------
    K.-C. Toh and S. Yun, "An accelerated proximal gradient algorithm for nuclear norm regularized
    linear least squares problems", Pacific Journal of Optimization 6 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.nnls import NNLSCompleter
    >>> X = np.outer(np.arange(1.0, 101.0), [1.0, 10.0, 100.0])  # three columns in proportion
    >>> X[29, 2] = np.nan
    >>> completer = NNLSCompleter(trace_penalty=1e-3, scale="minmax", tol=1e-6)
    >>> completer.fit_transform(X)[29].round(-1)
    array([  30.,  300., 3000.])
    >>> completer.transform([[60.0, np.nan, np.nan]]).round(-1)
    array([[  60.,  600., 6000.]])
    """

    def __init__(
        self,
        *,
        trace_penalty: float | None = None,
        penalty_unit: PenaltyUnit = "absolute",
        rank: int | None = None,
        truncate: bool = True,
        scale: Literal["minmax", "standard"] | None = "standard",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: int | np.random.Generator | None = 0,
        dtype: DTypeLike | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.trace_penalty = trace_penalty
        self.penalty_unit = penalty_unit
        self.rank = rank
        self.truncate = truncate
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.dtype = dtype
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_rank(self.rank)
        check_penalty(self.trace_penalty, self.penalty_unit)

    def _factorise(
        self, values: Array, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        rank, largest = min(self.rank or min(values.shape), *values.shape), largest_singular_value(values)
        if self.trace_penalty is None:
            choice = choose_penalty(values, observed, _quick_fit, rank, cut=self.truncate, rng=rng)
            rank, penalty = choice.rank, choice.relative * largest
        else:
            penalty = self.trace_penalty * (largest if self.penalty_unit == "relative" else 1.0)
        self.trace_penalty_ = float(penalty)
        fit = minimise(
            values,
            observed,
            penalty,
            rank,
            tol=self.tol,
            max_iter=self.max_iter,
            first_penalty=largest,
            watch=watch,
        )
        cut, drop = largest_drop(singular_values(fit))
        if self.truncate and self.trace_penalty is not None and drop > CLEAR_DROP:
            return self._go_on(fit, values, observed, cut, watch)
        return fit

    def _go_on(self, fit: Factors, values: Array, observed: BoolArray, rank: int, watch: Watch) -> Factors:
        """Return the fit at the same penalty with at most ``rank`` components, begun from ``fit``."""
        done = fit.n_iter
        if fit.stopped or done >= self.max_iter:
            return fit
        cut = minimise(
            values,
            observed,
            self.trace_penalty_,
            rank,
            fit,
            tol=self.tol,
            max_iter=self.max_iter - done,
            watch=lambda k, objective, slope: watch(done + k, objective, slope),
        )
        cut.n_iter += done
        return cut

    def _row_penalty(self) -> float:
        return self.trace_penalty_

    def _easier(self) -> str:
        return f", or raise trace_penalty (it was {self.trace_penalty_:g}), which makes the problem easier."


def _quick_fit(
    values: Array, observed: BoolArray, penalty: float, rank: int, start: Factors | None
) -> Factors:
    return minimise(values, observed, penalty, rank, start, tol=PATH_TOL, max_iter=PATH_STEPS)
