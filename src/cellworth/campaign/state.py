"""Where a campaign stands: the original table and the events so far, folded into arrays.

Nothing here reads a clock, a file or a random number: the same events give the same state.
"""

from __future__ import annotations

import base64
import heapq
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.money import Money
from cellworth.campaign.packing import unpack
from cellworth.campaign.places import Cell, Places
from cellworth.campaign.plain import from_plain
from cellworth.campaign.stores.store import Event
from cellworth.errors import DataError
from cellworth.table import Table
from cellworth.table.building.assemble import Parts


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
    asked : dict of cell to Asked
        The cells that are asked for, in the order in which they were.
    last_price : dict of cell to float
        Of each cell that was ever asked for, the price at which it last was.
    money : Money
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
        self._labels = np.empty(len(self._values)) if original.y is None else np.array(original.y)
        self._table: tuple[int, Table] = (0, original)
        self.number = 0
        self.time: datetime | None = None
        self.table_number = 0
        self.rounds: list[int] = []
        self.asked: dict[Cell, Asked] = {}
        self.last_price: dict[Cell, float] = {}
        self.money = Money()
        self.keyed: dict[str, Event] = {}
        self._leases: list[tuple[datetime, int, Cell]] = []

    @property
    def values(self) -> NDArray[np.float64]:
        """(n, p), NaN = hole; not to be written to."""
        return self._values[: len(self.places.row_ids)]

    @property
    def status(self) -> NDArray[np.uint8]:
        """(n, p) of `Status`; not to be written to."""
        return self._status[: len(self.places.row_ids)]

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
            parts = Parts(
                self._original.columns,
                self.values,
                tuple(self.places.row_ids),
                target,
                self._original.row_id,
            )
            table = Table(parts)
            self._table = self.table_number, table
        return table

    def expired(self, time: datetime) -> list[Cell]:
        """Return the asked cells whose lease has run out by a time; O(asked cells)."""
        return [cell for cell, ask in self.asked.items() if ask.until is not None and ask.until <= time]

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
        until = None if event.data["until"] is None else datetime.fromisoformat(event.data["until"])
        for row, column, price, worth, why in event.data["cells"]:
            cell = self.places.cell(row, column)
            self._status[cell] = Status.ASKED
            self.asked[cell] = Asked(price, worth, why, until, event.number)
            self.last_price[cell] = price
            self.money.reserve(price)
            if until is not None:
                heapq.heappush(self._leases, (until, event.number, cell))

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
        if rows.y is not None:
            self._labels[start:stop] = rows.y
        self.places.add(rows.row_ids)
        self.table_number = event.number

    def _close(self, cell: Cell, status: Status) -> None:
        """End the asking for a cell, if it is asked for, and release its money."""
        ask = self.asked.pop(cell, None)
        if ask is not None:
            self.money.release(ask.price)
        self._status[cell] = status


_FOLDS: dict[str, Callable[[State, Event], None]] = {
    "asked": State._ask,
    "told": State._tell,
    "refused": State._refuse,
    "cancelled": State._cancel,
    "corrected": State._correct,
    "extended": State._extend,
}


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return the array, or a longer copy if it has fewer rows; doubling makes many small growths cheap."""
    if rows <= len(array):
        return array
    longer = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
