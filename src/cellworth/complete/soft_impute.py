r"""Soft-impute (Hastie, Mazumder, Lee and Zadeh, 2015) by alternating ridge regressions.

.. math:: \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_\mathrm{F}^2
          + \tfrac\lambda2\left(\|A\|_\mathrm{F}^2 + \|B\|_\mathrm{F}^2\right)

over A (n, r) and B (d, r). For r large enough, the minimum is that of the problem penalised by the trace
norm of :math:`AB^\top`. Each half-step fills the holes with the current :math:`AB^\top`, which majorises
the objective, and solves for one factor. Factors are kept balanced, :math:`A = UD, B = VD`, so a solve is a
division by :math:`D^2 + \lambda`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.penalty_path import PENALTIES, PenalisedCompleter, PenaltyUnit
from cellworth.complete.solver.factors import (
    Factors,
    Watch,
    leading_directions,
    never_stop,
    norm_or_one,
    residual,
    sum_of_squares,
)
from cellworth.complete.solver.monitor import Callback

PATH_TOL, PATH_STEPS = 1e-3, 100  # of a fit that is only used to choose settings
WARM_TOL, WARM_STEPS = 1e-2, 20  # of a fit that is only used to start the next


class SoftImputeCompleter(PenalisedCompleter):
    r"""Fill the holes of a table with the product of two penalised factors.

    Following Hastie, Mazumder, Lee and Zadeh (2015), solves

    .. math:: \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_F^2
              + \tfrac\lambda2\left(\|A\|_F^2 + \|B\|_F^2\right)

    over A (n, r) and B (d, r). If r does not bind, :math:`AB^\top` is the least-squares fit penalised by
    :math:`\lambda` times the trace norm. The penalty decreases to :math:`\lambda` along a path, each fit
    starting from the previous one.

    Parameters
    ----------
    trace_penalty : float or None, default=None
        :math:`\lambda`, nonnegative: larger gives a lower rank and smaller values. None: the one of
        16, from 0.6 down to 0.0003 times the largest singular value of the scaled table with zeros in
        its holes, that fills a hidden tenth of the observed cells best.
    penalty_unit : {"absolute", "relative"}, default="absolute"
        "absolute" uses `trace_penalty` as is; "relative" as a fraction of the largest singular
        value of the scaled table with zeros in its holes.
    rank : int or None, default=None
        r, the maximum number of components. None sets no limit if the penalty is given. If both are
        chosen, r is either unlimited or set at the largest drop in the spectrum, whichever fills the
        hidden cells better.
    scale : {"minmax", "standard", None}, default="standard"
        How to scale columns first. Results are in the units of the input. "standard", the default of all
        low-rank completers without labels, weights columns equally and fills a cell with its column's mean
        if nothing is known about it. "minmax", which `SupervisedCompleter` takes from its paper, fills such
        a cell with the column's smallest value, and the penalty also shrinks the means.
    tol : float, default=1e-4
        Stop when an iteration moves the table by less than this fraction of the norm of the observed
        (scaled) values.
    max_iter : int, default=1000
        The maximum number of iterations at the final penalty.
    random_state : int, numpy.random.Generator or None, default=0
        Draws the hidden cells. None draws different ones in each fit.
    dtype : {None, numpy.float32, numpy.float64}, default=None
        Precision of the computation and of the result. None: float32 for a float32 table, else float64.
    callback : callable or None, default=None
        Called with a `Progress` after each iteration at the final penalty; returning true stops the fit.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled, in its own units; observed cells are unchanged.
    low_rank_ : tuple of (n, rank_) and (rank_, d) arrays
        A and the transpose of B in scaled units, balanced: ``left @ right``.
    rank_ : int
    trace_penalty_ : float
        The :math:`\lambda` used, always in absolute units.
    objective_ : (n_iter_,) array
        Objective after each iteration at the final penalty; never increases. The last iteration ends with
        an exact step that sets small components to 0.
    n_iter_ : int
        Iterations at the final penalty.
    converged_ : bool
    scaling_ : Scaling
        scaled = (value - ``scaling_.offset``) / ``scaling_.width``, column by column.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: `SparseCompleter` minimises the same objective there.

    Per iteration: four products of 2 n d r flops and QR factors of an n x r and a d x r matrix. The
    choice of the penalty uses at most 10,000 rows. Memory: two arrays of the table's size besides the
    table, and four of n x r.

    References
    ----------
    T. Hastie, R. Mazumder, J. D. Lee and R. Zadeh, "Matrix completion and low-rank SVD via fast
    alternating least squares", Journal of Machine Learning Research 16 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.soft_impute import SoftImputeCompleter
    >>> X = np.outer(np.arange(1.0, 101.0), [1.0, 10.0, 100.0])  # three columns in proportion
    >>> X[29, 2] = np.nan
    >>> completer = SoftImputeCompleter(trace_penalty=1e-3, scale="minmax", tol=1e-6)
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
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.dtype = dtype
        self.callback = callback

    def _factorise(
        self, values: FloatArray, observed: BoolArray, rng: np.random.Generator, watch: Watch
    ) -> Factors:
        rank, largest = self._set_penalty(values, observed, _quick_fit, rng, cut=self.rank is None)
        penalty, start = self.trace_penalty_, None
        for warmer in PENALTIES[penalty < PENALTIES * largest] * largest:
            start = soft_als(values, observed, float(warmer), rank, start, tol=WARM_TOL, max_iter=WARM_STEPS)
        return soft_als(
            values, observed, penalty, rank, start, tol=self.tol, max_iter=self.max_iter, watch=watch
        )


