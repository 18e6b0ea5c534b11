"""The cells of a campaign as they are now: row by row for people, and as arrays for summaries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.events import Value, value_to_json
from cellworth.campaign.rounds import Rounds
from cellworth.campaign.state import HAS_VALUE, CellStatus, State
from cellworth.prices import Prices

StatusWord = Literal["known", "bought", "out", "refused", "missing"]
_WORDS: dict[CellStatus, StatusWord] = {
    CellStatus.HOLE: "missing",
    CellStatus.ASKED: "out",
    CellStatus.KNOWN: "known",
    CellStatus.TOLD: "bought",
    CellStatus.REFUSED: "refused",
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
    status: StatusWord
    value: Value | None


@dataclass(frozen=True)
class RowRecord:
    """A row as it is now.

    Attributes
    ----------
    row : str
        Its id.
    place : int
        Its position in the table, from 0.
    cells : list of CellRecord
        In the order of the columns.
    """

    row: str
    place: int
    cells: list[CellRecord]


@dataclass(frozen=True, eq=False)
class CellArrays:
    """The n x p cells of the newest table.

    Attributes
    ----------
    known, bought, refused : (n, p) arrays of bool
        Known without buying, told, and not to be had.
    asked : (n, p) array of bool
        Asked for and not answered, refused or cancelled since, whether the lease has ended or not.
    available : (n, p) array of bool
        Missing and not refused; those that are asked for are among them.
    price : (n, p) array
        What each would cost as the only one of a batch.
    worth : (n, p) array
        As the strategy scores it now, bigger is better; 0 where there is nothing to buy.
    """

    known: BoolArray
    bought: BoolArray
    refused: BoolArray
    asked: BoolArray
    available: BoolArray
    price: Float64Array
    worth: Float64Array


def row_records(state: State, time: datetime, start: int, stop: int) -> list[RowRecord]:
    """Return the rows from one position up to another; O(their cells)."""
    columns = range(len(state.index.columns))
    return [
        RowRecord(state.index.row_ids[i], i, [_cell(state, time, (i, j)) for j in columns])
        for i in range(start, min(stop, len(state.index.row_ids)))
    ]


def cell_arrays(state: State, prices: Prices, rounds: Rounds) -> CellArrays:
    """Look at all cells, with the scores of the newest round, or of a new one if the table has changed."""
    table, status = state.table(), state.status
    available = table.holes & (status != CellStatus.REFUSED)
    worth = np.zeros(table.shape)
    if available.any():
        worth = np.where(available, rounds.newest(may_begin=True).scored.scores, 0.0)
    return CellArrays(
        known=status == CellStatus.KNOWN,
        bought=status == CellStatus.TOLD,
        refused=status == CellStatus.REFUSED,
        asked=status == CellStatus.ASKED,
        available=available,
        price=prices.on(table).marginal(~table.holes),
        worth=worth,
    )


def _cell(state: State, time: datetime, cell: Cell) -> CellRecord:
    column, status = state.index.columns[cell[1]], state.status_of(cell)
    if status == CellStatus.ASKED and not state.open.is_out(cell, time):
        status = CellStatus.HOLE
    value = value_to_json(column, float(state.values[cell])) if status in HAS_VALUE else None
    return CellRecord(column.name, _WORDS[status], value)
