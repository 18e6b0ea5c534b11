"""Rows in the order of a column's values, as far as people read: the first ones, in bounded memory.

One column is read, some rows at a time, and the first rows so far are kept. Of a table in memory all rows can
be had in order; of a table in row blocks `MOST_SORTED`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.campaign.cell_values import CellsInMemory
from cellworth.campaign.current_cells import row_records
from cellworth.campaign.row_search import MOST_AT_ONCE, RowFilter, RowPage, RowsThatFit
from cellworth.campaign.state import State
from cellworth.errors import ParameterError

MOST_SORTED = 10_000
"""Rows in order that can be had of a table in row blocks."""
MOST_ROWS_TO_SORT = 20_000_000
"""Rows of a table in row blocks that is still sorted: one column is read, in seconds."""


@dataclass(frozen=True)
class RowOrder:
    """How rows are sorted: by a column's values, or as they are in the table.

    Rows of equal value stay in the order of the table, and those without a value come last.
    """

    column: str | None = None
    descending: bool = False


def can_be_sorted(state: State) -> bool:
    """Return whether the table is short enough to be sorted."""
    return isinstance(state.cells, CellsInMemory) or state.index.n_rows <= MOST_ROWS_TO_SORT


def ordered_rows(state: State, time: datetime, wanted: RowFilter, order: RowOrder) -> IntArray:
    """Return the places of the rows that fit, in order: all, or `MOST_SORTED` of a table in row blocks.

    O(n) values are read, and memory is O(result). ParameterError if the table is too long to be sorted.
    """
    if not can_be_sorted(state):
        raise ParameterError(
            f"a table of up to {MOST_ROWS_TO_SORT:,} rows can be sorted here; this one has more. Search for "
            "rows by a text in their id, or by the status of a cell."
        )
    n = state.index.n_rows
    most = n if isinstance(state.cells, CellsInMemory) else MOST_SORTED
    fitting = RowsThatFit(state, time, wanted)
    if order.column is None:
        return _in_table_order(fitting, n, most, descending=order.descending)
    column = state.index.column(order.column)
    places, keys = np.zeros(0, dtype=np.intp), np.zeros(0)
    for start in range(0, n, MOST_AT_ONCE):
        stop = min(n, start + MOST_AT_ONCE)
        new = np.flatnonzero(fitting.between(start, stop))
        values: Float64Array = state.cells.values_between(column, start, stop)[new]
        places = np.concatenate([places, new + start])
        keys = np.concatenate([keys, -values if order.descending else values])
        if len(places) > 4 * most or stop == n:
            first = np.argsort(keys, kind="stable")[:most]  # NaN comes last
            places, keys = places[first], keys[first]
    return places


def _in_table_order(fitting: RowsThatFit, n: int, most: int, *, descending: bool) -> IntArray:
    """Return the first or the last rows that fit; rows after the last one needed are not looked at."""
    starts = range(0, n, MOST_AT_ONCE)
    found = np.zeros(0, dtype=np.intp)
    for start in reversed(starts) if descending else starts:
        new = start + np.flatnonzero(fitting.between(start, min(n, start + MOST_AT_ONCE)))
        found = np.concatenate([found, new[::-1] if descending else new])[:most]
        if len(found) == most:
            break
    return found


def sorted_page(
    state: State, time: datetime, wanted: RowFilter, order: RowOrder, after: int, most: int
) -> RowPage:
    """Return at most ``most`` rows that fit, in order, after the first ``after`` of them."""
    places = ordered_rows(state, time, wanted, order)
    shown = places[after : after + most].tolist()
    stop = after + len(shown)
    rows = row_records(state, time, shown)
    return RowPage(rows, stop if stop < len(places) else None, state.index.n_rows)
