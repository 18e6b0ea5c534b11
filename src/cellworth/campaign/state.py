"""Where a campaign stands: the original table and the events so far, folded into arrays.

Nothing here reads a clock, a file or a random number: the same events give the same state.
"""

from __future__ import annotations

import base64
import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.account import Account
from cellworth.campaign.packing import unpack
from cellworth.campaign.places import Cell, Places
from cellworth.campaign.plain import from_plain
from cellworth.campaign.stores.store import Event
from cellworth.errors import DataError
from cellworth.table import Table


class Status(IntEnum):
    """What is the matter with a cell."""

    HOLE = 0
    ASKED = 1
    KNOWN = 2
    TOLD = 3
    REFUSED = 4


class Asked(NamedTuple):
    """A cell that was asked for and not answered, refused, cancelled or expired yet."""

    price: float
    worth: float
    why: str
    until: datetime | None
    number: int
    who: str | None
    place: int
    """Among all cells that were ever asked for: 1, 2, ..."""


class Held(NamedTuple):
    """Who has taken a cell, and until when."""

    who: str
    until: datetime


class State:
    """The fold of a campaign's events; `apply` takes in the next one.

    Attributes
    ----------
    number : int
        Of the last event; 0 before the first.
    time : datetime or None
        Of the last event.
    table_number : int
        Of the last event that changed the table; 0 for the original one.
    rounds : list of int
        For each round, the ``table_number`` of the table that it was completed on; strictly increasing.
    asks_by_round : Counter
        How often something was asked for in each round, by its number from 1.
    asked : dict of cell to Asked
        The cells that are asked for, in the order in which they were.
    last_price : dict of cell to float
        Of each cell that was ever asked for, the price at which it last was.
    held : dict of cell to Held
        The asked cells that somebody has taken; the time may have run out.
    money : Account
        What was spent and is reserved.
    keyed : dict of str to Event
        The events that carry a key.
    """

    def __init__(self, original: Table) -> None:
        self._original = original
        self.places = Places(
            original.row_ids, original.columns, None if original.target is None else original.target.name
        )
        self._values = np.array(original.values)
        self._status = np.where(original.holes, Status.HOLE, Status.KNOWN).astype(np.uint8)
        self._counts = _count(self._status)
        self._labels = np.empty(len(self._values)) if original.y is None else np.array(original.y)
        self._table: tuple[int, Table] = (0, original)
        self.number = 0
        self.time: datetime | None = None
        self.table_number = 0
        self.rounds: list[int] = []
        self.asks_by_round: Counter[int] = Counter()
        self.asked: dict[Cell, Asked] = {}
        self.last_price: dict[Cell, float] = {}
        self.held: dict[Cell, Held] = {}
        self.money = Account()
        self.keyed: dict[str, Event] = {}
        self._leases: list[tuple[datetime, int, Cell]] = []
        self._n_asked = 0

    @property
    def values(self) -> NDArray[np.float64]:
        """(n, p), NaN = hole; not to be written to."""
        return self._values[: len(self.places.row_ids)]

    @property
    def status(self) -> NDArray[np.uint8]:
        """(n, p) of `Status`; not to be written to."""
        return self._status[: len(self.places.row_ids)]

    def count(self, status: Status) -> int:
        """Return how many cells have a status; O(1)."""
        return int(self._counts[status])

    def table(self) -> Table:
        """Return the table with all answers in; O(n p) after a change, else O(1)."""
        number, table = self._table
        if number != self.table_number:
            n = len(self.places.row_ids)
            target = self._original.target
            if target is not None:
                labels = self._labels[:n].copy()
                labels.setflags(write=False)
                target = replace(target, values=labels)
            table = Table(
                self._original.columns,
                self.values,
                tuple(self.places.row_ids),
                target,
                self._original.row_id,
            )
            self._table = self.table_number, table
        return table

    def expired(self, time: datetime) -> list[Cell]:
        """Return the asked cells whose lease has run out by a time, in no order; O(ended leases)."""
        # Those that have ended are a tree at the top of the heap. Some are of cells that were answered since.
        found, look = [], [0]
        while look:
            at = look.pop()
            if at < len(self._leases) and self._leases[at][0] <= time:
                _, number, cell = self._leases[at]
                if cell in self.asked and self.asked[cell].number == number:
                    found.append(cell)
                look += (2 * at + 1, 2 * at + 2)
        return found

    def is_expired(self, cell: Cell, time: datetime) -> bool:
        """Say whether the lease of an asked cell has run out by a time."""
        until = self.asked[cell].until
        return until is not None and until <= time

    def out(self, time: datetime) -> Iterator[Cell]:
        """Yield the cells that are out at a time, in the order in which they were asked for."""
        expired = set(self.expired(time))
        return (cell for cell in self.asked if cell not in expired)

    def holder(self, cell: Cell, time: datetime) -> Held | None:
        """Return who has a cell at a time; None if nobody has."""
        held = self.held.get(cell)
        return None if held is None or held.until <= time else held

    def apply(self, event: Event) -> None:
        """Take in the next event; O(its size), bar the growth of arrays, which is amortised."""
        if event.number != self.number + 1:
            raise DataError(f"expected event {self.number + 1}, got event {event.number}: the log has a gap.")
        fold = _FOLDS.get(event.kind)
        if fold is None:
            raise DataError(
                f"event {event.number} is of the unknown kind {event.kind!r}: the campaign was continued by "
                "a newer version of cellworth. Use that version."
            )
        fold(self, event)
        self.number, self.time = event.number, event.time
        if event.key is not None:
            self.keyed[event.key] = event

    def _ask(self, event: Event) -> None:
        while self._leases and self._leases[0][0] <= event.time:
            _, number, cell = heapq.heappop(self._leases)
            if cell in self.asked and self.asked[cell].number == number:
                self._close(cell, Status.HOLE)
        if event.data["round"] > len(self.rounds):
            self.rounds.append(event.data["based_on"])
        self.asks_by_round[event.data["round"]] += 1
        until = None if event.data["until"] is None else datetime.fromisoformat(event.data["until"])
        for row, column, price, worth, why in event.data["cells"]:
            cell = self.places.cell(row, column)
            self._mark(cell, Status.ASKED)
            self._n_asked += 1
            self.asked[cell] = Asked(price, worth, why, until, event.number, event.who, self._n_asked)
            self.last_price[cell] = price
            self.money.reserve(price)
            if until is not None:
                heapq.heappush(self._leases, (until, event.number, cell))

    def _take(self, event: Event) -> None:
        until = datetime.fromisoformat(event.data["until"])
        for row, column in event.data["cells"]:
            self.held[self.places.cell(row, column)] = Held(str(event.who), until)

    def _give_back(self, event: Event) -> None:
        for row, column in event.data["cells"]:
            self.held.pop(self.places.cell(row, column), None)

    def _tell(self, event: Event) -> None:
        for row, column, value, price in event.data["cells"]:
            cell = self.places.cell(row, column)
            self._close(cell, Status.TOLD)
            self._values[cell] = from_plain(self.places.columns[cell[1]], value)
            self.money.spend(price)
        self.table_number = event.number

    def _refuse(self, event: Event) -> None:
        for row, column in event.data["cells"]:
            self._close(self.places.cell(row, column), Status.REFUSED)

    def _cancel(self, event: Event) -> None:
        for row, column in event.data["cells"]:
            self._close(self.places.cell(row, column), Status.HOLE)

    def _correct(self, event: Event) -> None:
        cell = self.places.cell(event.data["row"], event.data["column"])
        self._values[cell] = from_plain(self.places.columns[cell[1]], event.data["new"])
        self.table_number = event.number

    def _extend(self, event: Event) -> None:
        rows = unpack(base64.b64decode(event.data["table"]))
        start = len(self.places.row_ids)
        stop = start + len(rows.row_ids)
        self._values = _with_room(self._values, stop)
        self._status = _with_room(self._status, stop)
        self._labels = _with_room(self._labels, stop)
        self._values[start:stop] = rows.values
        self._status[start:stop] = np.where(rows.holes, Status.HOLE, Status.KNOWN)
        self._counts += _count(self._status[start:stop])
        if rows.y is not None:
            self._labels[start:stop] = rows.y
        self.places.add(rows.row_ids)
        self.table_number = event.number

    def _close(self, cell: Cell, status: Status) -> None:
        """End the asking for a cell, if it is asked for, and release its money."""
        ask = self.asked.pop(cell, None)
        self.held.pop(cell, None)
        if ask is not None:
            self.money.release(ask.price)
        self._mark(cell, status)

    def _mark(self, cell: Cell, status: Status) -> None:
        self._counts[self._status[cell]] -= 1
        self._counts[status] += 1
        self._status[cell] = status


_FOLDS: dict[str, Callable[[State, Event], None]] = {
    "asked": State._ask,
    "taken": State._take,
    "given back": State._give_back,
    "told": State._tell,
    "refused": State._refuse,
    "cancelled": State._cancel,
    "corrected": State._correct,
    "extended": State._extend,
}


def _count(status: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return how many cells have each `Status`."""
    return np.bincount(status.ravel(), minlength=len(Status))


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return the array, or a longer copy if it has fewer rows; doubling makes many small growths cheap."""
    if rows <= len(array):
        return array
    longer = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
