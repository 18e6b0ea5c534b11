r"""The trace-norm fit of a sparse table at one penalty, by two factors of growing rank.

.. math:: \min_Z\ \tfrac12\|R_\Omega(X - Z)\|_F^2 + \lambda\|Z\|_\mathrm{tr}
          \;=\; \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_F^2
          + \tfrac\lambda2\left(\|A\|_F^2 + \|B\|_F^2\right)

if the factors have columns enough. Z is best if and only if what is left, :math:`R = R_\Omega(X - Z)`, has
:math:`RV = \lambda U` on the singular vectors of Z and no singular value above :math:`\lambda`. So a
direction outside Z with a larger one lowers the objective when it is added, and when there is none, the
factors have all that they need.

The dual problem is to maximise :math:`\langle Y, X\rangle - \frac12\|Y\|_F^2` over
:math:`\|Y\|_2 \le \lambda`, Y on the observed cells alone. Its solution is the R of the best Z; any other R,
scaled down until it fits, gives a lower bound of the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.factors import Watch, never_stop
from cellworth.complete.solver.sparse_step import (
    StepSums,
    filled_gram,
    fit_parts,
    footprint,
    residual,
    step,
)
from cellworth.complete.sparse.blocks import Engine
from cellworth.complete.sparse.quasi_newton import Point, descend
from cellworth.complete.sparse.spectrum import leading_directions

Array = NDArray[np.float64]

SLACK = 1e-3  # a direction is added if its singular value is above the penalty by this share
ROUNDS = 10  # of growing and descending


@dataclass(frozen=True)
class SparseTable:
    """Blocks of observed cells, and how many each column has.

    Attributes
    ----------
    engine : Engine
        Of `CellBlock`.
    n_cells : (d,) float64 array
        Observed cells of each column, none of them 0.
    """

    engine: Engine
    n_cells: Array

    @property
    def n_columns(self) -> int:
        """Return d."""
        return len(self.n_cells)


@dataclass
class SparseFit:
    """Column factors, and how they were found. The row factors follow from them.

    Attributes
    ----------
    B : (d, r) array
        Columns at right angles, of falling length.
    objective : list of float
        After each step; never rises.
    n_iter : int
    converged, stopped : bool
    """

    B: Array
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    stopped: bool = False


@dataclass(frozen=True)
class Certificate:
    """How good a fit is.

    Attributes
    ----------
    objective : float
        Of both factors.
    gap : float
        The objective is at most so far above the least of all tables of any rank. Not negative.
    singular_values : (r,) array
        Of A B^T, descending.
    """

    objective: float
    gap: float
    singular_values: Array


def fit_trace_norm(
    table: SparseTable,
    penalty: float,
    rank: int,
    start: Array,
    rng: np.random.Generator,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never_stop,
    rounds: int = ROUNDS,
) -> SparseFit:
    """Return the column factors, of rank at most ``rank``, of the penalised fit.

    Parameters
    ----------
    penalty : float
        lambda, greater than 0.
    start : (d, k) array
        Column factors to begin from; k may be 0.
    tol : float
        A round ends when the next step promises to lower the objective by less than this fraction of it.
    rounds : int
        Most rounds of growing and descending.

    Notes
    -----
    Per step one pass, O(cells r^2). Growing takes some 10 passes of O(cells r).
    """
    fit, evaluate = SparseFit(start[:, :rank]), partial(_evaluate, table, penalty)
    for _ in range(rounds):
        new = _new_directions(table, fit.B, penalty, rank, rng)
        if fit.n_iter and not new.shape[1]:
            break
        first = _join(evaluate, fit, new)
        run = descend(
            evaluate,
            first,
            table.n_cells,
            penalty,
            tol=tol,
            max_iter=max_iter - fit.n_iter,
            watch=lambda i, objective, promised: watch(fit.n_iter + i, objective, promised),
        )
        fit.B = _threshold(table, run.point.B, penalty)
        fit.objective += run.objective
        fit.n_iter += len(run.objective)
        fit.converged, fit.stopped = run.converged, run.stopped
        if not run.converged or not run.objective:
            break
    return fit


def certify(table: SparseTable, B: Array, penalty: float, rng: np.random.Generator) -> Certificate:
    """Return objective, duality gap and singular values. Some 30 passes of O(cells)."""
    misfit, overlap, squares, gram = table.engine.sum(fit_parts, B, penalty)
    objective = misfit + penalty / 2 * (squares + float(np.vdot(B, B)))
    left = table.engine.map(residual, B, penalty)
    norms, _ = leading_directions(left, table.n_columns, 1, rng, tol=1e-4, max_iter=30)
    shrink = min(1.0, penalty / float(norms[0])) if norms[0] else 1.0
    bound = shrink * overlap - shrink**2 * misfit
    _, core = np.linalg.qr(B)
    squared = np.linalg.eigvalsh(core @ gram @ core.T)[::-1]
    return Certificate(objective, max(0.0, objective - bound), np.sqrt(np.maximum(squared, 0)))


def _evaluate(table: SparseTable, penalty: float, B: Array) -> Point:
    """Return F and its slope at B: one pass."""
    sums = StepSums(*table.engine.sum(step, B, penalty))
    objective = sums.misfit + penalty / 2 * (sums.squares + float(np.vdot(B, B)))
    return Point(B, objective, penalty * B - sums.products, sums.gram / table.n_cells.sum())


def _new_directions(
    table: SparseTable, B: Array, penalty: float, rank: int, rng: np.random.Generator
) -> Array:
    """Return columns (d, k) that lower the objective when added to B, with the length that lowers it most.

    Along t u v^T, for a singular value sigma of R, it falls by t^2 (sigma - lambda) and rises by
    t^4 / 2 sum over observed cells of (u_i v_j)^2.
    """
    room = rank - B.shape[1]
    if room <= 0:
        return np.zeros((len(B), 0))
    left = table.engine.map(residual, B, penalty) if B.shape[1] else table.engine
    known, _ = np.linalg.qr(B)
    values, V = leading_directions(left, table.n_columns, room, rng, outside=known, tol=SLACK, max_iter=6)
    V, values = V[:, values > (1 + SLACK) * penalty], values[values > (1 + SLACK) * penalty]
    if not len(values):
        return V
    (spread,) = left.sum(footprint, V)
    return V * np.sqrt((values - penalty) * values**2 / spread)


def _join(evaluate: Callable[[Array], Point], fit: SparseFit, new: Array) -> Point:
    """Return the point with the new columns, shortened until they do not raise the objective."""
    highest = fit.objective[-1] if fit.objective else np.inf
    point = evaluate(np.ascontiguousarray(np.hstack([fit.B, new])))
    while point.objective > highest and np.any(new):
        new = new / 2
        point = evaluate(np.ascontiguousarray(np.hstack([fit.B, new])))
    return point


def _threshold(table: SparseTable, B: Array, penalty: float) -> Array:
    """Do one exact soft-impute step in the span of B: it sets small components to 0, and never climbs.

    The singular values of the filled table A B^T + R on that span shrink by lambda.
    """
    V, _ = np.linalg.qr(B)
    (gram,) = table.engine.sum(filled_gram, B, penalty, V)
    squares, Q = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares[::-1], 0))
    kept = values > penalty
    directions = V @ Q[:, ::-1][:, kept]
    directions *= np.where(directions[np.abs(directions).argmax(axis=0), np.arange(kept.sum())] < 0, -1, 1)
    return np.ascontiguousarray(directions * np.sqrt(values[kept] - penalty))
