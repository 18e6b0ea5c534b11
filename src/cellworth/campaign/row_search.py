"""Rows by a text in their id and by the status of their cells, a page at a time.

What events have done is in memory, so that rows with cells that are bought, out or refused are found without
reading the table. Other filters look at one row after the other, at most `MOST_LOOKED_AT` in a call: a caller
who wants more goes on from there. Memory is O(rows looked at at once), whatever the size of the table.

Rows can also be had in the order of a column's values, as far as people read: the first ones. One column is
read, some rows at a time, and the first rows so far are kept. Of a table in memory all rows can be had in
order; of a table in row blocks `MOST_SORTED`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign.cell_values import HAS_VALUE, MARKED, CellsInMemory, CellStatus
from cellworth.campaign.current_cells import RowRecord, StatusWord, row_records, status_of_word
from cellworth.campaign.state import State
from cellworth.errors import ParameterError
from cellworth.messages import shorten

MOST_LOOKED_AT = 1_000_000
"""Rows that a call looks at, at most."""
FEWEST_AT_ONCE, MOST_AT_ONCE = 2_000, 200_000
"""Rows looked at at once: few at first, as most pages are full soon, then more, as a block is read whole."""
SPAN = 100_000
"""Rows that are read, about, to show one of them."""
MOST_SORTED = 10_000
"""Rows in order that can be had of a table in row blocks."""
MOST_ROWS_TO_SORT = 20_000_000
"""Rows of a table in row blocks that is still sorted: one column is read, in seconds."""


@dataclass(frozen=True)
class RowPage:
    """Some of the rows that fit a filter.

    Attributes
    ----------
    rows : list of RowRecord
        In the order of the table.
    after : int or None
        Pass this to go on; None if all rows were looked at.
    looked_at : int
        How many rows of the table are done with, counted from its first.
    """

    rows: list[RowRecord]
    after: int | None
    looked_at: int


@dataclass(frozen=True)
class RowFilter:
    """Which rows to list.

    Attributes
    ----------
    contains : str
        A text that the row's id contains, in capital or small letters.
    column : str or None
        The column whose cell has one of the statuses; None for any column, labels included.
    status : tuple of {"known", "bought", "out", "refused", "missing"}
        What the cell is now; empty for anything.
    without : str or None
        A column in which the row must have no value, besides.
    """

    contains: str = ""
    column: str | None = None
    status: tuple[StatusWord, ...] = ()
    without: str | None = None


def search_rows(state: State, time: datetime, wanted: RowFilter, after: int, most: int) -> RowPage:
    """Return at most ``most`` rows that fit, from the row number ``after`` on; DataError for a wrong column.

    O(cells that events changed) for cells that are bought, out or refused; else it reads the ids or columns
    asked for of the rows that it looks at.
    """
    n = state.index.n_rows
    search = RowsThatFit(state, time, wanted)
    found, stop, steps = list[int](), after, search.steps(after)
    while len(found) < most and (step := next(steps, None)) is not None:
        found, stop = [*found, *step[0].tolist()], step[1]
    if len(found) > most or (len(found) == most and stop < n):
        found = found[:most]
        stop = found[-1] + 1
    rows = row_records(state, time, found)
    return RowPage(rows, stop if stop < n else None, min(stop, n))


class RowsThatFit:
    """Tells which rows of a campaign's table fit a filter, as they are at a time."""

    def __init__(self, state: State, time: datetime, wanted: RowFilter) -> None:
        self._state, self._time, self._text = state, time, wanted.contains.casefold()
        every = range(len(state.index.columns))
        self._columns = list(every) if wanted.column is None else [state.index.column(wanted.column)]
        self._status = frozenset(map(status_of_word, wanted.status))
        self._without = None if wanted.without is None else state.index.column(wanted.without)
        if wanted.column is not None and not wanted.status:
            raise ParameterError(
                f"column says where to look for a status, and none is given with {shorten(wanted.column)}; "
                "add one, such as 'missing'."
            )

    def steps(self, after: int) -> Iterator[tuple[IntArray, int]]:
        """Yield the rows that fit among the next ones, and the number of the row after these."""
        n = self._state.index.n_rows
        if self._status and self._status.issubset(MARKED):
            places = self._by_events(after)
            near = np.cumsum(np.diff(places // SPAN, prepend=-1) > 0) <= MOST_LOOKED_AT // SPAN
            yield places[near], n if near.all() else int(places[near][-1]) + 1
            return
        start, end, many = after, min(n, after + MOST_LOOKED_AT), FEWEST_AT_ONCE
        while start < end:
            stop = min(end, start + many)
            yield start + np.flatnonzero(self.between(start, stop)), stop
            start, many = stop, min(MOST_AT_ONCE, 4 * many)

    def _by_events(self, after: int) -> IntArray:
        """Return the rows from ``after`` on with a cell that an event gave the status; reads no file."""
        rows, columns, status = self._state.cells.marked()
        some = (rows >= after) & np.isin(columns, self._columns) & np.isin(status, list(self._status))
        rows, columns, status = rows[some], columns[some], status[some]
        places = np.unique(rows[self._stands(rows, columns, status)])
        if self._without is not None:
            there, _ = self._state.cells.at(places, np.full(len(places), self._without))
            places = places[~np.isin(there, HAS_VALUE)]
        if not self._text:
            return places
        names = self._state.index.rows
        names.meet_places(places)
        fits = [self._text in names.name(place).casefold() for place in places.tolist()]
        return places[np.array(fits, dtype=bool)]

    def between(self, start: int, stop: int) -> BoolArray:
        """Return which rows fit from one up to before another, (stop - start,); reads what it looks at."""
        fits = np.ones(stop - start, dtype=bool)
        if self._text:
            names = self._state.index.rows.names_between(start, stop)
            fits = np.array([self._text in name.casefold() for name in names], dtype=bool)
        if self._without is not None:
            fits &= ~np.isin(self._state.cells.status_between(self._without, start, stop), HAS_VALUE)
        if not self._status or not fits.any():
            return fits
        any_cell = np.zeros(stop - start, dtype=bool)
        for j in self._columns:
            any_cell |= np.isin(self._now(j, start, stop), list(self._status))
        return fits & any_cell

    def _now(self, column: int, start: int, stop: int) -> NDArray[np.uint8]:
        """Return the status of a column's cells, (stop - start,); one whose lease has ended is a hole."""
        status = self._state.cells.status_between(column, start, stop)
        asked = np.flatnonzero(status == CellStatus.ASKED)
        ended = ~self._stands(start + asked, np.full(len(asked), column), status[asked])
        if ended.any():
            status = np.array(status)
            status[asked[ended]] = CellStatus.HOLE
        return status

    def _stands(self, rows: IntArray, columns: IntArray, status: NDArray[np.uint8]) -> BoolArray:
        """Return which cells (k,) have their status still: all but those asked for whose lease has ended."""
        stands = np.ones(len(rows), dtype=bool)
        for at in np.flatnonzero(status == CellStatus.ASKED).tolist():
            stands[at] = self._state.open.is_out((int(rows[at]), int(columns[at])), self._time)
        return stands


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
