r"""Evaluation shared by all solvers: the objective, Eq. (1), of a completed table and its error in the holes.

.. math:: \tfrac12\|R_\Omega(\hat X - X)\|_F^2 + \lambda_1\|\hat X\|_{tr}
          + \frac{\lambda_2}{n}\sum_i (y_i - w^\top\hat x_i - b)^2 + \frac{\rho}{2}\|w\|^2

with labels -1 and +1. Whatever w a solver used itself, its table is evaluated with the best w and b, from the
same linear system for all. Uses only NumPy, independently of the package it evaluates.
"""

from __future__ import annotations

import numpy as np

from benchmarks.problem import Array, Problem

TRACE_PENALTY = 1.0  # lambda_1
LABEL_WEIGHT = 1.0  # lambda_2
RIDGE = 1e-3  # rho


def objective(estimate: Array, problem: Problem) -> float:
    """Return Eq. (1), including the ridge, for the completed table ``estimate`` (n, d)."""
    residual = np.nan_to_num(estimate - problem.table, copy=False)  # NaN in the holes becomes 0
    misfit = 0.5 * np.vdot(residual, residual)
    trace_norm = np.linalg.svd(estimate, compute_uv=False).sum()
    return float(misfit + TRACE_PENALTY * trace_norm + _best_loss(estimate, problem.labels))


def _best_loss(estimate: Array, labels: Array) -> float:
    """Return the smallest weighted loss plus ridge of any linear model on ``estimate``."""
    centred = estimate - estimate.mean(axis=0)
    targets = labels - labels.mean()
    weight = LABEL_WEIGHT / len(labels)
    system = 2 * weight * (centred.T @ centred) + RIDGE * np.eye(estimate.shape[1])
    w = np.linalg.solve(system, 2 * weight * (centred.T @ targets))
    residual = targets - centred @ w
    return float(weight * (residual @ residual) + RIDGE / 2 * (w @ w))


def error_in_holes(estimate: Array, problem: Problem) -> float:
    """Return the root mean squared error in the holes, as a fraction of that of the column means.

    0 is perfect; filling each hole with its column's observed mean gives 1 by definition.
    """
    holes = np.isnan(problem.table)
    means = np.broadcast_to(np.nanmean(problem.table, axis=0), holes.shape)
    misses, spread = estimate[holes] - problem.hidden, means[holes] - problem.hidden
    return float(np.linalg.norm(misses) / np.linalg.norm(spread))
