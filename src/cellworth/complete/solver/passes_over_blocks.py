"""Passes over row blocks held by an engine: the row-block step as pure functions of blocks.

The solver works on a table with labelled rows first, so a block of the user's table is two runs of it: the
block's labelled rows and its unlabelled rows. Each run is cut where the solver cuts the whole table. So the
same rows are sampled to test momentum, and the iterations are those of a table in memory, up to rounding in
the sums, however the table is split into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.engine_protocol import Blocks, Engine, Sized, add, merge_in_tree
from cellworth.blocks.thread_engine import block_size
from cellworth.complete.scaling import Scaling, scaled_cells
from cellworth.complete.solver.cell_sums import CellSums
from cellworth.complete.solver.fused_step import land, start, step
from cellworth.complete.solver.linear_part import LabelledSums, LinearPart
from cellworth.complete.solver.monitor import Callback, Solution
from cellworth.complete.solver.proximal_gradient import Approach, Descent, approach, descend
from cellworth.complete.solver.sampled_start import SampleFit, filled_rows, product_given_shape
from cellworth.complete.solver.singular_value_thresholding import Shrinkage, shrinkage
from cellworth.complete.solver.step import Rows, StepSums, sample_size

if TYPE_CHECKING:
    from cellworth.blocks.row_source import Part
    from cellworth.complete.labels import LabelCode

CHECKPOINT_EVERY = 20  # iterations: bounds what can be lost, and what a lost block must repeat


def minimise_blocks(
    engine: Engine,
    data: Blocks,
    model: LinearPart,
    sums: CellSums,
    *,
    n_targets: int,
    dtype: Any,
    trace_penalty: float,
    tol: float,
    max_iter: int,
    sample: SampleFit | None = None,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Minimise F from a sample or the column means, or resume; see `proximal_gradient.minimise`.

    Parameters
    ----------
    data : Blocks of ScaledBlock or UnreadBlock
    sums : CellSums
        Sums over all blocks.
    n_targets : int
        Number of rows that enter the loss.
    dtype : data-type
        Dtype of the table's values.
    sample : SampleFit or None
        The fit to a sample of the rows, if there is one to start from.
    checkpoint : Checkpoint or None
        Where states are kept; if there are some, the iterations go on from them.

    Returns
    -------
    Solution
        Its iterate is `Blocks` of `RowState`.
    """
    made_for = n_targets, float(np.sqrt(sums.square)), float(np.finfo(dtype).eps)
    if checkpoint is not None and checkpoint.is_there():
        states = checkpoint.load_states(engine, len(data), from_arrays)
        passes = BlockPasses(engine, data, states, *made_for)
        descent = Descent.from_arrays(checkpoint.load(), callback)
    else:
        if sample is None:
            states = engine.map(column_means, data, shared=(sums.totals / np.maximum(1, sums.counts),))
        else:
            product = product_given_shape(sample.shape, trace_penalty)
            states, model = engine.map(given_shape, data, shared=(product,)), sample.model
        passes = BlockPasses(engine, data, states, *made_for)
        (gram,) = engine.reduce(gram_of_iterate, add, states)
        near = Approach(model, shrinkage(gram, 0.0).trace_norm, 0)
        if sample is None:
            near = approach(passes, model, trace_penalty, near.trace_norm, max_iter=max_iter - 1)
        descent = Descent.begin(
            passes,
            near.model,
            trace_penalty=trace_penalty,
            trace_norm=near.trace_norm,
            tol=tol,
            max_iter=max_iter,
            callback=callback,
        )
        descent.monitor.n_iter = near.n_iter
    del states  # let the passes hold the only reference, so that old states are freed early

    def save(so_far: Descent) -> None:
        if checkpoint is not None and so_far.monitor.n_iter % CHECKPOINT_EVERY == 0:
            kept = so_far.to_arrays(), passes.states
            passes.states = checkpoint.save_states(engine, *kept, to_arrays, from_arrays)

    return descend(passes, descent, trace_penalty, after=save)


