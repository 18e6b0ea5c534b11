"""The row-block step of the supervised completer, as pure functions of blocks.

A block of the user's table is two runs of the table that the solver works on, in which rows with labels come
first: its labelled rows, and its other rows. Each run is cut where the solver cuts the whole table. So the
same rows take part in the sample by which momentum is judged, and the iterations are those of
`SupervisedCompleter`, up to the rounding of sums, however the table is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import add, fold
from cellworth.blocks.sizes import Sized
from cellworth.blocks.source import Block
from cellworth.complete.completer import scaled_cells
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.blocks import block_size
from cellworth.complete.solver.model import Model
from cellworth.complete.solver.step import Rows, StepSums, land, sample_size, start, step
from cellworth.engine.labels import LabelCode

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Piece:
    """Rows that are worked on together, in cache.

    Attributes
    ----------
    rows : slice
        Of the block, labelled rows first.
    n_targets : int
        Rows among them that enter the loss: all or none.
    n_sampled : int
        Rows among them, the first ones, that are sampled.
    """

    rows: slice
    n_targets: int
    n_sampled: int


@dataclass(frozen=True)
class Outline:
    """What a block must know of the whole table.

    Attributes
    ----------
    n_rows, n_labelled : int
    supervised : bool
        Labels take part.
    """

    n_rows: int
    n_labelled: int
    supervised: bool
    scaling: Scaling
    code: LabelCode


@dataclass(frozen=True)
class BlockRows(Sized):
    """The data of a block, scaled, labelled rows first.

    Attributes
    ----------
    values, observed : (m, d) arrays
    targets : (m, n_outputs) array
        Of all rows; only those that pieces count enter the loss.
    pieces : list of Piece
    order : (m,) int array
        The rows of the block in this order.
    """

    values: Array
    observed: NDArray[np.bool_]
    targets: Array
    pieces: list[Piece]
    order: NDArray[np.intp]

    def of(self, piece: Piece) -> Rows:
        """Return the data of a piece."""
        targets = self.targets[piece.rows][: piece.n_targets]
        return Rows(self.values[piece.rows], self.observed[piece.rows], targets, wide=False)


@dataclass(frozen=True)
class RowState(Sized):
    """Where the rows of a block stand between two passes.

    Attributes
    ----------
    iterate, point : (m, d) arrays
        X and A of `cellworth.complete.solver.step`.
    trails : list of (n_sampled, d) arrays
        The last move in the sampled rows, for each piece.
    sums : StepSums
        Of the pass that led here.
    """

    iterate: Array
    point: Array
    trails: list[Array]
    sums: StepSums


def prepare(block: Block, before: tuple[int, int], outline: Outline) -> BlockRows:
    """Read and scale a block; ``before`` counts the labelled and the other rows of the blocks before it."""
    part = block.read()
    targets, labelled = outline.code.targets(part.y, len(part.X))
    order = np.argsort(~labelled, kind="stable")
    values, observed = scaled_cells(part.X[order], outline.scaling)
    pieces = _pieces(int(labelled.sum()), len(order), before, outline, values)
    return BlockRows(values, observed, targets[order].astype(values.dtype), pieces, order)


def _pieces(
    n_labelled: int, n_rows: int, before: tuple[int, int], outline: Outline, values: Array
) -> list[Piece]:
    """Cut the labelled and the other rows of a block where the solver cuts the whole table."""
    n = outline.n_rows
    size = block_size((n, values.shape[1]), values.itemsize)
    pieces = []
    for begin, end, place in (
        (0, n_labelled, before[0]),
        (n_labelled, n_rows, outline.n_labelled + before[1]),
    ):
        while begin < end:
            first = place - place % size  # of the solver's block that this row is in
            length = min(size, n - first)
            stop = min(end, begin + first + length - place)
            sampled = min(max(0, first + sample_size(length) - place), stop - begin)
            enters = outline.supervised and begin < n_labelled
            pieces.append(Piece(slice(begin, stop), stop - begin if enters else 0, sampled))
            place += stop - begin
            begin = stop
    return pieces


def column_means(data: BlockRows, means: Array) -> RowState:
    """Return the state with the means (d,) of the scaled columns in the holes, before the first pass."""
    iterate = np.where(data.observed, data.values, means.astype(data.values.dtype))
    d = iterate.shape[1]
    trails = [np.zeros((piece.n_sampled, d), dtype=iterate.dtype) for piece in data.pieces]
    none = np.zeros((0, 0))
    return RowState(iterate, iterate, trails, StepSums(none, 0.0, none, none, 0, 0, 0, 0, 0))


def first_pass(state: RowState, data: BlockRows, lipschitz: float, model: Model) -> RowState:
    """Form the points of a block without momentum: `start`."""
    point = np.empty_like(state.iterate)
    sums = _over_pieces(
        data, lambda i, p: start(state.iterate[p.rows], point[p.rows], lipschitz, data.of(p), model)
    )
    return RowState(state.iterate, point, state.trails, sums)


def next_pass(
    state: RowState,
    data: BlockRows,
    operator: Array,
    momentum: float,
    lipschitz: float,
    model: Model,
    ahead: Model,
) -> RowState:
    """Shrink the points of a block and form the next ones: `step`."""
    # Copied piece by piece, while it is in cache: the old state may be needed again.
    iterate, point = np.empty_like(state.iterate), np.empty_like(state.point)
    trails = [trail.copy() for trail in state.trails]
    operator = operator.astype(point.dtype, copy=False)

    def of_piece(i: int, piece: Piece) -> StepSums:
        X, A = iterate[piece.rows], point[piece.rows]
        X[...], A[...] = state.iterate[piece.rows], state.point[piece.rows]
        return step(X, A, trails[i], operator, momentum, lipschitz, data.of(piece), model, ahead)

    sums = _over_pieces(data, of_piece)
    return RowState(point, iterate, trails, sums)


def last_pass(state: RowState, data: BlockRows, operator: Array, model: Model) -> RowState:
    """Shrink the points of a block: `land`."""
    point = np.empty_like(state.point)
    operator = operator.astype(point.dtype, copy=False)

    def of_piece(i: int, piece: Piece) -> StepSums:
        A = point[piece.rows]
        A[...] = state.point[piece.rows]
        return land(state.iterate[piece.rows], A, operator, data.of(piece), model)

    sums = _over_pieces(data, of_piece)
    return RowState(point, state.iterate, state.trails, sums)


def _over_pieces(data: BlockRows, function: Callable[[int, Piece], StepSums]) -> StepSums:
    """Add up what a function returns for the pieces of a block."""
    return StepSums(*fold(add, *(function(i, piece) for i, piece in enumerate(data.pieces))))


def settled(state: RowState, data: BlockRows) -> Array:
    """Return the iterate (m, d) with the rows in the order of the block."""
    iterate = np.empty_like(state.iterate)
    iterate[data.order] = state.iterate
    return iterate


def sums_of(state: RowState) -> StepSums:
    """Return the sums of the pass that led to a state."""
    return state.sums


def cell_sums(data: BlockRows) -> tuple[Array, Array, float]:
    """Return the sums of the scaled values, the Gram matrix of the table with zeros, and its squared norm."""
    exact = data.values.astype(np.float64, copy=False)
    return exact.sum(axis=0), exact.T @ exact, float(np.vdot(exact, exact))


def gram_of_iterate(state: RowState) -> tuple[Array]:
    """Return the Gram matrix of the iterate."""
    exact = state.iterate.astype(np.float64, copy=False)
    return (exact.T @ exact,)
