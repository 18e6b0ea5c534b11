"""The cells that are out, and the two leases on each: one for the ask, one for the person who took it.

A lease has ended from its end time on, inclusive. When the lease of an ask ends, the cell may be asked for
again and its money is released; when the lease of a holder ends, others may take the cell.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from cellworth.campaign.cell_index import Cell
from cellworth.campaign.columnar_dict import ColumnarDict, NewColumn, column_of, record_columns
from cellworth.campaign.lease_index import LeaseIndex
from cellworth.campaign.spending import TERMS, Terms
from cellworth.errors import ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import by_door

ASK_LEASE = "7d"
"""How long the money of an ask is reserved by default."""
TAKE_LEASE = "8h"
"""How long a cell is reserved by default for the person who took it."""
LONGEST = timedelta(days=36_525)
"""A lease of a hundred years ends within the calendar of any computer."""
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_TEXT = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*([dhm])")


def parse_lease(lease: object) -> timedelta | None:
    """Return a lease as a timedelta; None for one that never ends.

    >>> parse_lease("12h"), parse_lease(None)
    (datetime.timedelta(seconds=43200), None)
    """
    if lease is None:
        return None
    span = lease if isinstance(lease, timedelta) else _from_text(lease)
    if span is None or not timedelta(0) < span <= LONGEST:
        raise ParameterError(
            f"a lease must be a time such as '7d', '12h' or '30m', {_or_else()} for no end, and at most "
            f"{LONGEST.days} days long; got {shorten(lease)}."
        )
    return span


def _or_else() -> str:
    return by_door(
        python="a positive timedelta, or None", command_line="or never", pages="or never", rest="or null"
    )


def has_ended(until: datetime | None, time: datetime) -> bool:
    """Return whether a lease has ended at a given time; one without an end never does."""
    return until is not None and until <= time


class OpenAsk(NamedTuple):
    """A cell that was asked for and has not since been answered, refused, cancelled or asked for again."""

    terms: Terms
    """What it owes."""
    worth: float
    why: str
    until: datetime | None
    number: int
    """The number of the event that asked for it."""
    who: str | None
    place: int
    """Its position among all cells ever asked for: 1, 2, ..."""


class Hold(NamedTuple):
    """Who has taken a cell, and until when."""

    who: str
    until: datetime


class Leases:
    """The asked cells of a campaign with their leases; never reads a clock.

    Attributes
    ----------
    asked : dict of cell to OpenAsk
        In the order they were asked for; some leases may have ended.
    held : dict of cell to Hold
        The asked cells that somebody has taken; some leases may have ended.
    """

    def __init__(self) -> None:
        self.asked: dict[Cell, OpenAsk] = {}
        self.held: dict[Cell, Hold] = {}
        self._ends: list[tuple[datetime, int, Cell]] = []  # a heap; some of its cells may be closed by now
        self._n_asked = 0
        self._index: LeaseIndex | None = None  # made when it is first wanted

    @property
    def index(self) -> LeaseIndex:
        """The same as arrays, kept up with every change; O(asked cells) when first wanted."""
        if self._index is None:
            self._index = LeaseIndex.of(self.asked, self.held)
        return self._index

    def ask(
        self,
        cell: Cell,
        *,
        terms: Terms,
        worth: float,
        why: str,
        until: datetime | None,
        number: int,
        who: str | None,
    ) -> None:
        """Record that a cell was asked for."""
        self._n_asked += 1
        self.asked[cell] = OpenAsk(terms, worth, why, until, number, who, self._n_asked)
        if until is not None:
            heapq.heappush(self._ends, (until, number, cell))
        if self._index is not None:
            self._index.ask(cell, place=self._n_asked, who=who, until=until)

    def close(self, cell: Cell) -> OpenAsk | None:
        """Close the ask for a cell and return it; None if the cell was not asked for."""
        if self._index is not None:
            self._index.close(cell)
        self.held.pop(cell, None)
        return self.asked.pop(cell, None)

    def close_all(self, cells: Sequence[Cell]) -> Iterator[OpenAsk | None]:
        """Close the ask for each of many cells, and yield it; None if the cell was not asked for."""
        if self.held or self._index is not None:
            return map(self.close, cells)
        return map(self.asked.pop, cells, itertools.repeat(None))

    def hold(self, cells: Sequence[Cell], hold: Hold) -> None:
        """Record that cells were taken."""
        if self._index is not None:
            self._index.hold(cells, *hold)
        self.held.update(dict.fromkeys(cells, hold))

    def give_back(self, cells: Sequence[Cell]) -> None:
        """Record that cells were given back."""
        if self._index is not None:
            self._index.give_back(cells)
        for cell in cells:
            self.held.pop(cell, None)

    def set_back(self, after: datetime, by: timedelta) -> None:
        """Make each lease that ends after a given time end earlier; O(cells out)."""
        self._index = None
        for cell, ask in self.asked.items():
            if ask.until is not None and ask.until > after:
                self.asked[cell] = ask._replace(until=ask.until - by)
        for cell, hold in self.held.items():
            if hold.until > after:
                self.held[cell] = hold._replace(until=hold.until - by)
        self._ends = [
            (ask.until, ask.number, cell) for cell, ask in self.asked.items() if ask.until is not None
        ]
        heapq.heapify(self._ends)

    def forget_ended(self, time: datetime) -> list[Cell]:
        """Remove and return the cells whose ask has ended by a given time; the caller must close them."""
        found = []
        while self._ends and has_ended(self._ends[0][0], time):
            _, number, cell = heapq.heappop(self._ends)
            if self._is_of(number, cell):
                found.append(cell)
        return found

    def expired(self, time: datetime) -> list[Cell]:
        """Return the asked cells whose lease has ended by a given time, in no order; O(ended leases)."""
        # The leases that have ended form a tree at the top of the heap.
        found, look = [], [0]
        while look:
            at = look.pop()
            if at < len(self._ends) and has_ended(self._ends[at][0], time):
                _, number, cell = self._ends[at]
                if self._is_of(number, cell):
                    found.append(cell)
                look += (2 * at + 1, 2 * at + 2)
        return found

    def ends_between(self, last: datetime, time: datetime) -> bool:
        """Return whether any lease that has not ended at one time has ended at a later one."""
        asks = len(self.expired(time)) > len(self.expired(last))
        if self._index is not None:
            return asks or self._index.holds_end_between(last, time)
        return asks or any(
            has_ended(hold.until, time) and not has_ended(hold.until, last) for hold in self.held.values()
        )

    def is_out(self, cell: Cell, time: datetime) -> bool:
        """Return whether a cell is asked for and its lease has not ended at a given time."""
        ask = self.asked.get(cell)
        return ask is not None and not has_ended(ask.until, time)

    def out(self, time: datetime) -> Iterator[Cell]:
        """Yield the cells that are out at a given time, in the order they were asked for."""
        expired = set(self.expired(time))
        return (cell for cell in self.asked if cell not in expired)

    def holder(self, cell: Cell, time: datetime) -> Hold | None:
        """Return who holds a cell at a given time; None if nobody does."""
        hold = self.held.get(cell)
        return None if hold is None or has_ended(hold.until, time) else hold

    def to_plain(self) -> dict[str, Any]:
        """Return all asks and holds as arrays and JSON; O(cells that are asked for)."""
        asks, holds = _ask_map(), _hold_map()
        if self.asked:
            asks.absorb(_ask_columns(self.asked))
        for cell, hold in self.held.items():
            holds[cell] = hold
        return {"n_asked": self._n_asked, "asks": asks.to_plain(), "holds": holds.to_plain()}

    def restore(self, plain: dict[str, Any]) -> None:
        """Replace all asks and holds by what `to_plain` returned; 3 us for each cell that is asked for."""
        asks, holds = _ask_map(), _hold_map()
        self._index = None
        asks.restore(plain["asks"])
        holds.restore(plain["holds"])
        self.asked = dict(ask for _, ask in asks.items())
        self.held = dict(holds.items())
        self._ends = [
            (ask.until, ask.number, cell) for cell, ask in self.asked.items() if ask.until is not None
        ]
        heapq.heapify(self._ends)
        self._n_asked = int(plain["n_asked"])

    def _is_of(self, number: int, cell: Cell) -> bool:
        return cell in self.asked and self.asked[cell].number == number


def _from_text(lease: object) -> timedelta | None:
    found = _TEXT.fullmatch(lease.strip()) if isinstance(lease, str) else None
    return None if found is None else timedelta(**{_UNITS[found[2]]: float(found[1])})


def _ask_map() -> ColumnarDict[tuple[int], tuple[Cell, OpenAsk]]:
    """Return an empty map of places to cells and their asks."""
    record = (int, int, *TERMS, float, str, str, int, str, int)
    return ColumnarDict((int,), record, encode=tuple, decode=_ask)


def _hold_map() -> ColumnarDict[Cell, Hold]:
    return ColumnarDict(
        (int, int),
        (str, str),
        encode=lambda hold: (hold.who, hold.until.isoformat()),
        decode=lambda who, until: Hold(who, datetime.fromisoformat(until)),
    )


def _ask_columns(asked: Mapping[Cell, OpenAsk]) -> list[NewColumn]:
    """Return the entries of `_ask_map`, by columns."""
    asks = asked.values()
    places = column_of(int, map(itemgetter(6), asks))
    return [
        places,
        *(column_of(int, map(itemgetter(k), asked)) for k in range(2)),
        *record_columns(TERMS, [ask.terms for ask in asks], tuple),
        column_of(float, map(itemgetter(1), asks)),
        column_of(str, map(itemgetter(2), asks)),
        column_of(str, (_text(ask.until) for ask in asks)),
        column_of(int, map(itemgetter(4), asks)),
        column_of(str, map(itemgetter(5), asks)),
        places,
    ]


@lru_cache(maxsize=100)
def _text(until: datetime | None) -> str | None:
    """Write a time down; the cells of an ask all have the same."""
    return None if until is None else until.isoformat()


def _ask(i: int, j: int, *fields: Any) -> tuple[Cell, OpenAsk]:
    terms, (worth, why, until, *others) = Terms(*fields[:6]), fields[6:]
    end = None if until is None else datetime.fromisoformat(until)
    return (i, j), OpenAsk(terms, worth, why, end, *others)