class BlockPasses:
    """Passes over row blocks held by an engine; see `cellworth.complete.solver.passes_in_memory.Passes`.

    Parameters
    ----------
    engine : Engine
    data : Blocks of ScaledBlock or UnreadBlock
    states : Blocks of RowState
    n_targets : int
        Number of rows that enter the loss.
    scale, eps : float
    """

    def __init__(
        self, engine: Engine, data: Blocks, states: Blocks, n_targets: int, scale: float, eps: float
    ) -> None:
        self.scale, self.eps = scale, eps
        self.states = states
        self._engine, self._data, self._n_targets = engine, data, n_targets

    @property
    def iterate(self) -> Blocks:
        """The states of all blocks."""
        return self.states

    def first(self, lipschitz: float, model: LinearPart) -> StepSums:
        """Form a point from the iterate, without momentum."""
        return self._pass(first_pass, lipschitz, model)

    def next(
        self, operator: FloatArray, momentum: float, lipschitz: float, model: LinearPart, ahead: LinearPart
    ) -> StepSums:
        """Shrink the point to the next iterate, and form the next point."""
        return self._pass(next_pass, operator, momentum, lipschitz, model, ahead)

    def last(self, operator: FloatArray, model: LinearPart) -> StepSums:
        """Shrink the point to the next iterate; there is no next point."""
        return self._pass(last_pass, operator, model)

    def labelled_sums(self, sums: StepSums, shrunk: Shrinkage) -> LabelledSums:
        """Return the labelled sums of the iterate to which ``shrunk`` will shrink the point of ``sums``."""
        return sums.labelled_sums(self._n_targets).after(shrunk.operator)

    def _pass(self, function: Any, *shared: Any) -> StepSums:
        self.states = self._engine.map(function, self.states, self._data, shared=shared)
        return StepSums(*self._engine.reduce(sums_of, add, self.states))


@dataclass(frozen=True)
class Piece:
    """Rows that are processed together, in cache.

    Attributes
    ----------
    rows : slice
        Rows of the block, labelled rows first.
    n_targets : int
        How many of them enter the loss: all or none.
    n_sampled : int
        How many of them, from the first, are sampled.
    first_row : int
        The place of the first one in the table with labelled rows first.
    """

    rows: slice
    n_targets: int
    n_sampled: int
    first_row: int


@dataclass(frozen=True)
class ScaledBlock(Sized):
    """The scaled data of a block, labelled rows first.

    Attributes
    ----------
    values, observed : (m, d) arrays
    targets : (m, n_outputs) array
        Targets of all rows; only those counted by the pieces enter the loss.
    pieces : list of Piece
    order : (m,) int array
        The original row numbers, in this order.
    """

    values: FloatArray
    observed: BoolArray
    targets: FloatArray
    pieces: list[Piece]
    order: IntArray

    def scaled(self) -> ScaledBlock:
        """Return the block: it is at hand, unlike an `UnreadBlock`."""
        return self

    def of(self, piece: Piece) -> Rows:
        """Return the data of a piece."""
        targets = self.targets[piece.rows][: piece.n_targets]
        return Rows(self.values[piece.rows], self.observed[piece.rows], targets, wide=False)


@dataclass(frozen=True)
class RowState(Sized):
    """The state of a block's rows between two passes.

    Attributes
    ----------
    iterate, point : (m, d) arrays
        X and A of `cellworth.complete.solver.step`.
    trails : list of (n_sampled, d) arrays
        The last move of the sampled rows, for each piece.
    sums : StepSums
        Sums of the pass that led here.
    """

    iterate: FloatArray
    point: FloatArray
    trails: list[FloatArray]
    sums: StepSums


@dataclass(frozen=True)
class Outline:
    """What a block must know about the whole table: its shape (n, d), and whether labels are used."""

    shape: tuple[int, int]
    supervised: bool
    scaling: Scaling
    code: LabelCode


def scaled_block(part: Part, before: tuple[int, int], outline: Outline) -> ScaledBlock:
    """Scale a block; ``before`` counts the labelled and unlabelled rows in the blocks before it."""
    targets, labelled = outline.code.targets(part.y, len(part.X))
    order = np.argsort(~labelled, kind="stable")
    values, observed = scaled_cells(part.X[order], outline.scaling)
    n_labelled = int(labelled.sum())
    pieces = cut_pieces(
        (n_labelled, before[0]),
        (len(order) - n_labelled, outline.code.n_labelled + before[1]),
        outline.shape,
        values.itemsize,
        supervised=outline.supervised,
    )
    return ScaledBlock(values, observed, targets[order].astype(values.dtype), pieces, order)


def cut_pieces(
    labelled: tuple[int, int],
    others: tuple[int, int],
    shape: tuple[int, int],
    itemsize: int,
    *,
    supervised: bool,
) -> list[Piece]:
    """Cut the labelled and unlabelled rows of a block where the solver cuts the whole table.

    Parameters
    ----------
    labelled, others : (number, first_row)
        How many are in the block, and the position of the first one in the table with labelled rows first.
    shape : (n, d)
        Shape of the whole table.
    itemsize : int
        Bytes per value.
    supervised : bool
        Whether labels are used.
    """
    n = shape[0]
    size = block_size(shape, itemsize)
    pieces, begin = [], 0
    for (number, first_row), enters in ((labelled, supervised), (others, False)):
        end = begin + number
        while begin < end:
            of_block = first_row - first_row % size  # start of the solver's block that has this row
            length = min(size, n - of_block)
            stop = min(end, begin + of_block + length - first_row)
            sampled = min(max(0, of_block + sample_size(length) - first_row), stop - begin)
            pieces.append(Piece(slice(begin, stop), stop - begin if enters else 0, sampled, first_row))
            first_row += stop - begin
            begin = stop
    return pieces


