"""The cells that are out, and the two leases on each: of whoever asked for it, and of whoever has taken it.

A lease has a moment at which it ends; from that moment on it has ended. When the lease of an ask ends, the
cell may be asked for again and its money is free; when that of a holder ends, others may take the cell.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from cellworth.campaign.cell_index import Cell
from cellworth.errors import ParameterError
from cellworth.messages import shorten

ASK_LEASE = "7d"
"""By default, how long the money of an ask is reserved."""
TAKE_LEASE = "8h"
"""By default, how long a cell is reserved for the person who has taken it."""
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_TEXT = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*([dhm])")


def parse_lease(lease: object) -> timedelta | None:
    """Return a lease as a span of time, None for one that never ends.

    >>> parse_lease("12h"), parse_lease(None)
    (datetime.timedelta(seconds=43200), None)
    """
    if lease is None:
        return None
    span = lease if isinstance(lease, timedelta) else _from_text(lease)
    if span is None or span <= timedelta(0):
        raise ParameterError(
            "a lease must be a time such as '7d', '12h' or '30m', a positive timedelta, or None for never; "
            f"got {shorten(lease)}."
        )
    return span


def has_ended(until: datetime | None, time: datetime) -> bool:
    """Say whether a lease has ended by a time; one without an end never does."""
    return until is not None and until <= time


class OpenAsk(NamedTuple):
    """A cell that was asked for and has not been answered, refused, cancelled or asked for again."""

    price: float
    worth: float
    why: str
    until: datetime | None
    number: int
    """Of the event that asked for it."""
    who: str | None
    place: int
    """Among all cells that were ever asked for: 1, 2, ..."""


class Hold(NamedTuple):
    """Who has taken a cell, and until when."""

    who: str
    until: datetime


class OpenCells:
    """The asked cells of a campaign with their leases; nothing here reads a clock.

    Attributes
    ----------
    asked : dict of cell to OpenAsk
        In the order in which they were asked for; the leases of some may have ended.
    held : dict of cell to Hold
        Those of them that somebody has taken; the leases of some may have ended.
    """

    def __init__(self) -> None:
        self.asked: dict[Cell, OpenAsk] = {}
        self.held: dict[Cell, Hold] = {}
        self._ends: list[tuple[datetime, int, Cell]] = []  # a heap; some are of cells that were closed since
        self._n_asked = 0

    def ask(
        self,
        cell: Cell,
        *,
        price: float,
        worth: float,
        why: str,
        until: datetime | None,
        number: int,
        who: str | None,
    ) -> None:
        """Note that a cell was asked for."""
        self._n_asked += 1
        self.asked[cell] = OpenAsk(price, worth, why, until, number, who, self._n_asked)
        if until is not None:
            heapq.heappush(self._ends, (until, number, cell))

    def close(self, cell: Cell) -> OpenAsk | None:
        """End the asking for a cell; return what it was asked for at, None if it was not asked for."""
        self.held.pop(cell, None)
        return self.asked.pop(cell, None)

    def hold(self, cells: Iterable[Cell], hold: Hold) -> None:
        """Note that cells were taken."""
        self.held.update(dict.fromkeys(cells, hold))

    def give_back(self, cells: Iterable[Cell]) -> None:
        """Note that cells were given back."""
        for cell in cells:
            self.held.pop(cell, None)

    def forget_ended(self, time: datetime) -> list[Cell]:
        """Return the cells whose ask has ended by a time, to be closed; afterwards they are not looked at."""
        found = []
        while self._ends and has_ended(self._ends[0][0], time):
            _, number, cell = heapq.heappop(self._ends)
            if self._is_of(number, cell):
                found.append(cell)
        return found

    def expired(self, time: datetime) -> list[Cell]:
        """Return the asked cells whose lease has ended by a time, in no order; O(ended leases)."""
        # Those that have ended are a tree at the top of the heap.
        found, look = [], [0]
        while look:
            at = look.pop()
            if at < len(self._ends) and has_ended(self._ends[at][0], time):
                _, number, cell = self._ends[at]
                if self._is_of(number, cell):
                    found.append(cell)
                look += (2 * at + 1, 2 * at + 2)
        return found

    def is_out(self, cell: Cell, time: datetime) -> bool:
        """Say whether a cell is asked for at a time, and its lease has not ended."""
        ask = self.asked.get(cell)
        return ask is not None and not has_ended(ask.until, time)

    def out(self, time: datetime) -> Iterator[Cell]:
        """Yield the cells that are out at a time, in the order in which they were asked for."""
        expired = set(self.expired(time))
        return (cell for cell in self.asked if cell not in expired)

    def holder(self, cell: Cell, time: datetime) -> Hold | None:
        """Return who has a cell at a time; None if nobody has."""
        hold = self.held.get(cell)
        return None if hold is None or has_ended(hold.until, time) else hold

    def _is_of(self, number: int, cell: Cell) -> bool:
        return cell in self.asked and self.asked[cell].number == number


def _from_text(lease: object) -> timedelta | None:
    found = _TEXT.fullmatch(lease.strip()) if isinstance(lease, str) else None
    return None if found is None else timedelta(**{_UNITS[found[2]]: float(found[1])})
