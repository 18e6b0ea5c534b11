r"""Where the iterations start: from column means, or from an updated earlier fit.

With balanced factors, :math:`\hat X = LR`, Eq. (1) reads

.. math:: \tfrac12\|R_\Omega(LR - X)\|_F^2 + \frac{\lambda_1}{2}(\|L\|_F^2 + \|R\|_F^2)
          + w\sum_{i\ \mathrm{labelled}} \ell(y_i, W^\top R^\top l_i + b)

and separates into rows if R is fixed. Answers mostly move their own rows: one Newton step brings each of
those to its optimum. What they move in common is left to R. Its gradient :math:`L^\top G + \lambda_1 R`, with
G the gradient of the smooth part in the table, was near 0 at the end of the earlier fit, so only the changed
rows' part of it is needed. For its curvature, each cell counts as observed with weight p.

This only gives a starting point: the iterations that follow decide when to stop.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.solver.factors import solve_rows
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.step import Rows

WORTH_ITERATIONS = 4  # skip a refresh that costs more than this many iterations
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


def refresh(
    left: FloatArray, right: FloatArray, fresh: BoolArray, rows: Rows, model: LinearPart, penalty: float
) -> tuple[FloatArray, float]:
    """Return the updated table (n, d) of an earlier fit, and an upper bound on its trace norm.

    Parameters
    ----------
    left, right : (n, rank) and (rank, d) arrays
        Balanced factors of the earlier fit, in the order and units of ``rows``. Not changed.
    fresh : (n, d) bool array
        The cells that were answered, or whose value changed; observed in ``rows``.
    penalty : float
        lambda_1.

    Notes
    -----
    O(c rank^2 (d + rank)) for c changed rows, and one product, O(n d rank). If more than a quarter of the
    rows have changed, or so many that some iterations would cost less, returns the product of the factors
    unchanged.
    """
    n, d = fresh.shape
    changed = np.unique(np.flatnonzero(fresh) // d)
    rank, norm = len(right), float(np.vdot(right, right))
    cost, of_iteration = len(changed) * rank**2 * (d + rank), 3 * n * d * min(n, d)
    too_many = 4 * len(changed) > n or cost > WORTH_ITERATIONS * of_iteration
    if not changed.size or rank == 0 or too_many:
        return (left @ right).astype(rows.values.dtype, copy=False), norm
    n_labelled = int(np.searchsorted(changed, len(rows.targets)))
    part = Rows(rows.values[changed], rows.observed[changed], rows.targets[changed[:n_labelled]], rows.wide)
    L_before, R = left[changed].astype(np.float64), right.astype(np.float64)
    known_before = replace(part, observed=part.observed & ~fresh[changed])
    L = _newton_step(L_before, R, part, model, penalty)
    gradient = L.T @ _gradient(L @ R, part, model)
    gradient -= L_before.T @ _gradient(L_before @ R, known_before, model)
    share = np.count_nonzero(rows.observed) / rows.observed.size + model.lipschitz() - 1
    R += _common_step(gradient, L, R, part, share, penalty)
    iterate = (left @ R.astype(right.dtype)).astype(rows.values.dtype, copy=False)
    iterate[changed] = L @ R
    left_norm = norm - float(np.vdot(L_before, L_before)) + float(np.vdot(L, L))
    return iterate, (left_norm + float(np.vdot(R, R))) / 2


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
