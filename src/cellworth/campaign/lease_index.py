"""The cells that are out, as arrays: counts and pages of them cost the same few passes whatever is asked for.

Each ask takes the next slot; closing it frees the slot, and once most slots are free, the others move
together. Times are whole microseconds, so that comparing them is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, IntArray
from cellworth.campaign.cell_index import Cell

NEVER = np.iinfo(np.int64).max
_START = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_FIRST_SLOTS = 64
_FIELDS = ("row", "column", "place", "asker", "until", "holder", "held_until")


def ticks(time: datetime | None) -> int:
    """Return a time in microseconds since 1970; None, no end, is later than all others."""
    return int(NEVER) if time is None else (time - _START) // _TICK


class Counts(NamedTuple):
    """How many cells are out: all of them, those that nobody has taken, and by position or person."""

    total: int
    free: int
    columns: dict[int, int]
    askers: dict[str | None, int]
    holders: dict[str, int]


@dataclass(frozen=True)
class Sought:
    """Which of the cells that are out to find; None matches any."""

    rows: IntArray | None = None
    """The positions of rows, sorted."""
    column: int | None = None
    asker: str | None = None
    holder: str | None = None
    free: bool = False


class LeaseIndex:
    """The slots of the cells that are asked for; O(1) for each change, O(slots) array work for each question.

    65,000 cells take about a millisecond.
    """

    def __init__(self) -> None:
        self._slots: dict[Cell, int] = {}
        self._used = 0
        self._data: dict[str, NDArray[np.int64]] = {
            name: np.zeros(_FIRST_SLOTS, dtype=np.int64) for name in _FIELDS
        }
        self._open = np.zeros(_FIRST_SLOTS, dtype=np.bool_)
        self._codes: dict[str | None, int] = {None: 0}
        self._people: list[str | None] = [None]

    def ask(self, cell: Cell, *, place: int, who: str | None, until: datetime | None) -> None:
        """Record that a cell was asked for; ``place`` is higher than all before."""
        self.close(cell)
        self._make_room()
        slot = self._slots[cell] = self._used
        values = (*cell, place, self._code(who), ticks(until), 0, 0)
        for name, value in zip(_FIELDS, values, strict=True):
            self._data[name][slot] = value
        self._open[slot] = True
        self._used += 1

    def close(self, cell: Cell) -> None:
        """Record that a cell is no longer asked for."""
        slot = self._slots.pop(cell, None)
        if slot is not None:
            self._open[slot] = False

    def hold(self, cells: Iterable[Cell], who: str, until: datetime) -> None:
        """Record that cells were taken."""
        self._hold(cells, self._code(who), ticks(until))

    def give_back(self, cells: Iterable[Cell]) -> None:
        """Record that nobody has these cells."""
        self._hold(cells, 0, 0)

    def find(
        self, sought: Sought, time: datetime, after: int, most: int, by_row: int | None
    ) -> tuple[list[Cell], int | None, int]:
        """Return the first cells after a cursor, the cursor after them or None, and how many there are.

        In the order in which they were asked for, the cursor is a place. With ``by_row``, the number of
        columns of the table, cells of a row come together, rows and columns as in the table.
        """
        found = np.flatnonzero(self._matching(sought, ticks(time)))
        if by_row is None:
            cursors = self._data["place"][found]
        else:
            cursors = self._data["row"][found] * by_row + self._data["column"][found] + 1
            order = np.argsort(cursors)
            found, cursors = found[order], cursors[order]
        begin = int(np.searchsorted(cursors, after, side="right"))
        end = min(begin + most, len(found))
        rows, columns = self._data["row"][found[begin:end]], self._data["column"][found[begin:end]]
        cells = list(zip(rows.tolist(), columns.tolist(), strict=True))
        return cells, int(cursors[end - 1]) if begin < end < len(found) else None, len(found)

    def holds_end_between(self, last: datetime, time: datetime) -> bool:
        """Return whether somebody's cell, taken at one time, is no longer theirs at a later one."""
        ends = self._data["held_until"][: self._used][self._open[: self._used]]
        return bool(((ends > ticks(last)) & (ends <= ticks(time))).any())

    def rows(self, time: datetime) -> IntArray:
        """Return the positions of the rows with cells that are out, sorted."""
        return np.unique(self._data["row"][: self._used][self._matching(Sought(), ticks(time))])

    def counts(self, time: datetime) -> Counts:
        """Return how many cells are out."""
        now = ticks(time)
        out = self._matching(Sought(), now)
        held = out & self._is_held(now)
        holders = self._by_person("holder", held)
        columns = np.bincount(self._data["column"][: self._used][out])
        return Counts(
            total=int(out.sum()),
            free=int(out.sum() - held.sum()),
            columns={int(j): int(columns[j]) for j in np.flatnonzero(columns)},
            askers=self._by_person("asker", out),
            holders={who: count for who, count in holders.items() if who is not None},
        )

    @classmethod
    def of(cls, asked: Mapping[Cell, Any], held: Mapping[Cell, Any]) -> LeaseIndex:
        """Return the index of asks and holds (see `cellworth.campaign.leases`), in the order of the asks."""
        index = cls()
        for cell, ask in asked.items():
            index.ask(cell, place=ask.place, who=ask.who, until=ask.until)
        for cell, hold in held.items():
            index.hold([cell], hold.who, hold.until)
        return index

    def _matching(self, sought: Sought, now: int) -> BoolArray:
        data = {name: array[: self._used] for name, array in self._data.items()}
        found = self._open[: self._used] & (data["until"] > now)
        if sought.rows is not None:
            found &= np.isin(data["row"], sought.rows)
        if sought.column is not None:
            found &= data["column"] == sought.column
        if sought.asker is not None:
            found &= data["asker"] == self._codes.get(sought.asker, -1)
        if sought.holder is not None:
            found &= (data["holder"] == self._codes.get(sought.holder, -1)) & self._is_held(now)
        if sought.free:
            found &= ~self._is_held(now)
        return found

    def _is_held(self, now: int) -> BoolArray:
        held: BoolArray = self._data["held_until"][: self._used] > now
        return held

    def _by_person(self, field: str, where: BoolArray) -> dict[str | None, int]:
        counts = np.bincount(self._data[field][: self._used][where])
        return {self._people[code]: int(counts[code]) for code in np.flatnonzero(counts)}

    def _hold(self, cells: Iterable[Cell], code: int, until: int) -> None:
        slots = [self._slots[cell] for cell in cells if cell in self._slots]
        self._data["holder"][slots], self._data["held_until"][slots] = code, until

    def _code(self, who: str | None) -> int:
        code = self._codes.setdefault(who, len(self._people))
        if code == len(self._people):
            self._people.append(who)
        return code

    def _make_room(self) -> None:
        """Make sure that there is a free slot: by moving those in use together, or by doubling."""
        size = len(self._open)
        if self._used < size:
            return
        kept = np.flatnonzero(self._open)
        room = size if 2 * len(kept) <= size else 2 * size
        for name, array in self._data.items():
            self._data[name] = np.zeros(room, dtype=np.int64)
            self._data[name][: len(kept)] = array[kept]
        self._open = np.arange(room) < len(kept)
        renamed = np.full(size, -1)
        renamed[kept] = np.arange(len(kept))
        self._slots = {cell: int(renamed[slot]) for cell, slot in self._slots.items()}
        self._used = len(kept)