def _quick_fit(
    values: FloatArray, observed: BoolArray, penalty: float, rank: int, start: Factors | None
) -> Factors:
    return soft_als(values, observed, penalty, rank, start, tol=PATH_TOL, max_iter=PATH_STEPS)


# Numerical kernel: arrays only.


def soft_als(
    values: FloatArray,
    observed: BoolArray,
    penalty: float,
    rank: int,
    start: Factors | None = None,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
) -> Factors:
    """Return balanced factors, of rank at most ``rank``, of the penalised fit.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    penalty : float
        lambda, nonnegative.
    start : Factors or None
        Balanced factors to start from.
    tol : float
        Stop when the last two half-steps moved the table by less than this times the norm of ``values``.

    Notes
    -----
    Per iteration four products of 2 n d r flops and two QR of n x r and d x r matrices.
    """
    norm = norm_or_one(values)
    U, D, V = _starting_factors(values, penalty, rank, start)
    fit, last = Factors(U, V.T), np.inf
    R = residual(values, observed, U * D, (V * D).T)
    while fit.n_iter < max_iter and not (fit.converged or fit.stopped):
        fit.n_iter += 1
        U, D, V, moved_left = _half_step(R, U, D, V, penalty)
        R = residual(values, observed, U * D, (V * D).T)
        V, D, U, moved_right = _half_step(R.T, V, D, U, penalty)
        slope = float(np.hypot(moved_left, moved_right)) / norm
        R = residual(values, observed, U * D, (V * D).T)
        objective = sum_of_squares(R) / 2 + penalty * float(np.sum(D**2, dtype=np.float64))
        fit.converged = slope <= tol or objective > last  # only rounding can increase it
        last = min(objective, last)
        fit.objective.append(last)
        fit.stopped = watch(fit.n_iter, objective, slope)
    return _threshold(values, observed, penalty, fit, U * D**2 + R @ V, V)


def _starting_factors(
    values: FloatArray, penalty: float, rank: int, start: Factors | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return starting U, D, V: those of ``start``, then the leading directions of the zero-filled table.

    New components have a zero left side, so they add nothing yet, and a weight that lets them grow.
    """
    sigma, V = leading_directions(values, rank)
    D = np.sqrt(np.maximum(sigma, penalty or 1e-3 * sigma[0]))
    U = np.zeros((len(values), rank), dtype=values.dtype)
    if start is not None and start.left.shape[1]:
        known = min(rank, start.left.shape[1])
        size = np.linalg.norm(start.right[:known], axis=1)
        V, _ = np.linalg.qr(np.hstack([(start.right[:known] / size[:, None]).T, V]))
        V = V[:, :rank]
        V[:, :known] = (start.right[:known] / size[:, None]).T
        D[:known] = size
        U[:, :known] = start.left[:, :known] / size
    return U, D.astype(values.dtype), np.ascontiguousarray(V)


def _half_step(
    R: FloatArray, U: FloatArray, D: FloatArray, V: FloatArray, penalty: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Solve for A = U D with B = V D fixed and rebalance; also return how far A B^T moved.

    With the holes filled, A+ = (A D^2 + R V D) / (D^2 + lambda).
    """
    squares = D**2
    scale = squares + penalty
    scale[scale == 0] = 1
    A = U * D
    step = ((R @ V) * D - penalty * A) / scale
    W, core = np.linalg.qr((A + step) * D)  # A+ B^T = W core V^T
    u, s, vt = np.linalg.svd(core)
    return W @ u, np.sqrt(s), V @ vt.T, float(np.sqrt(sum_of_squares(step * D)))


def _threshold(
    values: FloatArray,
    observed: BoolArray,
    penalty: float,
    fit: Factors,
    projected: FloatArray,
    V: FloatArray,
) -> Factors:
    """Finish with one exact step in the span of V, which sets small components to 0.

    ``projected`` (n, r) is the filled table times V. The result counts as part of the last iteration.
    """
    Q, core = np.linalg.qr(projected)
    u, s, vt = np.linalg.svd(core)
    rounding = float(s[0]) * np.finfo(s.dtype).eps * max(values.shape)
    rank = int(np.count_nonzero(s > max(penalty, rounding)))
    root = np.sqrt(s[:rank] - penalty)
    fit.left, fit.right = (Q @ u[:, :rank]) * root, root[:, None] * (V @ vt[:rank].T).T
    R = residual(values, observed, fit.left, fit.right)
    objective = sum_of_squares(R) / 2 + penalty * float(np.sum(root**2, dtype=np.float64))
    fit.objective[-1] = min(objective, fit.objective[-1])
    return fit
