"""The row-block step on a run of blocks, compiled where it can be.

Between the two products of a step, NumPy passes over a block a dozen times; the compiled kernel passes once,
while the block is in cache, and a run of blocks is one call. Both do the same arithmetic, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref
from typing import Any

import numpy as np

from cellworth.arrays import FloatArray
from cellworth.blocks.engine_protocol import add, merge_in_tree
from cellworth.complete.compiled.library import ModelPointers, NearPointers, address, kernels
from cellworth.complete.solver import step as plain
from cellworth.complete.solver.linear_part import LinearPart
from cellworth.complete.solver.losses import LogisticLoss, MultinomialLoss, SquaredHingeLoss, SquaredLoss
from cellworth.complete.solver.step import NearRows, Rows, StepSums, sample_size

STEP, START, LAND = range(3)  # as in kernels.c
LOSSES = (SquaredLoss, LogisticLoss, SquaredHingeLoss, MultinomialLoss)  # as in kernels.c


def step(
    iterate: FloatArray,
    point: FloatArray,
    trail: FloatArray,
    operator: FloatArray,
    momentum: float,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    ahead: LinearPart,
    size: int | None = None,
) -> StepSums:
    """Do `cellworth.complete.solver.step.step` on a run of blocks.

    Parameters
    ----------
    trail : (at least the sampled rows, d) array
        The sampled rows of all blocks of the run, one block after another.
    size : int or None
        Rows per block; the last block may be shorter. None: the run is one block, and all of ``trail``
        belongs to it.
    """
    arguments = iterate, point, trail, operator, momentum, lipschitz, rows, model, ahead
    if _is_compiled(iterate, rows, model):
        return _pass(STEP, *arguments, size)

    def of_block(b: slice) -> StepSums:
        n, at = b.stop - b.start, 0 if size is None else b.start // size * sample_size(size)
        part = trail if size is None else trail[at : at + sample_size(n)]
        return plain.step(iterate[b], point[b], part, operator, momentum, lipschitz, rows[b], model, ahead)

    return _over_blocks(of_block, len(iterate), size)


def start(
    iterate: FloatArray,
    point: FloatArray,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    size: int | None = None,
) -> StepSums:
    """Do `cellworth.complete.solver.step.start` on a run of blocks."""
    if _is_compiled(iterate, rows, model):
        return _pass(START, iterate, point, None, None, 0.0, lipschitz, rows, model, model, size)
    return _over_blocks(
        lambda b: plain.start(iterate[b], point[b], lipschitz, rows[b], model), len(iterate), size
    )


def start_near(
    iterate: FloatArray,
    point: FloatArray | None,
    near: NearRows,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    size: int | None = None,
) -> tuple[Any, ...]:
    """Do `form` and `start` of `cellworth.complete.solver.step` on a run of blocks; return sums and pull.

    ``iterate`` is overwritten, too. Without ``point``, the points are not kept: see `land_at_once`.
    """
    if _is_compiled(iterate, rows, model):
        pull = np.zeros(1)
        sums = _pass(
            START, iterate, point, None, None, 0.0, lipschitz, rows, model, model, size, (near, pull)
        )
        return *sums, float(pull[0])
    pull_of_all = plain.form(iterate, near, lipschitz, rows, model)
    point = np.empty_like(iterate) if point is None else point
    return *start(iterate, point, lipschitz, rows, model, size), pull_of_all


def land(
    iterate: FloatArray,
    point: FloatArray,
    operator: FloatArray,
    rows: Rows,
    model: LinearPart,
    size: int | None = None,
) -> StepSums:
    """Do `cellworth.complete.solver.step.land` on a run of blocks."""
    if _is_compiled(iterate, rows, model):
        return _pass(LAND, iterate, point, None, operator, 0.0, 1.0, rows, model, model, size)
    return _over_blocks(
        lambda b: plain.land(iterate[b], point[b], operator, rows[b], model), len(iterate), size
    )


def land_at_once(
    iterate: FloatArray,
    operator: FloatArray,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    ahead: LinearPart,
    size: int | None = None,
) -> StepSums:
    """Do `start` and `land` of `cellworth.complete.solver.step`; the new iterate takes the old one's place.

    The points are those of ``start(iterate, point, lipschitz, rows, ahead)``.
    """
    if _is_compiled(iterate, rows, model):
        return _pass(LAND, iterate, None, None, operator, 0.0, lipschitz, rows, model, ahead, size)
    point = np.empty_like(iterate)
    start(iterate, point, lipschitz, rows, ahead, size)
    sums = land(iterate, point, operator, rows, model, size)
    iterate[...] = point
    return sums


def _over_blocks(function: Callable[[slice], StepSums], n: int, size: int | None) -> StepSums:
    """Sum a function's results over the blocks of a run, as the compiled kernel's caller would."""
    blocks = [slice(i, min(i + (size or n), n)) for i in range(0, n, size or max(1, n))]
    return StepSums(*merge_in_tree(add, map(function, blocks)))


def _is_compiled(iterate: FloatArray, rows: Rows, model: LinearPart) -> bool:
    """Return whether the kernel can do a pass: not on the row side of a wide table, nor for other losses."""
    return kernels() is not None and not rows.wide and type(model.loss) in LOSSES and iterate.size > 0


def _pass(
    mode: int,
    iterate: FloatArray,
    point: FloatArray | None,
    trail: FloatArray | None,
    operator: FloatArray | None,
    momentum: float,
    lipschitz: float,
    rows: Rows,
    model: LinearPart,
    ahead: LinearPart,
    size: int | None,
    near: tuple[NearRows, FloatArray] | None = None,
) -> StepSums:
    """Call the kernel on a run of blocks; ``near`` are the rows to form, and where to add up their pull."""
    found = kernels()
    assert found is not None
    (n, d), dtype, q, m = iterate.shape, iterate.dtype, model.coef.shape[1], len(rows.targets)
    block = n if size is None else size
    of_last = n - (n - 1) // block * block
    sampled = (0, 0) if trail is None else (len(trail),) * 2
    if size is not None:
        sampled = sample_size(block), sample_size(of_last)
    arrays = [np.ascontiguousarray(a) for a in (rows.values, rows.observed, rows.targets)]
    P = np.ascontiguousarray(operator) if operator is not None else None
    of_model, kept = _pointers(model, dtype)
    of_ahead, kept_ahead = (of_model, kept) if ahead is model else _pointers(ahead, dtype)
    gram, cross, working, sums = np.zeros((2, d, d)), np.zeros((q + 1, d)), np.zeros(q), np.zeros(5)
    of_near, kept_near = (None, None) if near is None else _near_pointers(*near, dtype)
    function, blas = found.passes[dtype]
    failed = function(
        *(byref(blas), mode, n, d, block, *sampled, address(iterate)),
        *(None if a is None else address(a) for a in (point, trail, P)),
        *(momentum, lipschitz, *map(address, arrays), m, byref(of_model), byref(of_ahead)),
        *(*map(address, (gram, cross, working, sums)), of_near),
    )
    del kept, kept_ahead, kept_near
    if failed:
        raise MemoryError("not enough memory for a block of rows")
    of_sums = sums.tolist()
    if mode == LAND:
        none = np.zeros((0, 0))
        return StepSums(none, 0.0, none, none, *of_sums)
    return StepSums(gram[0], gram[1] if m < n else 0.0, cross.T, working, *of_sums)


def _pointers(model: LinearPart, dtype: Any) -> tuple[ModelPointers, Any]:
    """Return the model as the kernel takes it, and the arrays to keep meanwhile."""
    coef = np.ascontiguousarray(model.coef.T, dtype=dtype)
    intercept = np.ascontiguousarray(model.intercept, dtype=dtype)
    code = LOSSES.index(type(model.loss))
    return ModelPointers(coef.shape[0], code, model.weight, address(coef), address(intercept)), (
        coef,
        intercept,
    )


def _near_pointers(near: NearRows, pull: FloatArray, dtype: Any) -> tuple[Any, Any]:
    """Return the rows to form as the kernel takes them, and the arrays to keep meanwhile."""
    right = np.eye(near.left.shape[1]) if near.right is None else near.right
    factors = near.left, right, near.updated, near.operator
    left, right, updated, operator = (np.ascontiguousarray(each, dtype=dtype) for each in factors)
    changed = np.ascontiguousarray(near.changed, dtype=np.int64)
    kept = left, right, changed, updated, operator, pull
    counts = left.shape[1], len(changed), near.steps, near.relaxation
    return byref(NearPointers(*counts, *map(address, kept))), kept
