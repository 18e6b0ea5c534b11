r"""The same iteration with the paper's line search, in a simple version on whole arrays.

It finds L by search, as the paper does, instead of using the known constant. It is also the reference that
`cellworth.complete.solver.proximal_gradient.minimise` is tested against.
"""

from __future__ import annotations

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.threads import RowBlocks
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart, fit_linear_part
from cellworth.complete.solver.monitor import Callback, Monitor, Solution
from cellworth.complete.solver.proximal_gradient import Momentum
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage
from cellworth.complete.solver.step import Rows

GROWTH = 1.5  # gamma of the paper


def minimise_by_search(
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_penalty: float,
    trace_norm: float,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    callback: Callback | None = None,
    hold_model: bool = False,
    single: bool = False,
    growth: float = GROWTH,
) -> Solution:
    """Minimise F; arguments and result are those of `minimise`; ``blocks`` and ``single`` are not used.

    L starts at 1 and grows by the factor ``growth`` until the parabola at Z_k is above the smooth part at
    X_{k+1}.

    Notes
    -----
    Seven arrays of the table's shape are alive at once, and each trial of L costs two products.
    """
    m = len(rows.targets)
    X = X_before = iterate
    before, L, beta, momentum = model, 1.0, 0.0, Momentum()
    objective = _smooth(X, rows, model) + trace_penalty * trace_norm + model.penalty()
    scale, eps = float(np.linalg.norm(rows.values)), float(np.finfo(rows.values.dtype).eps)
    monitor = Monitor.of(scale, eps, objective, tol, max_iter, callback)
    while monitor.wants_more(objective):
        Z, ahead = X + beta * (X - X_before), model.ahead_of(before, beta)
        scores = ahead.scores(Z[:m])
        slopes = ahead.loss.gradient(scores, rows.targets)
        gradient = (Z - rows.values) * rows.observed
        gradient[:m] += ahead.weight * slopes @ ahead.coef.T.astype(Z.dtype)
        g_Z = _smooth(Z, rows, ahead)
        while True:
            X_new, shrunk = _shrink(Z - gradient / L, trace_penalty / L, rows.wide)
            move = X_new - Z
            bound = g_Z + float(np.vdot(gradient, move)) + L / 2 * float(np.vdot(move, move))
            # Above the known constant the parabola is above, whatever rounding suggests.
            if _smooth(X_new, rows, ahead) <= bound or ahead.lipschitz() <= L:
                break
            L *= growth
        X_before, X, before = X, X_new, model
        model_move = 0.0
        if not hold_model:
            working = scores - slopes / ahead.loss.curvature
            model, model_move = fit_linear_part(ahead, LabelledSums.of(X[:m], working))
        previous = objective
        objective = _smooth(X, rows, model) + trace_penalty * shrunk.trace_norm + model.penalty()
        gradient_norm = float(np.hypot(L * np.linalg.norm(move), model_move))
        monitor.record(objective, gradient_norm, trace_penalty * shrunk.subgradient_norm, exact=True)
        uphill = float(np.vdot(move, X - X_before)) < 0
        if uphill or objective > previous + monitor.slack * abs(previous):
            momentum.restart()
            beta = 0.0
        else:
            beta = momentum.next()
    return monitor.solution(X, model, shrunk)


def _smooth(X: FloatArray, rows: Rows, model: LinearPart) -> float:
    """Return g(X) = 1/2 ||R_Omega(X - data)||^2 + weighted loss."""
    residual = (X - rows.values) * rows.observed
    m = len(rows.targets)
    return 0.5 * float(np.vdot(residual, residual)) + model.total_loss(X[:m], rows.targets)


def _shrink(A: FloatArray, threshold: float, wide: bool) -> tuple[FloatArray, Shrinkage]:
    shrunk = shrinkage(A @ A.T if wide else A.T @ A, threshold)
    operator = shrunk.operator.astype(A.dtype)
    return (operator @ A if wide else A @ operator), shrunk
