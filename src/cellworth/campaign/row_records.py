"""The rows of a campaign as they are now: what is the matter with each cell, and its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cellworth.campaign.plain import Plain, to_plain
from cellworth.campaign.state import State, Status

CellStatus = Literal["known", "bought", "out", "refused", "missing"]
_WORDS: dict[int, CellStatus] = {
    Status.HOLE: "missing",
    Status.ASKED: "out",
    Status.KNOWN: "known",
    Status.TOLD: "bought",
    Status.REFUSED: "refused",
}


@dataclass(frozen=True)
class CellRecord:
    """A cell as it is now.

    Attributes
    ----------
    column : str
    status : {"known", "bought", "out", "refused", "missing"}
        Known without buying, told, asked for, not to be had, or none of these.
    value : float, int, bool, str or None
        As the user writes it, dates as ISO texts; None without one.
    """

    column: str
    status: CellStatus
    value: Plain | None


@dataclass(frozen=True)
class RowRecord:
    """A row: its id, and its cells in the order of the columns."""

    row: str
    cells: list[CellRecord]


def row_records(state: State, time: datetime, start: int, stop: int) -> Iterator[RowRecord]:
    """Yield the rows from one place up to another; O(their cells)."""
    stop = min(stop, len(state.places.row_ids))
    for i in range(start, stop):
        cells = [_cell(state, time, (i, j)) for j in range(len(state.places.columns))]
        yield RowRecord(state.places.row_ids[i], cells)


def _cell(state: State, time: datetime, cell: tuple[int, int]) -> CellRecord:
    column, status = state.places.columns[cell[1]], int(state.status[cell])
    if status == Status.ASKED and state.is_expired(cell, time):
        status = Status.HOLE
    known = status in (Status.KNOWN, Status.TOLD)
    value = to_plain(column, float(state.values[cell])) if known else None
    return CellRecord(column.name, _WORDS[status], value)
