r"""Continuation: a weak penalty is reached from the column means by way of stronger ones.

A step moves no singular value by more than :math:`\lambda_1/L`, so from the column means a weak penalty would
need very many. A strong penalty forgets the start in a few, and each solution is close to that of a penalty a
few times weaker (Toh and Yun, 2010).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cellworth.arrays import FloatArray
from cellworth.blocks.threads import RowBlocks
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.monitor import Solution
from cellworth.complete.solver.passes import InPlacePasses, Passes
from cellworth.complete.solver.proximal_gradient import Descent, descend, minimise
from cellworth.complete.solver.step import Rows

WEAK = 1e-3  # penalties below this times the norm of the data are approached from stronger ones
STRONG = 0.1  # the first of these, in the same unit
FALL = 3.0  # the ratio of one to the next
STAGE_TOL = 0.01  # relative to the penalty
STAGE_ITERATIONS = 50


class Approach(NamedTuple):
    """Where `approach` got to."""

    model: LinearPart
    trace_norm: float
    n_iter: int


def approach(
    passes: Passes,
    model: LinearPart,
    trace_penalty: float,
    trace_norm: float,
    *,
    max_iter: int,
) -> Approach:
    r"""Descend with falling penalties until near a weak one; the iterate is then that of ``passes``.

    Does nothing if :math:`\lambda_1` is 0, or at least `WEAK` times the norm of the observed values.
    """
    n_iter, penalty = 0, STRONG * passes.scale
    while 0 < trace_penalty < WEAK * passes.scale and penalty > FALL * trace_penalty and n_iter < max_iter:
        descent = Descent.begin(
            passes,
            model,
            trace_penalty=penalty,
            trace_norm=trace_norm,
            tol=STAGE_TOL * penalty / passes.scale,
            max_iter=min(STAGE_ITERATIONS, max_iter - n_iter),
        )
        solution = descend(passes, descent, penalty)
        model, trace_norm = solution.model, float(solution.singular_values.sum())
        n_iter += solution.n_iter
        penalty /= FALL
    return Approach(model, trace_norm, n_iter)


def minimise_from_means(
    iterate: FloatArray,
    model: LinearPart,
    rows: Rows,
    *,
    trace_penalty: float,
    trace_norm: float,
    max_iter: int,
    blocks: RowBlocks,
    **settings: Any,
) -> Solution:
    """Minimise F from column means; arguments and result are those of `minimise`, ``n_iter`` counts all."""
    passes = InPlacePasses(iterate, rows, blocks)
    near = approach(passes, model, trace_penalty, trace_norm, max_iter=max_iter - 1)
    solution = minimise(
        passes.iterate,
        near.model,
        rows,
        trace_penalty=trace_penalty,
        trace_norm=near.trace_norm,
        max_iter=max_iter - near.n_iter,
        blocks=blocks,
        **settings,
    )
    solution.n_iter += near.n_iter
    return solution