NO_SUMS = StepSums(np.zeros((0, 0)), 0.0, np.zeros((0, 0)), np.zeros((0, 0)), 0, 0, 0, 0, 0)


def to_arrays(state: RowState) -> dict[str, AnyArray]:
    """Return the arrays of a state for a checkpoint; the loop keeps the sums."""
    trails = {f"trail{i}": trail for i, trail in enumerate(state.trails)}
    return {"iterate": state.iterate, "point": state.point, **trails}


def from_arrays(arrays: dict[str, AnyArray]) -> RowState:
    """Return the state from the arrays of `to_arrays`."""
    trails = [arrays[f"trail{i}"] for i in range(len(arrays) - 2)]
    return RowState(arrays["iterate"], arrays["point"], trails, NO_SUMS)


def column_means(data: ScaledBlock, means: FloatArray) -> RowState:
    """Return the state with the means (d,) of the scaled columns in the holes, before the first pass."""
    data = data.scaled()
    iterate = np.where(data.observed, data.values, means.astype(data.values.dtype))
    return _before_passes(iterate, data)


def given_shape(data: ScaledBlock, product: FloatArray) -> RowState:
    """Return the state with what a sample implies in the holes, before the first pass; see `filled_rows`."""
    data = data.scaled()
    iterate = filled_rows(data.values, data.observed, product).astype(data.values.dtype)
    return _before_passes(iterate, data)


def _before_passes(iterate: FloatArray, data: ScaledBlock) -> RowState:
    d = iterate.shape[1]
    trails = [np.zeros((piece.n_sampled, d), dtype=iterate.dtype) for piece in data.pieces]
    return RowState(iterate, iterate, trails, NO_SUMS)


def first_pass(state: RowState, data: ScaledBlock, lipschitz: float, model: LinearPart) -> RowState:
    """Form the points of a block without momentum: `start`."""
    data = data.scaled()
    point = np.empty_like(state.iterate)
    sums = _over_pieces(
        data, lambda i, p: start(state.iterate[p.rows], point[p.rows], lipschitz, data.of(p), model)
    )
    return RowState(state.iterate, point, state.trails, sums)


def next_pass(
    state: RowState,
    data: ScaledBlock,
    operator: FloatArray,
    momentum: float,
    lipschitz: float,
    model: LinearPart,
    ahead: LinearPart,
) -> RowState:
    """Shrink the points of a block and form the next ones: `step`."""
    data = data.scaled()
    # Copy piece by piece, while in cache: the old state may be needed again.
    iterate, point = np.empty_like(state.iterate), np.empty_like(state.point)
    trails = [trail.copy() for trail in state.trails]
    operator = operator.astype(point.dtype, copy=False)

    def of_piece(i: int, piece: Piece) -> StepSums:
        X, A = iterate[piece.rows], point[piece.rows]
        X[...], A[...] = state.iterate[piece.rows], state.point[piece.rows]
        return step(X, A, trails[i], operator, momentum, lipschitz, data.of(piece), model, ahead)

    sums = _over_pieces(data, of_piece)
    return RowState(point, iterate, trails, sums)


def last_pass(state: RowState, data: ScaledBlock, operator: FloatArray, model: LinearPart) -> RowState:
    """Shrink the points of a block: `land`."""
    data = data.scaled()
    point = np.empty_like(state.point)
    operator = operator.astype(point.dtype, copy=False)

    def of_piece(i: int, piece: Piece) -> StepSums:
        A = point[piece.rows]
        A[...] = state.point[piece.rows]
        return land(state.iterate[piece.rows], A, operator, data.of(piece), model)

    sums = _over_pieces(data, of_piece)
    return RowState(point, state.iterate, state.trails, sums)


def _over_pieces(data: ScaledBlock, function: Callable[[int, Piece], StepSums]) -> StepSums:
    """Sum a function's results over the pieces of a block."""
    return StepSums(*merge_in_tree(add, (function(i, piece) for i, piece in enumerate(data.pieces))))


def settled(state: RowState, data: ScaledBlock) -> FloatArray:
    """Return the iterate (m, d) with the rows in the order of the block."""
    iterate = np.empty_like(state.iterate)
    iterate[data.scaled().order] = state.iterate
    return iterate


def sums_of(state: RowState) -> StepSums:
    """Return the sums of the pass that led to a state."""
    return state.sums


def gram_of_iterate(state: RowState) -> tuple[FloatArray]:
    """Return the Gram matrix of the iterate."""
    exact = state.iterate.astype(np.float64, copy=False)
    return (exact.T @ exact,)
