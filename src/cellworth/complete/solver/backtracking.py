r"""The completion step with the paper's line search: plain, on whole arrays.

The same problem and the same answer as `cellworth.complete.solver.apg.complete_rows`, for those who
want L found by search, as the paper has it, instead of known. It is also the plain version against
which the blocked one is tested.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.apg import Completed, Watch, next_theta, rounding
from cellworth.complete.solver.blocks import Model, RowBlocks, Rows
from cellworth.complete.solver.svt import shrinkage

Array = NDArray[np.floating]

GROWTH = 1.5  # gamma of the paper


def complete_rows_by_search(
    iterate: Array,
    spare: Array,
    rows: Rows,
    model: Model,
    trace_penalty: float,
    trace_norm: float,
    *,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    watch: Watch,
) -> Completed:
    """Minimise F from ``iterate``; arguments and result as those of `complete_rows`.

    L starts at 1 and grows by half until the quadratic model at Z_k lies above F at X_{k+1}.

    Notes
    -----
    Seven arrays of the table's shape are alive at once, and each trial of L costs two products.
    """
    L, theta, beta = 1.0, 1.0, 0.0
    X = X_before = iterate
    begin = objective = _smooth(X, rows, model) + trace_penalty * trace_norm
    scale = max(float(np.linalg.norm(rows.values)), np.finfo(float).tiny)
    converged, k = False, 0
    while k < max_iter or objective > begin + rounding(X, begin):
        k += 1
        Z = X + beta * (X - X_before)
        slope = _gradient(Z, rows, model)
        g_Z = _smooth(Z, rows, model)
        while True:
            X_new, singular_values = _shrink(Z - slope / L, trace_penalty / L, rows.wide)
            move = X_new - Z
            g_new = _smooth(X_new, rows, model)
            bound = g_Z + float(np.vdot(slope, move)) + L / 2 * float(np.vdot(move, move))
            if g_new <= bound + rounding(X, g_Z):
                break
            L *= GROWTH
        trace = trace_penalty * float(singular_values.sum())
        previous, objective = objective, g_new + trace
        stationarity = L * float(np.linalg.norm(move)) / scale
        X_before, X = X, X_new
        converged = stationarity <= tol and objective <= begin + rounding(X, begin)
        if watch(k, objective, stationarity) or converged:
            break
        if objective > previous + rounding(X, previous):
            theta, beta = 1.0, 0.0
        else:
            theta_next = next_theta(theta)
            theta, beta = theta_next, theta_next * (1 / theta - 1)
    unsupervised = objective - model.total_loss(X, rows)
    return Completed(X, spare, unsupervised, singular_values, k, converged)


def _smooth(X: Array, rows: Rows, model: Model) -> float:
    """Return g(X) = 1/2 ||R_Omega(X - data)||^2 + weighted loss."""
    residual = (X - rows.values) * rows.observed
    return 0.5 * float(np.vdot(residual, residual)) + model.total_loss(X, rows)


def _gradient(Z: Array, rows: Rows, model: Model) -> Array:
    slopes = model.loss.gradient(model.scores(Z), rows.targets) * rows.weights
    return (Z - rows.values) * rows.observed + slopes @ model.coef.T.astype(Z.dtype)


def _shrink(A: Array, threshold: float, wide: bool) -> tuple[Array, Array]:
    if wide:
        shrunk = shrinkage(A @ A.T, threshold)
        return shrunk.operator.astype(A.dtype) @ A, shrunk.singular_values
    shrunk = shrinkage(A.T @ A, threshold)
    return A @ shrunk.operator.astype(A.dtype), shrunk.singular_values
