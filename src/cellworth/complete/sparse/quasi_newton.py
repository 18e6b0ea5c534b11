r"""Descent on the column factors, with the rows always at their best (limited-memory quasi-Newton).

The slope of F comes from one pass (`cellworth.complete.solver.sparse_step`). Steps are scaled by the
inverse of

.. math:: H_j = n_j G + \lambda, \qquad G = \frac1{|\Omega|}\sum_{(i,j)\in\Omega} a_ia_i^\top,

for the column j with :math:`n_j` observed cells: what the ridge regression of the column on the rows would
have, were the rows that it was observed in like all others. That costs an r x r sum, where the exact matrices
would cost one for each column. The last few steps correct what it misses (Liu and Nocedal, 1989).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.factors import Watch

Array = NDArray[np.float64]

MEMORY = 6  # steps that are remembered; each takes two (d, r) arrays
ENOUGH = 1e-4  # of the fall that the slope promises is asked of a step (Armijo)
MOST_HALVINGS = 30


class Point(NamedTuple):
    """F at some column factors.

    Attributes
    ----------
    B : (d, r) array
    objective : float
    slope : (d, r) array
    gram : (r, r) array
        G above, not negative definite.
    """

    B: Array
    objective: float
    slope: Array
    gram: Array


@dataclass
class Descent:
    """Where a descent ended, and how.

    Attributes
    ----------
    point : Point
    objective : list of float
        After each step; never rises.
    promised : float
        By how much the next step would lower the objective, as a fraction of it.
    converged, stopped : bool
        ``stopped``: the watcher ended the work.
    """

    point: Point
    objective: list[float] = field(default_factory=list)
    promised: float = np.inf
    converged: bool = False
    stopped: bool = False


def descend(
    evaluate: Callable[[Array], Point],
    start: Point,
    n_cells: Array,
    penalty: float,
    *,
    tol: float,
    max_iter: int,
    watch: Watch,
) -> Descent:
    """Lower F from ``start`` on until the next step promises less than ``tol`` times the objective.

    Parameters
    ----------
    evaluate : callable
        From column factors (d, r) to a `Point`: one pass over the table.
    n_cells : (d,) array
        Observed cells of each column.
    penalty : float
        lambda, greater than 0.
    watch : callable
        Called with (step, objective, promised fall as a fraction of it) after each step.

    Notes
    -----
    One pass per step, now and then two; O(MEMORY d r + d r^2) beside it.
    """
    run, memory = Descent(start), deque[tuple[Array, Array, float]](maxlen=MEMORY)
    while len(run.objective) < max_iter and not run.stopped:
        here = run.point
        direction = -_scaled(here, memory, n_cells, penalty)
        rate = float(np.vdot(here.slope, direction))
        run.promised = -rate / 2 / (here.objective or 1.0)
        if run.promised <= tol:
            run.converged = True
            break
        there = _search(evaluate, here, direction, rate)
        if there is None:  # nothing lower within rounding
            run.converged = True
            break
        _remember(memory, there.B - here.B, there.slope - here.slope)
        run.point = there
        run.objective.append(there.objective)
        run.stopped = watch(len(run.objective), there.objective, run.promised)
    return run


def _search(evaluate: Callable[[Array], Point], here: Point, direction: Array, rate: float) -> Point | None:
    """Return the first point along ever shorter steps that is low enough; None if there is none."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        there = evaluate(here.B + length * direction)
        if there.objective <= here.objective + ENOUGH * length * rate:
            return there
        length /= 2
    return None


def _remember(memory: deque[tuple[Array, Array, float]], move: Array, change: Array) -> None:
    """Keep a step for later ones if the slope rose along it: else it says nothing on a minimum."""
    curvature = float(np.vdot(move, change))
    if curvature > 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(change)):
        memory.append((move, change, curvature))


def _scaled(here: Point, memory: deque[tuple[Array, Array, float]], n_cells: Array, penalty: float) -> Array:
    """Return the slope times the inverse of the estimated second derivative (the two loops)."""
    values, Q = np.linalg.eigh(here.gram)
    widths = n_cells[:, None] * np.maximum(values, 0) + penalty

    def inverse(direction: Array) -> Array:
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
