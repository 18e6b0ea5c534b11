r"""Eq. (1) as a whole: complete the table, fit the model, and again, until neither moves.

.. math:: \min_{\hat X, W, b}\ \tfrac12\|R_\Omega(\hat X - X)\|_\mathrm{F}^2 + \lambda_1\|\hat X\|_\mathrm{tr}
          + \frac{\lambda_2}{m}\sum_{i\ \mathrm{labelled}} \ell(y_i, W^\top\hat x_i + b)
          + \frac{\rho}{2}\|W\|_\mathrm{F}^2

with m labelled rows. Each half-step lowers this objective, so the recorded values never rise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.apg import Completed, complete_rows
from cellworth.complete.solver.blocks import Model, RowBlocks, Rows
from cellworth.complete.solver.linear import fit_linear

Array = NDArray[np.floating]

FIRST_TOL = 1e-2  # the first completion need not be exact: the model that it is for will change


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told after each iteration.

    Attributes
    ----------
    iteration, max_iter : int
        Iterations done, and the most that will be done.
    objective : float
        Objective without the ridge term.
    stationarity, tol : float
        How far from a stationary point, relative to the data, and the level at which the work ends.
    seconds : float
        Since the start of the fit.
    """

    iteration: int
    max_iter: int
    objective: float
    stationarity: float
    tol: float
    seconds: float


Callback = Callable[[Progress], Any]  # a true return value ends the work early


@dataclass
class Solution:
    """The outcome of `alternate`.

    ``iterate`` is the completed table and ``spare`` a free buffer of its shape; ``objective`` has one
    value per outer iteration; ``stopped`` tells that the callback ended the work.
    """

    iterate: Array
    spare: Array
    model: Model
    rank: int
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


def alternate(
    iterate: Array,
    model: Model,
    rows: Rows,
    *,
    trace_penalty: float,
    ridge: float,
    tol: float,
    max_iter: int,
    trace_norm: float = 0.0,
    pool: ThreadPoolExecutor | None = None,
    callback: Callback | None = None,
    complete: Callable[..., Completed] = complete_rows,
) -> Solution:
    """Solve Eq. (1) from ``iterate`` (n, d), which is overwritten, and its ``trace_norm``.

    Converged means that one step from the completed table, for the newest model, already stays within
    ``tol``: table and model are stationary together.

    Notes
    -----
    Memory: ``iterate`` and one array of its shape, beside the data. Time: see `complete_rows`, and per
    outer iteration `fit_linear`.
    """
    begun = time.perf_counter()
    blocks = RowBlocks(rows.values.shape, rows.values.itemsize, pool)
    solution = Solution(iterate, np.empty_like(iterate), model, rank=0)
    supervised = bool(rows.weights.any())
    inner_tol = max(tol, FIRST_TOL) if supervised else tol

    def watch(k: int, objective: float, stationarity: float) -> bool:
        if callback is not None:
            seconds = time.perf_counter() - begun
            report = Progress(solution.n_iter + k, max_iter, objective, stationarity, tol, seconds)
            solution.stopped = bool(callback(report))
        return solution.stopped

    while solution.n_iter < max_iter and not (solution.converged or solution.stopped):
        done = complete(
            solution.iterate,
            solution.spare,
            rows,
            solution.model,
            trace_penalty,
            trace_norm,
            tol=inner_tol,
            max_iter=max_iter - solution.n_iter,
            blocks=blocks,
            watch=watch,
        )
        solution.iterate, solution.spare = done.iterate, done.spare
        solution.n_iter += done.n_iter
        trace_norm, solution.rank = float(done.singular_values.sum()), len(done.singular_values)
        at_rest = done.converged and inner_tol == tol and (done.n_iter == 1 or not supervised)
        if supervised:
            solution.model = fit_linear(solution.model, solution.iterate, rows, ridge, blocks)
            inner_tol = max(tol, inner_tol / 10)
        solution.objective.append(done.unsupervised + _penalised_loss(solution, rows, ridge, blocks))
        solution.converged = at_rest
    return solution


def _penalised_loss(solution: Solution, rows: Rows, ridge: float, blocks: RowBlocks) -> float:
    model, X = solution.model, solution.iterate
    (loss,) = blocks.sum(lambda b: (model.total_loss(X[b], rows[b]),))
    return float(loss + ridge / 2 * np.vdot(model.coef, model.coef))
