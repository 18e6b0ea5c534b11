r"""NNLS (Toh and Yun, 2010): accelerated proximal gradient with continuation in the penalty.

.. math:: \min_X\ F_\mu(X) = \tfrac12\|R_\Omega(X - M)\|_\mathrm{F}^2 + \mu\|X\|_\mathrm{tr}
          \quad[\text{subject to } \mathrm{rank}\,X \le r]

A step from the extrapolated point Y is
:math:`X_+ = \mathrm{SVT}_{\mu/\tau}(Y - R_\Omega(Y - M)/\tau)`. It is valid if
:math:`\|R_\Omega(X_+ - Y)\|^2 \le \tau\|X_+ - Y\|^2`, which always holds for :math:`\tau = 1`; a smaller
:math:`\tau`, which means a longer step, is tried while this holds. The penalty decreases at each step to the
requested one, so early steps work on few components.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.penalty_path import PenalisedCompleter, PenaltyUnit, largest_drop, singular_values
from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    balanced_factors,
    never_stop,
    norm_or_one,
    sum_of_squares,
)
from cellworth.complete.solver.monitor import Callback
from cellworth.complete.solver.singular_value_thresholding import shrinkage

CLEAR_DROP = 5.0  # ratio of adjacent singular values at which the fit at a given penalty is cut
PATH_TOL, PATH_STEPS = 1e-3, 100  # of a fit that is only used to choose settings
PENALTY_FALL = 0.7  # per step, until the requested penalty is reached
CURVATURE_FALL = 0.8  # factor on tau to try a longer step
SOUND_STEPS = 5  # steps to wait after one that was too long before trying a longer one again


class NNLSCompleter(PenalisedCompleter):
    r"""Fill the holes of a table by least squares with a trace-norm (nuclear-norm) penalty.

    Following Toh and Yun (2010), solves

    .. math:: \min_{\hat X}\ \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \mu\|\hat X\|_{tr}

    by accelerated proximal gradient steps with the authors' three techniques: the penalty decreases to
    :math:`\mu` step by step, steps are longer than the Lipschitz constant allows if a test shows that
    they are valid, and small singular values are cut off.

    Parameters
    ----------
    trace_penalty : float or None, default=None
        :math:`\mu`, nonnegative: larger gives a lower rank and smaller values. None: the one of 16,
        from 0.6 down to 0.0003 times the largest singular value of the scaled table with zeros in its
        holes, that fills a hidden tenth of the observed cells best.
    penalty_unit : {"absolute", "relative"}, default="absolute"
        "absolute" uses `trace_penalty` as is; "relative" as a fraction of the largest singular
        value of the scaled table with zeros in its holes.
    rank : int or None, default=None
        The maximum number of components; None sets no limit.
    truncate : bool, default=True
        Cut off small singular values. With a given penalty: if one is less than a fifth of the previous
        one, at the largest such drop. With a chosen penalty: at the largest drop, if that fills the hidden
        cells better; a table with one clear rank is then fitted with almost no penalty. False: keep the
        minimiser of the convex problem above.
    scale : {"minmax", "standard", None}, default="standard"
        How to scale columns first. Results are in the units of the input. "standard", the default of all
        low-rank completers without labels, weights columns equally and fills a cell with its column's mean
        if nothing is known about it. "minmax", which `SupervisedCompleter` takes from its paper, fills such
        a cell with the column's smallest value, and the penalty also shrinks the means.
    tol : float, default=1e-4
        Stop when the step, times its inverse length, is below this fraction of the norm of the
        observed (scaled) values.
    max_iter : int, default=1000
        The maximum number of proximal steps.
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
        Balanced factors of :math:`\hat X` in scaled units: ``left @ right``.
    rank_ : int
    trace_penalty_ : float
        The :math:`\mu` used, always in absolute units.
    objective_ : array
        Objective after each step at the final penalty and rank limit; never increases.
    n_iter_ : int
        Proximal steps of the final fit, including those at larger penalties.
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: `SupervisedCompleter` with ``label_weight=0`` minimises the same objective there.

    Per step, on n rows and d <= n columns: 3 n d^2 flops, about ten passes over the table and an
    eigendecomposition of a d x d matrix (n x n for n < d). The choice of the penalty uses at most
    10,000 rows. Memory: eight arrays of the table's size besides the table.

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

    def _factorise(
        self, values: FloatArray, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        rank, largest = self._set_penalty(values, observed, _quick_fit, rng, cut=self.truncate)
        fit = minimise(
            values,
            observed,
            self.trace_penalty_,
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

    def _go_on(
        self, fit: Factors, values: FloatArray, observed: BoolArray, rank: int, watch: Watch
    ) -> Factors:
        """Return the fit at the same penalty with at most ``rank`` components, starting from ``fit``."""
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


def _quick_fit(
    values: FloatArray, observed: BoolArray, penalty: float, rank: int, start: Factors | None
) -> Factors:
    return minimise(values, observed, penalty, rank, start, tol=PATH_TOL, max_iter=PATH_STEPS)


# Numerical kernel: arrays only.


class Iterate(NamedTuple):
    """A table, its spectrum and how it was reached.

    ``table`` is (n, d); ``basis`` (min(n, d), rank) spans its rows, or its columns if n < d;
    ``objective`` is F at the penalty of the step; ``slope`` is tau times the length of the step.
    """

    table: FloatArray
    singular_values: FloatArray
    basis: FloatArray
    objective: float
    slope: float
    curvature: float

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Return balanced factors of the table."""
        return balanced_factors(self.table, self.singular_values, self.basis)


def minimise(
    values: FloatArray,
    observed: BoolArray,
    penalty: float,
    rank: int,
    start: Factors | None = None,
    *,
    tol: float,
    max_iter: int,
    first_penalty: float = 0.0,
    watch: Watch = never_stop,
) -> Factors:
    """Return balanced factors, of rank at most ``rank``, of the minimiser of F.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    penalty, first_penalty : float
        mu, and the larger penalty to start from.
    rank : int
        min(n, d) leaves the rank free, which makes the problem convex.
    start : Factors or None
        Where to start; None starts from 0.
    tol : float
        Stop when the step, times tau, is below this fraction of the norm of ``values``.

    Notes
    -----
    Per iteration 3 n d min(n, d) flops, one eigendecomposition of a min(n, d)-square matrix and about
    ten passes over the table. The objective is recorded once the final penalty is reached. From then
    on, a step whose momentum increases it is retaken without momentum.
    """
    norm, weights = norm_or_one(values), observed.astype(values.dtype)
    X = np.zeros_like(values) if start is None else start.left @ start.right
    fit = Factors(values[:, :0], values[:0])
    present, before, theta, momentum, rest = max(penalty, first_penalty), X, 1.0, 0.0, 0
    here = Iterate(X, np.zeros(0), np.zeros((min(X.shape), 0)), np.inf, np.inf, 1.0)
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        rest -= 1
        curvature = here.curvature * (CURVATURE_FALL if rest < 0 else 1.0)
        Y = here.table - before
        Y *= momentum
        Y += here.table
        new = _step(values, weights, Y, present, rank, curvature)
        if new.curvature > curvature:
            rest = SOUND_STEPS
        if fit.objective and new.objective > here.objective:
            theta = 1.0
            new = _step(values, weights, here.table, present, rank, new.curvature)
        if fit.objective and new.objective > here.objective:
            fit.converged = True  # only rounding makes a step without momentum fail
            break
        before, here = here.table, new
        theta, last = (1 + math.sqrt(1 + 4 * theta**2)) / 2, theta
        momentum = (last - 1) / theta
        slope = here.slope / norm
        if present == penalty:
            fit.objective.append(here.objective)
            fit.converged = slope <= tol
        present = max(penalty, PENALTY_FALL * present)
        fit.stopped = watch(fit.n_iter, here.objective, slope)
    fit.left, fit.right = here.factors()
    fit.objective = fit.objective or [here.objective]
    return fit


def _step(
    values: FloatArray, weights: FloatArray, Y: FloatArray, penalty: float, rank: int, curvature: float
) -> Iterate:
    """Take one proximal step from Y, with the first valid tau from ``curvature`` up to 1.

    ``weights`` (n, d) are 1 where cells are observed, else 0.
    """
    gradient = Y - values
    gradient *= weights
    while True:
        A = gradient * (-1 / curvature)
        A += Y
        X, singular_values, basis = _shrink(A, penalty / curvature, rank)
        np.subtract(X, Y, out=A)
        length = sum_of_squares(A)
        A *= weights
        if curvature >= 1 or sum_of_squares(A) <= curvature * length:
            break
        curvature = min(1.0, curvature / CURVATURE_FALL)
    A += gradient  # now the residual at X
    objective = sum_of_squares(A) / 2 + penalty * float(singular_values.sum())
    return Iterate(X, singular_values, basis, objective, curvature * float(np.sqrt(length)), curvature)


def _shrink(A: FloatArray, threshold: float, rank: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the table of rank at most ``rank`` nearest to A under the penalty, its spectrum and basis."""
    wide = A.shape[0] < A.shape[1]
    spectrum = shrinkage(A @ A.T if wide else A.T @ A, threshold)
    operator, kept, basis = spectrum.operator, spectrum.singular_values, spectrum.basis
    if len(kept) > rank:
        kept, basis = kept[:rank], basis[:, :rank]
        operator = (basis * (kept / (kept + threshold))) @ basis.T
    operator = operator.astype(A.dtype, copy=False)
    return operator @ A if wide else A @ operator, kept, basis
