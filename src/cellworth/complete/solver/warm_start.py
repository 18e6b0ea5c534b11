r"""Where the iterations start: from column means, or from an updated earlier fit.

With balanced factors, :math:`\hat X = LR`, Eq. (1) reads

.. math:: \tfrac12\|R_\Omega(LR - X)\|_F^2 + \frac{\lambda_1}{2}(\|L\|_F^2 + \|R\|_F^2)
          + w\sum_{i\ \mathrm{labelled}} \ell(y_i, W^\top R^\top l_i + b)

and separates into rows if R is fixed. Answers mostly move their own rows: one Newton step brings each of
those to its optimum. What they move in common is left to R. Its gradient :math:`L^\top G + \lambda_1 R`, with
G the gradient of the smooth part in the table, was near 0 at the end of the earlier fit, so only the changed
rows' part of it is needed. For its curvature, each cell counts as observed with weight p.

The new R predicts the shape of the next solution, a d x d operator P. With it, rows follow by themselves: two
steps of each row with P fixed take a product each and no sums over rows, and are done while the row is in
cache. Such a step multiplies an error in the holes of a row, along its eigenvectors, by some c between 0 and
1. A first step that goes RELAXATION = 3 times as far in the holes makes it c |3 c - 2| for both: at most 1/3
up to c = 0.8, and less than :math:`c^2` from 1/2 on.

This only gives a starting point: the iterations that follow decide when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import RowBlocks
from cellworth.complete.solver.factors import onto_left_factor, solve_rows
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.monitor import Callback, Solution, attainable
from cellworth.complete.solver.passes_in_memory import InPlacePasses
from cellworth.complete.solver.proximal_gradient import Descent, descend
from cellworth.complete.solver.singular_value_thresholding import shrinkage
from cellworth.complete.solver.step import NearRows, Rows

WORTH_ITERATIONS = 4  # skip a refresh that costs more than this many iterations
STEPS = 2  # with the predicted shape, before the first iteration
RELAXATION = 3.0  # of the first of them in the holes; see the notes above
IN_REACH = 10.0  # times the goal: after a smaller common move, one iteration is mostly enough
LEAST_RIDGE = 1e-8  # relative to the squared norm of R, for rows with too few cells


def column_means(rows: Rows) -> tuple[FloatArray, float]:
    """Return the table (n, d) with column means in its holes, and an upper bound on its trace norm."""
    means = rows.values.sum(axis=0) / np.maximum(1, rows.observed.sum(axis=0))
    # A sum, as values are 0 in the holes: choosing between two arrays takes three times as long.
    iterate = np.multiply(~rows.observed, means.astype(rows.values.dtype))
    iterate += rows.values
    return iterate, largest_trace_norm(iterate)


def largest_trace_norm(X: FloatArray) -> float:
    """Return the largest trace norm of any table with the shape and Frobenius norm of X."""
    return float(np.sqrt(min(X.shape)) * np.linalg.norm(X))


@dataclass(frozen=True)
class WarmStart:
    r"""An earlier fit with its changed rows updated, and what it predicts.

    Attributes
    ----------
    near : NearRows
    trace_norm : float
        An upper bound on that of the rows without the steps of ``near``.
    threshold, shape_norm : float
        Those of the prediction: :math:`\lambda_1/L`, and the trace norm.
    move : float
        Norm of the move that the changed rows cause in all others.
    """

    near: NearRows
    trace_norm: float
    threshold: float = 0.0
    shape_norm: float = 0.0
    move: float = np.inf

    def table(self, dtype: Any) -> FloatArray:
        """Return the rows (n, d) without the steps of ``near``."""
        left, right = self.near.left, self.near.right
        iterate = (left.copy() if right is None else left @ right).astype(dtype, copy=False)
        iterate[self.near.changed] = self.near.updated
        return iterate

    def trace_norm_after(self, pull: float) -> float:
        r"""Return an upper bound on the trace norm of the rows after the steps, from their pull.

        It is at most :math:`\frac12\mathrm{tr}(X S^{-1} X^\top) + \frac12\mathrm{tr}\,S` for every S. With
        the predicted one, the last step has :math:`X S^{-1} = (A - X)/\tau`.
        """
        if not self.near.steps:
            return self.trace_norm
        return (pull / self.threshold + self.shape_norm) / 2 if self.threshold > 0 else 0.0


def minimise_near(
    warm: WarmStart,
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_penalty: float,
    tol: float,
    max_iter: int,
    blocks: RowBlocks,
    callback: Callback | None = None,
) -> Solution:
    """Minimise F from a warm start, as `minimise` does, for n >= d; ``iterate`` (n, d) is memory."""
    passes = InPlacePasses(iterate, rows, blocks)
    lands = warm.move <= IN_REACH * attainable(tol, passes.eps) * passes.scale
    first, pull = passes.first_near(warm.near, model.lipschitz(), model, lands=lands)
    descent = Descent.begin(
        passes,
        model,
        trace_penalty=trace_penalty,
        trace_norm=warm.trace_norm_after(pull),
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        first=first,
    )
    descent.landing = lands
    return descend(passes, descent, trace_penalty)


def refresh(
    X: FloatArray,
    right: FloatArray,
    changed: IntArray,
    fresh: BoolArray,
    rows: Rows,
    model: LinearPart,
    penalty: float,
    penalty_before: float | None = None,
) -> WarmStart:
    """Return the start from an earlier fit with its changed rows updated.

    Parameters
    ----------
    X : (n, d) array
        The iterate of the earlier fit, in the order and units of ``rows``. Not changed.
    right : (rank, d) array
        Its right factor.
    changed : (c,) array of int, ascending
        The rows with cells that were answered, or whose value changed.
    fresh : (c, d) bool array
        Which cells those are; observed in ``rows``.
    penalty : float
        lambda_1.
    penalty_before : float or None
        That of the earlier fit; None if X is no solution in the units of today, which predicts nothing.

    Notes
    -----
    O(c rank^2 (d + rank) + d^3) for c changed rows; the product of all rows is left to the first pass. If
    more than a quarter of the rows have changed, or so many that some iterations would cost less, it is that
    of the earlier fit.
    """
    n, d = X.shape
    rank, norm = len(right), float(np.vdot(right, right))
    cost, of_iteration = len(changed) * rank**2 * (d + rank), 3 * n * d * min(n, d)
    too_many = 4 * len(changed) > n or cost > WORTH_ITERATIONS * of_iteration
    if not changed.size or rank == 0 or too_many:
        none, move = NearRows(X, None, changed[:0], X[:0], X[:0], 0, 1.0), np.inf
        return WarmStart(none, norm, move=move if changed.size else 0.0)
    R_before = right.astype(np.float64)
    onto = onto_left_factor(R_before)
    n_labelled = int(np.searchsorted(changed, len(rows.targets)))
    part = Rows(rows.values[changed], rows.observed[changed], rows.targets[changed[:n_labelled]], rows.wide)
    known_before = replace(part, observed=part.observed & ~fresh)
    X_before = X[changed].astype(np.float64)
    L_before = X_before @ onto
    L = _newton_step(L_before, R_before, part, model, penalty)
    slope_before = _gradient(X_before, known_before, model)
    gradient = L.T @ _gradient(L @ R_before, part, model) - L_before.T @ slope_before
    share = np.count_nonzero(rows.observed) / rows.observed.size
    R = R_before + _common_step(gradient, L, R_before, part, share + model.lipschitz() - 1, penalty)
    left_norm = norm - float(np.vdot(L_before, L_before)) + float(np.vdot(L, L))
    bound = (left_norm + float(np.vdot(R, R))) / 2
    X_now = L @ R
    factors = (X @ onto.astype(X.dtype), R.astype(X.dtype)) if rows.wide else (X, (onto @ R).astype(X.dtype))
    near = NearRows(*factors, changed, X_now.astype(X.dtype), X[:0], 0, 1.0)
    if rows.wide or penalty_before is None or penalty_before <= 0:
        return WarmStart(near, bound)
    points = [
        X - slope / model.lipschitz()
        for X, slope in ((X_before, slope_before), (X_now, _gradient(X_now, part, model)))
    ]
    gram, move = _predicted_gram(R_before, R, points, share, penalty_before, model.lipschitz())
    threshold = penalty / model.lipschitz()
    shape = shrinkage(gram, threshold)
    near = replace(near, operator=shape.operator, steps=STEPS, relaxation=RELAXATION)
    return WarmStart(near, bound, threshold, shape.trace_norm, move)


def _predicted_gram(
    R_before: FloatArray,
    R: FloatArray,
    points: list[FloatArray],
    share: float,
    penalty_before: float,
    lipschitz: float,
) -> tuple[FloatArray, float]:
    r"""Return about the Gram matrix (d, d) of the point A of the rows, and the norm of their common move.

    At the end of the earlier fit :math:`A = U(\Sigma + \tau)V^\top`, up to what thresholding removed. The
    changed rows are known before and now, ``points``; in the others a move :math:`\hat X T` moves A by
    itself in a hole, and by 1 - 1/L of itself in an observed cell, the ``share`` of the cells.
    """
    sigma = np.einsum("kj,kj->k", R_before, R_before)
    V = R_before.T / np.sqrt(sigma)
    shifted = sigma + penalty_before / lipschitz
    T = R - R_before  # times the left factor
    moved = (V * (np.sqrt(sigma) * shifted)) @ T * (1 - share / lipschitz)
    before, now = points
    gram = (V * shifted**2) @ V.T + moved + moved.T + now.T @ now - before.T @ before
    return gram, float(np.linalg.norm(np.sqrt(sigma)[:, None] * T))


def _newton_step(L: FloatArray, R: FloatArray, rows: Rows, model: LinearPart, penalty: float) -> FloatArray:
    """Return L (c, rank) after one Newton step in each row, with the loss's largest curvature."""
    m = len(rows.targets)
    slope = _gradient(L @ R, rows, model) @ R.T + penalty * L
    ridge = max(penalty, LEAST_RIDGE * float(np.vdot(R, R))) * np.eye(len(R))
    scores = R @ model.coef
    labels = model.loss.curvature * model.weight * (scores @ scores.T)
    step = np.empty_like(L)
    step[:m] = solve_rows(rows.observed[:m], R, ridge + labels, slope[:m])
    step[m:] = solve_rows(rows.observed[m:], R, ridge, slope[m:])
    return L - step


