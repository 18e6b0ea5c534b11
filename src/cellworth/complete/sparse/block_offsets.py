"""Row and column offsets of a sparse table in row blocks: the rule of `fit_offsets`, one pass at a time.

A row's offset follows from its own cells and the columns' offsets; it stays where the row is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.protocol import Blocks, add
from cellworth.complete.sparse.observed_cells import (
    CENTRES,
    SETTLED,
    SWEEPS,
    Offsets,
    best_shift,
    shrunk_means,
    variance_ratio,
)
from cellworth.complete.sparse.row_pass import CellBlock, CellBlocks
from cellworth.errors import ParameterError

TINY = np.finfo(np.float64).tiny


class ColumnTotals(NamedTuple):
    """Of the cells of each column; additive over blocks."""

    counts: Float64Array
    sums: Float64Array
    squares: float  # of all cells


class RowTotals(NamedTuple):
    """Of what column offsets leave of the cells, by rows; additive over blocks."""

    n_rows: int  # that have cells
    total: float
    squares: float
    between_rows: float  # sum over rows of (sum of the cells)^2 / count
    squared_counts: float


def fit_block_offsets(cells: CellBlocks, n_columns: int, centre: str) -> tuple[CellBlocks, Offsets]:
    """Return the cells less their offsets, and the offsets of the columns; those of the rows are left out.

    ``centre`` is that of `fit_offsets`. At most `SWEEPS` turns of three passes each.
    """
    if centre not in CENTRES:
        raise ParameterError(f"centre must be 'none', 'columns' or 'both'; got {centre!r}")
    none = Offsets(np.zeros(0), np.zeros(n_columns), 0.0, np.inf)
    if centre == "none":
        return cells, none
    counts, sums, _ = cells.sum(_column_totals, n_columns, 0.0)
    n = int(counts.sum())
    overall = float(sums.sum() / n)
    _, sums, squares = cells.sum(_column_totals, n_columns, overall)
    between = float(np.sum(sums**2 / np.maximum(counts, 1)))
    groups = int(np.count_nonzero(counts)), float(sums.sum()), squares, between, float(counts @ counts)
    of_columns = variance_ratio(n, *groups)
    columns = sums / np.maximum(counts + of_columns, TINY)
    of_rows = np.inf
    if centre == "both":
        n_rows, *rest = cells.sum(_row_totals, columns + overall)
        of_rows = variance_ratio(n, n_rows, *rest)
        spread = float(np.sqrt(max(0.0, squares / n - (sums.sum() / n) ** 2)))
        columns = _sweep(cells, overall, counts, columns, (of_rows, of_columns), n_rows, SETTLED * spread)
    offsets = none._replace(columns=columns + overall, overall=overall, row_shrinkage=of_rows)
    return cells.map(less_offsets, offsets), offsets


def _sweep(
    cells: CellBlocks,
    overall: float,
    counts: Float64Array,
    columns: Float64Array,
    shrinkage: tuple[float, float],
    n_rows: int,
    settled: float,
) -> Float64Array:
    """Take turns between rows and columns until the rows move no more; return the columns' offsets."""
    of_rows, of_columns = shrinkage
    last: Blocks | None = None
    shift = 0.0
    for _ in range(SWEEPS):
        rows = cells.engine.map(_row_offsets, cells.blocks, shared=(columns + overall, of_rows))
        if _largest_move(cells, rows, last, shift) <= settled:
            break
        sums, total = cells.engine.reduce(
            _column_sums, add, cells.blocks, rows, shared=(len(columns), overall)
        )
        columns = sums / np.maximum(counts + of_columns, TINY)
        shift = best_shift((total, n_rows), of_rows, columns, of_columns)
        columns, last = columns - shift, rows
    return columns


def _largest_move(cells: CellBlocks, rows: Blocks, last: Blocks | None, shift: float) -> float:
    """Return how far a row's offset moved at most from those of the last turn, shifted; they began at 0."""
    if last is None:
        return float(cells.engine.reduce(_largest, max, rows))
    return float(cells.engine.reduce(_largest_difference, max, rows, last, cells.blocks, shared=(shift,)))


def less_offsets(block: CellBlock, offsets: Offsets) -> CellBlock:
    """Return the cells of a block without the columns' offsets and those that its own rows have then."""
    left = block.values - offsets.columns[block.columns]
    rows = offsets.of_new_rows(block)
    return block._replace(values=left - rows[block.rows()])


def _column_totals(block: CellBlock, n_columns: int, centre: float) -> ColumnTotals:
    values = block.values - centre
    counts = np.bincount(block.columns, minlength=n_columns).astype(np.float64)
    sums = np.asarray(np.bincount(block.columns, values, n_columns), dtype=np.float64)
    return ColumnTotals(counts, sums, float(values @ values))


def _row_totals(block: CellBlock, columns: Float64Array) -> RowTotals:
    left = block.values - columns[block.columns]
    counts = np.diff(block.starts).astype(np.float64)
    sums = np.bincount(block.rows(), left, minlength=len(counts))[counts > 0]
    counts = counts[counts > 0]
    between = float(np.sum(sums**2 / counts))
    return RowTotals(len(counts), float(left.sum()), float(left @ left), between, float(counts @ counts))


def _row_offsets(block: CellBlock, columns: Float64Array, shrinkage: float) -> Float64Array:
    return shrunk_means(block.values - columns[block.columns], block.rows(), len(block.starts) - 1, shrinkage)


def _column_sums(
    block: CellBlock, rows: Float64Array, n_columns: int, overall: float
) -> tuple[Float64Array, float]:
    """Return the sums by column of what the overall mean and the rows leave, and the sum of the rows."""
    left = block.values - overall - rows[block.rows()]
    sums = np.asarray(np.bincount(block.columns, left, n_columns), dtype=np.float64)
    return sums, float(rows.sum())


def _largest(rows: Float64Array) -> float:
    return float(np.abs(rows).max(initial=0.0))


def _largest_difference(rows: Float64Array, last: Float64Array, block: CellBlock, shift: float) -> float:
    seen = np.diff(block.starts) > 0
    return float(np.abs(rows - last - shift)[seen].max(initial=0.0))
