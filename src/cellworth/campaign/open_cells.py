"""The cells that are out: list them in pages, take them for a while, and give them back.

Functions that change something return the content of an event, made from the newest state, or None if there
is nothing to record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from cellworth.campaign.answers import as_cells, found_cells
from cellworth.campaign.cell_events import CellName, GivenBack, Released, Taken
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.cell_values import HAS_VALUE, CellStatus
from cellworth.campaign.event_codec import Event, check_optional_text, check_text
from cellworth.campaign.lease_index import Sought
from cellworth.campaign.leases import has_ended, parse_lease
from cellworth.campaign.state import State
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import setting
from cellworth.strategy import Purchase


@dataclass(frozen=True)
class OpenPage:
    """Some of the cells that are out.

    Attributes
    ----------
    purchases : list of Purchase
        In the order they were asked for, or row by row.
    after : int or None
        Pass this to get the next page; None if this is the last page.
    matching : int
        How many cells match the filters, on all pages.
    """

    purchases: list[Purchase]
    after: int | None
    matching: int


@dataclass(frozen=True)
class OpenCounts:
    """How many cells are out, and of which kinds.

    Attributes
    ----------
    total, free : int
        All of them, and those that nobody has taken.
    columns : dict of str to int
        By column, in the order of the table.
    askers, holders : dict of str to int
        By the person who asked for them or has taken them, by name.
    """

    total: int
    free: int
    columns: dict[str, int]
    askers: dict[str, int]
    holders: dict[str, int]


@dataclass(frozen=True)
class Wanted:
    """Which of the cells that are out to list; None matches any.

    ``row_contains`` is a text that the row's id contains, in capital or small letters.
    """

    row: str | None = None
    column: str | None = None
    asked_by: str | None = None
    holder: str | None = None
    free: bool = False
    row_contains: str | None = None

    def sought(self, state: State, time: datetime) -> Sought | None:
        """Return it by positions; None if a name is unknown, so that no cell can match."""
        rows, column = None, None
        if self.row is not None:
            if self.row not in state.index:
                return None
            rows = np.array([state.index.row(self.row)])
        if self.row_contains:
            among = state.open.index.rows(time) if rows is None else rows
            text, name = self.row_contains.casefold(), state.index.rows.name
            rows = np.array([i for i in among.tolist() if text in name(i).casefold()], dtype=np.int64)
        if self.column is not None:
            column = int(state.index.column_places([self.column])[0])
            if column < 0:
                return None
        return Sought(rows, column, self.asked_by, self.holder, self.free)


class _Ended:
    """The asked cells whose lease has ended, without listing them."""

    def __init__(self, state: State, time: datetime) -> None:
        self._asked, self._time = state.open.asked, time

    def __contains__(self, cell: object) -> bool:
        ask = self._asked.get(cell)  # type: ignore[call-overload]
        return ask is not None and has_ended(ask.until, self._time)


def open_purchases(state: State, time: datetime, groups: Mapping[str, str]) -> list[Purchase]:
    """Return the cells that are out, in the order they were asked for.

    ``groups`` maps columns to their price groups.
    """
    return _purchases(state, state.open.out(time), time, groups)


def open_page(
    state: State,
    time: datetime,
    groups: Mapping[str, str],
    wanted: Wanted,
    after: int,
    most: int,
    by_row: bool = False,
) -> OpenPage:
    """Return at most ``most`` of the wanted cells, starting after a cursor; see `LeaseIndex.find`."""
    sought = wanted.sought(state, time)
    if sought is None:
        return OpenPage([], None, 0)
    width = len(state.index.columns) if by_row else None
    cells, following, matching = state.open.index.find(sought, time, after, most, width)
    return OpenPage(_purchases(state, cells, time, groups), following, matching)


def open_counts(state: State, time: datetime) -> OpenCounts:
    """Return how many cells are out, and of which kinds; O(cells out), in a few passes over arrays."""
    found, columns = state.open.index.counts(time), state.index.columns
    askers = {who: count for who, count in found.askers.items() if who is not None}
    return OpenCounts(
        found.total,
        found.free,
        {columns[j].name: count for j, count in found.columns.items()},
        dict(sorted(askers.items())),
        dict(sorted(found.holders.items())),
    )


def _purchases(
    state: State, cells: Iterable[Cell], time: datetime, groups: Mapping[str, str]
) -> list[Purchase]:
    """Return asked cells as they are at a given time; their prices now."""
    ended = _Ended(state, time)
    found = []
    for cell in cells:
        ask, hold = state.open.asked[cell], state.open.holder(cell, time)
        row, column = state.index.names(cell)
        found.append(
            Purchase(
                row,
                column,
                state.money.price_now(cell, ask.terms, ended),
                ask.worth,
                groups.get(column),
                ask.why,
                ask.until,
                ask.who,
                None if hold is None else hold.who,
                None if hold is None else hold.until,
            )
        )
    return found


class Taking:
    """The cells somebody wants to take: those named, or a number of cells that nobody has."""

    def __init__(self, cells: object, who: str, lease: str | timedelta) -> None:
        self._who = check_text("who", who)
        span = parse_lease(lease)
        if span is None:
            raise ParameterError(f"taking cells needs a lease, such as {setting('lease', '8h')}; got None.")
        self._lease = span
        if isinstance(cells, bool) or (isinstance(cells, int) and cells < 0):
            raise ParameterError(
                f"cells must be a list of (row, column), or a number of 0 or more; got {shorten(cells)}."
            )
        self._wanted = cells if isinstance(cells, int) else as_cells(cells)

    def __call__(self, state: State, time: datetime) -> Taken | None:
        """Return the cells that now go to this person."""
        return taken(state, time, self._wanted, self._who, self._lease)

    def request(self, state: State) -> object:
        """Return what distinguishes this from other requests."""
        wanted = self._wanted
        cells = wanted if isinstance(wanted, int) else [state.index.cell(*each) for each in wanted]
        return [self._who, cells, self._lease.total_seconds()]


def purchases_of(state: State, event: Event | None, groups: Mapping[str, str]) -> list[Purchase]:
    """Return the cells that an event took and that are still asked for, as they are right after it."""
    if event is None or not isinstance(event.content, Taken):
        return []
    cells = (state.index.cell(row, column) for row, column in event.content.cells)
    return _purchases(state, (cell for cell in cells if cell in state.open.asked), event.time, groups)


def taken(
    state: State, time: datetime, wanted: Sequence[tuple[object, object]] | int, who: str, lease: timedelta
) -> Taken | None:
    """Return the cells that now go to ``who``: those named, or this many cells that nobody has.

    Taking a cell they already have renews its lease from now. ConflictError if somebody else has a named cell
    or it is no longer out; DataError if it was never asked for.
    """
    if isinstance(wanted, int):
        cells, _, _ = state.open.index.find(Sought(free=True), time, 0, wanted, None)
    else:
        cells = list(dict.fromkeys(found_cells(state, list(wanted))))
        for cell in cells:
            _must_be_out(state, cell, time)
            _must_not_be_with_another(state, cell, time, who, "Take another cell")
    return Taken(time + lease, _names(state, cells)) if cells else None


def given_back(
    state: State, time: datetime, cells: Sequence[tuple[object, object]], who: str
) -> GivenBack | None:
    """Return the cells that ``who`` gives back, without those they no longer have."""
    found = found_cells(state, list(cells))
    for cell in found:
        _must_not_be_with_another(state, cell, time, who, "Only they can give it back")
    mine = [cell for cell in dict.fromkeys(found) if state.open.holder(cell, time) is not None]
    return GivenBack(_names(state, mine)) if mine else None


def released(
    state: State, time: datetime, cells: Sequence[tuple[object, object]], reason: str | None
) -> Released | None:
    """Return the cells to take from whoever has them, without those that nobody has."""
    check_optional_text("the reason", reason)
    found = dict.fromkeys(found_cells(state, list(cells)))
    held = [cell for cell in found if state.open.holder(cell, time) is not None]
    return Released(_names(state, held), reason) if held else None


def _names(state: State, cells: Sequence[Cell]) -> tuple[CellName, ...]:
    return tuple(CellName(*state.index.names(cell)) for cell in cells)


def _must_be_out(state: State, cell: Cell, time: datetime) -> None:
    words, status = state.index.words(cell), state.status_of(cell)
    if status in HAS_VALUE:
        raise ConflictError(f"{words} already has a value, so there is nothing to take.")
    if status == CellStatus.REFUSED:
        raise ConflictError(f"{words} was refused, so there is nothing to take.")
    if cell not in state.last_terms:
        raise DataError(f"{words} was never asked for, so there is nothing to take.")
    if not state.open.is_out(cell, time):
        raise ConflictError(
            f"{words} is no longer out: it was cancelled or its lease ended. It may be asked for again."
        )


def _must_not_be_with_another(state: State, cell: Cell, time: datetime, who: str, so: str) -> None:
    hold = state.open.holder(cell, time)
    if hold is not None and hold.who != who:
        until = f"{hold.until:%Y-%m-%d %H:%M} UTC"
        raise ConflictError(f"{state.index.words(cell)} is with {shorten(hold.who)} until {until}. {so}.")
