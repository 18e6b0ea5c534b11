r"""The optimisation as the paper publishes it, where it differs from `proximal_gradient`.

`minimise_by_search` finds L by search instead of using the known constant, in a simple version on whole
arrays; it is also the reference that `minimise` is tested against.
`minimise_by_alternation` completes the table to convergence with the model fixed, then fits the model to the
table, and so on, instead of moving both together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart, fit_linear_part
from cellworth.complete.solver.monitor import Callback, Monitor, Progress, Solution
from cellworth.complete.solver.proximal_gradient import Momentum, minimise
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage
from cellworth.complete.solver.step import Rows

GROWTH = 1.5  # gamma of the paper
MODEL_STEPS = 200  # of one fit of the model, for losses that are not squared


def published_solver(line_search: bool | float, updates: str) -> Callable[..., Solution] | None:
    """Return the function for the settings of `SupervisedCompleter`, or None if they are the usual ones."""
    solve: Callable[..., Solution] | None = None
    if line_search:
        solve = partial(minimise_by_search, growth=GROWTH if line_search is True else float(line_search))
    if updates == "alternating":
        solve = partial(minimise_by_alternation, complete=solve or minimise)
    return solve


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
    while monitor.wants_more():
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
        if uphill or objective > previous + monitor.slack * abs(previous) or monitor.at_last():
            momentum.restart()
            beta = 0.0
        else:
            beta = momentum.next()
    return monitor.solution(X, model, shrunk)


def minimise_by_alternation(
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_norm: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    complete: Callable[..., Solution] = minimise,
    **settings: Any,
) -> Solution:
    """Minimise F by turns; arguments and result are those of `minimise`.

    Stops when the model fitted to a completed table moves by no more than ``tol`` times the norm of the
    observed values, in the metric of F: then neither half can move any further.

    Parameters
    ----------
    complete : callable
        Minimises F over the table: `minimise` or `minimise_by_search`, called with ``hold_model``.

    Notes
    -----
    ``n_iter`` counts the steps on the table. Table and model are coupled, so it takes several times the steps
    of `minimise`, and the more the larger the weight of the labels.
    """
    scale, record, done = float(np.linalg.norm(rows.values)), [], 0
    model = _fitted(model, iterate, rows, tol * scale)[0]
    while True:
        following = None if callback is None else _counting_on(callback, done, max_iter)
        solution = complete(
            iterate,
            model,
            rows,
            trace_norm=trace_norm,
            tol=tol,
            max_iter=max_iter - done,
            callback=following,
            hold_model=True,
            **settings,
        )
        done += solution.n_iter
        record += solution.objective
        model, move = _fitted(solution.model, solution.iterate, rows, tol * scale)
        iterate, trace_norm = solution.iterate, float(solution.singular_values.sum())
        settled = solution.converged and move <= tol * scale
        if settled or solution.stopped or done >= max_iter:
            break
    penalty = settings["trace_penalty"] * trace_norm + model.penalty()
    record.append(_smooth(iterate, rows, model) + penalty)
    lowered = np.minimum.accumulate(record).tolist()
    return replace(solution, model=model, objective=lowered, n_iter=done, converged=settled)


def _fitted(model: LinearPart, X: FloatArray, rows: Rows, tol: float) -> tuple[LinearPart, float]:
    """Return the best model for a table, and how far it is from the given one, in the metric of F."""
    m, far = len(rows.targets), 0.0
    for _ in range(MODEL_STEPS if m else 0):
        scores = model.scores(X[:m])
        working = scores - model.loss.gradient(scores, rows.targets) / model.loss.curvature
        model, move = fit_linear_part(model, LabelledSums.of(X[:m], working))
        far += move
        if move <= 0.1 * tol:
            break
    return model, far


def _counting_on(callback: Callback, done: int, max_iter: int) -> Callback:
    def report(progress: Progress) -> Any:
        return callback(replace(progress, iteration=done + progress.iteration, max_iter=max_iter))

    return report


def _smooth(X: FloatArray, rows: Rows, model: LinearPart) -> float:
    """Return g(X) = 1/2 ||R_Omega(X - data)||^2 + weighted loss."""
    residual = (X - rows.values) * rows.observed
    m = len(rows.targets)
    return 0.5 * float(np.vdot(residual, residual)) + model.total_loss(X[:m], rows.targets)


def _shrink(A: FloatArray, threshold: float, wide: bool) -> tuple[FloatArray, Shrinkage]:
    shrunk = shrinkage(A @ A.T if wide else A.T @ A, threshold)
    operator = shrunk.operator.astype(A.dtype)
    return (operator @ A if wide else A @ operator), shrunk
