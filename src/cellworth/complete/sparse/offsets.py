r"""Row and column offsets of a sparse table, shrunk towards the overall mean.

The mean of a column with three observed cells says little. So an offset is the mean of its cells and
:math:`k` more at the overall mean, with :math:`k = \sigma^2/\tau^2`: the variance of cells around their
column's mean divided by the variance of those means, both from an analysis of variance. This is the best
estimate if both are normal, and equals a ridge regression on column indicators with penalty k.

The offsets of a table in row blocks follow the same rule, one pass at a time: a row's offset is computed from
its own cells and the column offsets, and stays where the row is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.engine_protocol import Blocks, add
from cellworth.complete.sparse.variable_projection import CellBlock, CellBlocks
from cellworth.errors import ParameterError

CENTRES = ("none", "columns", "both")
SWEEPS, SETTLED = 100, 1e-9  # max row/column alternations; smallest move, relative to the values' spread
TINY = np.finfo(np.float64).tiny


class Offsets(NamedTuple):
    """Offsets subtracted from a cell before the factors are fitted: ``rows[i] + columns[j]``.

    Attributes
    ----------
    rows, columns : (n,) and (d,) arrays
        ``columns`` includes the overall mean.
    overall : float
        The overall mean, used for a column without cells.
    row_shrinkage : float
        k of the rows, in cells; infinite without row offsets.
    """

    rows: Float64Array
    columns: Float64Array
    overall: float
    row_shrinkage: float

    def of_new_rows(self, cells: CellBlock) -> Float64Array:
        """Return the row offsets (m,) of new rows, with the column offsets fixed."""
        left = cells.values - self.columns[cells.columns]
        return shrunk_means(left, cells.rows(), len(cells.starts) - 1, self.row_shrinkage)


def fit_offsets(cells: CellBlock, n_columns: int, centre: str) -> Offsets:
    """Fit the offsets of a table.

    ``centre``: "none" for zeros, "columns" for column offsets only, or "both". O(cells) per alternation.
    """
    if centre not in CENTRES:
        raise ParameterError(f"centre must be 'none', 'columns' or 'both'; got {centre!r}")
    n_rows, rows = len(cells.starts) - 1, cells.rows()
    none = Offsets(np.zeros(n_rows), np.zeros(n_columns), 0.0, np.inf)
    if centre == "none":
        return none
    overall = float(cells.values.mean())
    values = cells.values - overall
    of_columns = group_shrinkage(values, cells.columns, n_columns)
    columns = shrunk_means(values, cells.columns, n_columns, of_columns)
    if centre == "columns":
        return none._replace(columns=columns + overall, overall=overall)
    of_rows = group_shrinkage(values - columns[cells.columns], rows, n_rows)
    offsets, spread = np.zeros(n_rows), float(values.std())
    for _ in range(SWEEPS):
        last = offsets
        offsets = shrunk_means(values - columns[cells.columns], rows, n_rows, of_rows)
        if np.abs(offsets - last).max() <= SETTLED * spread:
            break
        columns = shrunk_means(values - offsets[rows], cells.columns, n_columns, of_columns)
        shift = best_shift((float(offsets.sum()), n_rows), of_rows, columns, of_columns)
        offsets, columns = offsets + shift, columns - shift
    return Offsets(offsets, columns + overall, overall, of_rows)


def best_shift(rows: tuple[float, int], of_rows: float, columns: Float64Array, of_columns: float) -> float:
    """Return the best constant to move from all columns to all rows.

    No cell changes, but the shrinkage penalty does. ``rows`` holds the sum and the number of the row offsets.
    Alternating between rows and columns finds it too, but takes hundreds of alternations.
    """
    if np.isinf(of_rows) or np.isinf(of_columns):
        return 0.0
    pull = of_columns * float(columns.sum()) - of_rows * rows[0]
    return pull / max(of_rows * rows[1] + of_columns * len(columns), np.finfo(np.float64).tiny)


def take_off(cells: CellBlock, offsets: Offsets) -> CellBlock:
    """Return the cells minus their offsets."""
    return cells._replace(values=cells.values - offsets.columns[cells.columns] - offsets.rows[cells.rows()])


def shrunk_means(values: Float64Array, group: IntArray, n_groups: int, shrinkage: float) -> Float64Array:
    """Return each group's sum of values divided by (count + ``shrinkage``); 0 for an empty group."""
    sums = np.bincount(group, values, minlength=n_groups)
    counts = np.bincount(group, minlength=n_groups)
    return np.asarray(sums / np.maximum(counts + shrinkage, np.finfo(np.float64).tiny))


