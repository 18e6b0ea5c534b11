r"""The trace-norm fit of a sparse table at one penalty, by two factors of increasing rank.

.. math:: \min_Z\ \tfrac12\|R_\Omega(X - Z)\|_F^2 + \lambda\|Z\|_\mathrm{tr}
          \;=\; \min_{A, B}\ \tfrac12\|R_\Omega(X - AB^\top)\|_F^2
          + \tfrac\lambda2\left(\|A\|_F^2 + \|B\|_F^2\right)

if the factors have enough columns. Z is optimal if and only if the residual :math:`R = R_\Omega(X - Z)` has
:math:`RV = \lambda U` on the singular vectors of Z and no singular value above :math:`\lambda`. So adding a
direction outside Z with a larger singular value lowers the objective, and if there is none, the factors need
no more columns.

The dual problem is to maximise :math:`\langle Y, X\rangle - \frac12\|Y\|_F^2` over
:math:`\|Y\|_2 \le \lambda`, with Y on the observed cells only. Its solution is the R of the optimal Z; any
other R, scaled down until feasible, gives a lower bound on the objective.

The gradient of F comes from one pass (`cellworth.complete.sparse.variable_projection`), and a limited-memory
quasi-Newton method (Liu and Nocedal, 1989) moves the column factors. Its steps are scaled by the inverse of

.. math:: H_j = n_j G + \lambda, \qquad G = \frac1{|\Omega|}\sum_{(i,j)\in\Omega} a_ia_i^\top,

for column j with :math:`n_j` observed cells. This is the matrix of the column's ridge regression if its rows
were like all others. It takes one r x r sum, where the exact matrices would take one per column. The last few
steps correct for the difference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.complete.solver.factors import Watch, never_stop
from cellworth.complete.sparse.variable_projection import (
    CellBlocks,
    PassSums,
    filled_gram,
    fit_parts,
    footprint,
    leading_directions,
    residual,
    step,
)

SLACK = 1e-3  # add a direction if its singular value exceeds the penalty by this fraction
ROUNDS = 10  # of growth and descent
MEMORY = 6  # steps to keep; each takes two (d, r) arrays
ENOUGH = 1e-4  # fraction of the predicted decrease that a step must achieve (Armijo)
MOST_HALVINGS = 30


@dataclass(frozen=True)
class SparseTable:
    """Blocks of observed cells, and the number of cells in each column.

    Attributes
    ----------
    blocks : CellBlocks
        Blocks of `CellBlock`.
    n_cells : (d,) float64 array
        Number of observed cells in each column, none of them 0.
    """

    blocks: CellBlocks
    n_cells: Float64Array

    @property
    def n_columns(self) -> int:
        """Return d."""
        return len(self.n_cells)


@dataclass
class SparseFit:
    """Column factors, from which the row factors follow, and how the fit went.

    Attributes
    ----------
    B : (d, r) array
        Orthogonal columns of decreasing length.
    objective : list of float
        Objective after each step; never increases.
    n_iter : int
    converged, stopped : bool
    """

    B: Float64Array
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
        Objective at the two factors.
    gap : float
        Upper bound on how far the objective is above the minimum over tables of any rank. Nonnegative.
    singular_values : (r,) array
        Singular values of A B^T, descending.
    """

    objective: float
    gap: float
    singular_values: Float64Array


def fit_trace_norm(
    table: SparseTable,
    penalty: float,
    rank: int,
    start: Float64Array,
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
        Column factors to start from; k may be 0.
    tol : float
        End a round when the predicted decrease of the next step is below this fraction of the objective.
    rounds : int
        The maximum number of rounds of growth and descent.

    Notes
    -----
    One pass per step, O(cells r^2). Growing takes about 10 passes of O(cells r).
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


def certify(table: SparseTable, B: Float64Array, penalty: float, rng: np.random.Generator) -> Certificate:
    """Return the objective, duality gap and singular values. About 30 passes of O(cells)."""
    misfit, overlap, squares, gram = table.blocks.sum(fit_parts, B, penalty)
    objective = misfit + penalty / 2 * (squares + float(np.vdot(B, B)))
    left = table.blocks.map(residual, B, penalty)
    norms, _ = leading_directions(left, table.n_columns, 1, rng, tol=1e-4, max_iter=30)
    shrink = min(1.0, penalty / float(norms[0])) if norms[0] else 1.0
    bound = shrink * overlap - shrink**2 * misfit
    _, core = np.linalg.qr(B)
    squared = np.linalg.eigvalsh(core @ gram @ core.T)[::-1]
    return Certificate(objective, max(0.0, objective - bound), np.sqrt(np.maximum(squared, 0)))


def _evaluate(table: SparseTable, penalty: float, B: Float64Array) -> SlopePoint:
    """Return F and its gradient at B, in one pass."""
    sums = PassSums(*table.blocks.sum(step, B, penalty))
    objective = sums.misfit + penalty / 2 * (sums.squares + float(np.vdot(B, B)))
    return SlopePoint(B, objective, penalty * B - sums.products, sums.gram / table.n_cells.sum())


def _new_directions(
    table: SparseTable, B: Float64Array, penalty: float, rank: int, rng: np.random.Generator
) -> Float64Array:
    """Return columns (d, k) that lower the objective when added to B, at the length that lowers it most.

    Along t u v^T, for a singular value sigma of R, the objective decreases by t^2 (sigma - lambda) and
    increases by t^4 / 2 sum over observed cells of (u_i v_j)^2.
    """
    room = rank - B.shape[1]
    if room <= 0:
        return np.zeros((len(B), 0))
    left = table.blocks.map(residual, B, penalty) if B.shape[1] else table.blocks
    known, _ = np.linalg.qr(B)
    values, V = leading_directions(left, table.n_columns, room, rng, outside=known, tol=SLACK, max_iter=6)
    V, values = V[:, values > (1 + SLACK) * penalty], values[values > (1 + SLACK) * penalty]
    if not len(values):
        return V
    (spread,) = left.sum(footprint, V)
    return V * np.sqrt((values - penalty) * values**2 / spread)


def _join(evaluate: Callable[[Float64Array], SlopePoint], fit: SparseFit, new: Float64Array) -> SlopePoint:
    """Return the point with the new columns, shortened until they do not increase the objective."""
    highest = fit.objective[-1] if fit.objective else np.inf
    point = evaluate(np.ascontiguousarray(np.hstack([fit.B, new])))
    while point.objective > highest and np.any(new):
        new = new / 2
        point = evaluate(np.ascontiguousarray(np.hstack([fit.B, new])))
    return point


def _threshold(table: SparseTable, B: Float64Array, penalty: float) -> Float64Array:
    """Take one exact soft-impute step in the span of B, which sets small components to 0 and never climbs.

    It shrinks the singular values of the filled table A B^T + R on that span by lambda.
    """
    V, _ = np.linalg.qr(B)
    (gram,) = table.blocks.sum(filled_gram, B, penalty, V)
    squares, Q = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares[::-1], 0))
    kept = values > penalty
    directions = V @ Q[:, ::-1][:, kept]
    directions *= np.where(directions[np.abs(directions).argmax(axis=0), np.arange(kept.sum())] < 0, -1, 1)
    return np.ascontiguousarray(directions * np.sqrt(values[kept] - penalty))


