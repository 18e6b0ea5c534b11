"""Rows with all that is said of their cells: of a table in memory all rows, of row blocks those asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign import CellArrays
from cellworth.report.summaries import SummaryInputs, shares
from cellworth.table import Column, Table
from cellworth.table.column import NUMERIC
from cellworth.table.seen_values import LEAST_COUNTS

if TYPE_CHECKING:
    from cellworth.complete import FilledTable
    from cellworth.complete.filled_blocks import FilledRows


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows with their guesses.

    Attributes
    ----------
    places : (k,) int array
        Their positions in the table, increasing.
    table : Table
        The rows, with their holes.
    filled : FilledTable, FilledRows or None
        The same rows filled; None if there is nothing to fill.
    least : (p,) array
        The least value that an estimate may have: 0 where many are known and none is negative.
    """

    places: IntArray
    table: Table
    filled: FilledTable | FilledRows | None
    least: Float64Array

    def index(self, place: int) -> int:
        """Return which of the rows is the one at a position of the table."""
        return int(np.searchsorted(self.places, place))


def guessed_rows(inputs: SummaryInputs, places: Sequence[int]) -> ShownRows:
    """Return rows with their guesses; of row blocks, a fit if the table has changed, and their blocks."""
    if not inputs.on_blocks:
        table = inputs.table
        least = inputs.once("least", inputs.changed, lambda: _least_known(table))
        return ShownRows(np.arange(len(table.row_ids)), table, inputs.filled, least)
    numbers, table, blocks = (
        np.unique(np.asarray(places, dtype=np.intp)),
        inputs.view.table,
        inputs.filled_blocks,
    )
    rows: Table = table.rows(numbers)
    if blocks is None or not len(numbers):
        return ShownRows(numbers, rows, None, np.full(len(rows.columns), -np.inf))
    summary = blocks.completer.completed_.summary
    first = table.layout.starts[:-1]
    least = _least(table.columns, table.known, summary.low[first])
    return ShownRows(numbers, rows, blocks.guesses(numbers), least)


def places_of(inputs: SummaryInputs, rows: Sequence[str]) -> dict[str, int]:
    """Return the positions of rows, given by their ids; of row blocks, reads the ids once."""
    if inputs.on_blocks:
        return dict(zip(rows, inputs.view.table.row_numbers(rows).tolist(), strict=True)) if rows else {}
    wanted = set(rows)
    return {row: place for place, row in enumerate(inputs.table.row_ids) if row in wanted}


def _least_known(table: Table) -> Float64Array:
    known = (~table.holes).sum(axis=0)
    lowest = np.fmin.reduce(table.values, axis=0, initial=np.inf)
    return _least(table.columns, known, lowest)


def _least(columns: Sequence[Column], known: IntArray, lowest: Float64Array) -> Float64Array:
    """Return the least values (p,) of estimates, given how many cells are known, and the lowest of them."""
    numeric = np.array([column.kind in NUMERIC for column in columns], dtype=bool)
    return np.where(numeric & (known >= LEAST_COUNTS) & (lowest >= 0), 0.0, -np.inf)


@dataclass(frozen=True, eq=False)
class WeighedRow:
    """What can be said of the cells of one row besides guesses, (p,) each.

    Attributes
    ----------
    cells : CellArrays
        (1, p) arrays.
    asked : (p,) array of bool
        Asked for, even if the lease has expired.
    unsure : (p,) array
        From 0 to 1.
    """

    cells: CellArrays
    asked: BoolArray
    unsure: Float64Array


def weighed_row(inputs: SummaryInputs, place: int, shown: ShownRows) -> WeighedRow:
    """Return it for a row that is shown; of row blocks, a round if the table has changed, and its block."""
    if not inputs.on_blocks:
        return WeighedRow(inputs.cells.of_rows(place, place + 1), inputs.asked[place], inputs.unsure[place])
    p, at = len(shown.table.columns), shown.index(place)
    cells = inputs.view.cells(place, place + 1).of_columns(p)
    holes, filled = shown.table.holes[at], shown.filled
    unsure = np.zeros(p)
    if filled is not None and inputs.filled_blocks is not None:
        variance = None if filled.variance is None else filled.variance[at]
        unsure = shares(variance, inputs.filled_blocks.spread, holes)
    return WeighedRow(cells, cells.asked[0], unsure)