def _common_step(
    gradient: FloatArray, L: FloatArray, R: FloatArray, rows: Rows, share: float, penalty: float
) -> FloatArray:
    r"""Return the Newton step of R (rank, d) for its gradient, with the left factor fixed.

    A move :math:`UB` of the table :math:`U\Sigma V^\top` has the curvature p from the data. The trace norm
    adds :math:`2\lambda_1/(\sigma_k + \sigma_l)` to the antisymmetric part of :math:`BV`, nothing to the
    symmetric part, and :math:`\lambda_1/\sigma_k` to the part outside the row space V. The changed rows L,
    which may be unlike all others, shorten the step by their own curvature.
    """
    sigma = np.einsum("kj,kj->k", R, R)[:, None]  # the singular values, since the factors are balanced
    V = R.T / np.sqrt(sigma.T)
    slope = gradient / np.sqrt(sigma)
    inside = slope @ V
    flat, bent = (inside + inside.T) / 2, (inside - inside.T) / 2
    B = flat / share + bent / (share + 2 * penalty / (sigma + sigma.T))
    outside = (slope - inside @ V.T) / (share + penalty / sigma)
    direction = -(B @ V.T + outside) / np.sqrt(sigma)
    along = -float((gradient * direction).sum())
    of_changed = float((((L @ direction) * rows.observed) ** 2).sum())
    return direction * (along / (along + of_changed)) if along > 0 else direction


def _gradient(X: FloatArray, rows: Rows, model: LinearPart) -> FloatArray:
    """Return the gradient in the table of the smooth part of F, (c, d)."""
    m = len(rows.targets)
    gradient = (X - rows.values) * rows.observed
    gradient[:m] += model.weight * model.loss.gradient(model.scores(X[:m]), rows.targets) @ model.coef.T
    return gradient