class SlopePoint(NamedTuple):
    """F at some column factors.

    Attributes
    ----------
    B : (d, r) array
    objective : float
    slope : (d, r) array
    gram : (r, r) array
        G above, positive semidefinite.
    """

    B: Float64Array
    objective: float
    slope: Float64Array
    gram: Float64Array


@dataclass
class DescentResult:
    """Where a descent ended, and how.

    Attributes
    ----------
    point : SlopePoint
    objective : list of float
        Objective after each step; never increases.
    promised : float
        Predicted decrease of the next step, as a fraction of the objective.
    converged, stopped : bool
        ``stopped``: the watcher ended the descent.
    """

    point: SlopePoint
    objective: list[float] = field(default_factory=list)
    promised: float = np.inf
    converged: bool = False
    stopped: bool = False


def descend(
    evaluate: Callable[[Float64Array], SlopePoint],
    start: SlopePoint,
    n_cells: Float64Array,
    penalty: float,
    *,
    tol: float,
    max_iter: int,
    watch: Watch,
) -> DescentResult:
    """Minimise F from ``start`` until the next step's predicted decrease is below ``tol`` times F.

    Parameters
    ----------
    evaluate : callable
        Maps column factors (d, r) to a `SlopePoint`, in one pass over the table.
    n_cells : (d,) array
        Number of observed cells in each column.
    penalty : float
        lambda, greater than 0.
    watch : callable
        Called with (step, objective, predicted decrease as a fraction of it) after each step.

    Notes
    -----
    One pass per step, occasionally two; O(MEMORY d r + d r^2) besides.
    """
    run, memory = DescentResult(start), deque[tuple[Float64Array, Float64Array, float]](maxlen=MEMORY)
    while len(run.objective) < max_iter and not run.stopped:
        here = run.point
        direction = -_scaled(here, memory, n_cells, penalty)
        rate = float(np.vdot(here.slope, direction))
        run.promised = -rate / 2 / (here.objective or 1.0)
        if run.promised <= tol:
            run.converged = True
            break
        there = _search(evaluate, here, direction, rate)
        if there is None:  # no decrease beyond rounding
            run.converged = True
            break
        _remember(memory, there.B - here.B, there.slope - here.slope)
        run.point = there
        run.objective.append(there.objective)
        run.stopped = watch(len(run.objective), there.objective, run.promised)
    return run


def _search(
    evaluate: Callable[[Float64Array], SlopePoint], here: SlopePoint, direction: Float64Array, rate: float
) -> SlopePoint | None:
    """Return the first sufficiently low point, trying shorter and shorter steps; None if there is none."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        there = evaluate(here.B + length * direction)
        if there.objective <= here.objective + ENOUGH * length * rate:
            return there
        length /= 2
    return None


def _remember(
    memory: deque[tuple[Float64Array, Float64Array, float]], move: Float64Array, change: Float64Array
) -> None:
    """Keep a step for later ones if it has positive curvature, as near a minimum."""
    curvature = float(np.vdot(move, change))
    if curvature > 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(change)):
        memory.append((move, change, curvature))


def _scaled(
    here: SlopePoint,
    memory: deque[tuple[Float64Array, Float64Array, float]],
    n_cells: Float64Array,
    penalty: float,
) -> Float64Array:
    """Return the gradient times the inverse of the estimated Hessian (the two-loop recursion)."""
    values, Q = np.linalg.eigh(here.gram)
    widths = n_cells[:, None] * np.maximum(values, 0) + penalty

    def inverse(direction: Float64Array) -> Float64Array:
        return np.asarray(((direction @ Q) / widths) @ Q.T)

    out, weights = here.slope.copy(), []
    for move, change, curvature in reversed(memory):
        weights.append(float(np.vdot(move, out)) / curvature)
        out -= weights[-1] * change
    out = inverse(out)
    if memory:
        _, change, curvature = memory[-1]
        out *= curvature / float(np.vdot(change, inverse(change)))
    for (move, change, curvature), weight in zip(memory, reversed(weights), strict=True):
        out += (weight - float(np.vdot(change, out)) / curvature) * move
    return out