def group_shrinkage(values: Float64Array, group: IntArray, n_groups: int) -> float:
    """Return sigma^2 / tau^2 of the groups, by the moments of a one-way analysis of variance.

    Infinite if the group means differ no more than expected by chance, or if that is unknown because no
    group has two values.
    """
    counts = np.bincount(group, minlength=n_groups)
    sums = np.bincount(group, values, minlength=n_groups)[counts > 0]
    counts = counts[counts > 0].astype(np.float64)
    squares = float(values @ values), float(np.sum(sums**2 / counts)), float(counts @ counts)
    return variance_ratio(len(values), len(counts), float(values.sum()), *squares)


def variance_ratio(
    n: int, n_groups: int, total: float, squares: float, between_groups: float, squared_counts: float
) -> float:
    """Return sigma^2 / tau^2 of groups from sums that add over row blocks; see `group_shrinkage`.

    Parameters
    ----------
    n, n_groups : int
        Number of values, and of nonempty groups.
    total, squares : float
        Sums of the values and of their squares.
    between_groups : float
        Sum over groups of (sum of the values)^2 / count.
    squared_counts : float
        Sum over groups of count^2.
    """
    if n == n_groups or n_groups == 1:
        return np.inf
    within = max(0.0, squares - between_groups) / (n - n_groups)
    between = (between_groups - total**2 / n) / (n_groups - 1)
    size = (n - squared_counts / n) / (n_groups - 1)
    variance = (between - within) / size
    return within / variance if variance > 0 else np.inf


class ColumnTotals(NamedTuple):
    """Totals of the cells of each column; additive over blocks."""

    counts: Float64Array
    sums: Float64Array
    squares: float  # of all cells


class RowTotals(NamedTuple):
    """Row totals of the cells minus column offsets; additive over blocks."""

    n_rows: int  # with cells
    total: float
    squares: float
    between_rows: float  # sum over rows of (sum of the cells)^2 / count
    squared_counts: float


def fit_block_offsets(cells: CellBlocks, n_columns: int, centre: str) -> tuple[CellBlocks, Offsets]:
    """Return the cells minus their offsets, and the column offsets; row offsets are not returned.

    ``centre`` is as in `fit_offsets`. At most `SWEEPS` alternations of three passes each.
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
    """Alternate between rows and columns until the rows stop moving; return the column offsets."""
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
    """Return the largest move of a row offset from its shifted value in the last alternation, initially 0."""
    if last is None:
        return float(cells.engine.reduce(_largest, max, rows))
    return float(cells.engine.reduce(_largest_difference, max, rows, last, cells.blocks, shared=(shift,)))


def less_offsets(block: CellBlock, offsets: Offsets) -> CellBlock:
    """Return a block's cells minus the column offsets and the row offsets that follow from them."""
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
    """Return column sums of cells minus the overall mean and row offsets, and the sum of row offsets."""
    left = block.values - overall - rows[block.rows()]
    return np.asarray(np.bincount(block.columns, left, n_columns), dtype=np.float64), float(rows.sum())


def _largest(rows: Float64Array) -> float:
    return float(np.abs(rows).max(initial=0.0))


def _largest_difference(rows: Float64Array, last: Float64Array, block: CellBlock, shift: float) -> float:
    seen = np.diff(block.starts) > 0
    return float(np.abs(rows - last - shift)[seen].max(initial=0.0))
