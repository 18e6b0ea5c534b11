"""A campaign's current cells: row by row for people, and as arrays for summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.cell_values import HAS_VALUE, MAY_COME, CellStatus
from cellworth.campaign.event_codec import Value, value_to_json
from cellworth.campaign.state import State
from cellworth.errors import ParameterError
from cellworth.prices import Prices

if TYPE_CHECKING:
    from cellworth.campaign.budget_and_prices import BudgetAndPrices
    from cellworth.campaign.log import Log
    from cellworth.campaign.rounds import Rounds
    from cellworth.campaign.worth_totals import WorthTotals

StatusWord = Literal["known", "bought", "out", "refused", "missing"]
_WORDS: dict[CellStatus, StatusWord] = {
    CellStatus.HOLE: "missing",
    CellStatus.ASKED: "out",
    CellStatus.KNOWN: "known",
    CellStatus.TOLD: "bought",
    CellStatus.REFUSED: "refused",
}


_STATUS = {word: status for status, word in _WORDS.items()}


def status_of_word(word: StatusWord) -> CellStatus:
    """Return the status that people know by a word; ParameterError if none is."""
    if word not in _STATUS:
        raise ParameterError(f"a status must be one of {', '.join(_STATUS)}; got {word!r}.")
    return _STATUS[word]


@dataclass(frozen=True)
class CellRecord:
    """A cell as it is now.

    Attributes
    ----------
    column : str
    status : {"known", "bought", "out", "refused", "missing"}
        Known without buying, told, asked for, unobtainable, or none of these.
    value : float, int, bool, str or None
        As the user writes it, with dates as ISO strings; None if there is none.
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
        In column order.
    label : CellRecord or None
        The cell of the target's column; None without a target.
    """

    row: str
    place: int
    cells: list[CellRecord]
    label: CellRecord | None = None


@dataclass(frozen=True, eq=False)
class CellArrays:
    """All n x p cells of the newest table; if labels have a price, they are the last of the p columns.

    Attributes
    ----------
    known, bought, refused : (n, p) arrays of bool
        Known without buying, told, and unobtainable.
    asked : (n, p) array of bool
        Asked for and not yet answered, refused or cancelled, even if the lease has expired.
    available : (n, p) array of bool
        Missing and not refused, including cells that have been asked for.
    price : (n, p) array
        What each cell would cost if bought alone.
    worth : (n, p) array
        The strategy's score now, higher is better; 0 where there is nothing to buy.
    """

    known: BoolArray
    bought: BoolArray
    refused: BoolArray
    asked: BoolArray
    available: BoolArray
    price: Float64Array
    worth: Float64Array

    @classmethod
    def of(
        cls, status: NDArray[np.uint8], holes: BoolArray, price: Float64Array, worth: Float64Array
    ) -> CellArrays:
        """Make the arrays, given the `CellStatus` of each cell, whether it is a hole, and worths of all."""
        available = holes & (status != CellStatus.REFUSED)
        return cls(
            known=status == CellStatus.KNOWN,
            bought=status == CellStatus.TOLD,
            refused=status == CellStatus.REFUSED,
            asked=status == CellStatus.ASKED,
            available=available,
            price=price,
            worth=np.where(available, worth, 0.0),
        )

    def of_columns(self, p: int) -> CellArrays:
        """Return the first p columns alone."""
        return CellArrays(**{name: array[:, :p] for name, array in vars(self).items()})

    def of_rows(self, first: int, last: int) -> CellArrays:
        """Return the rows from ``first`` up to before ``last``."""
        return CellArrays(**{name: array[first:last] for name, array in vars(self).items()})

    @classmethod
    def joined(cls, parts: Sequence[CellArrays]) -> CellArrays:
        """Return several parts, at least one, below each other."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, eq=False)
class MarkedCells:
    """The cells that were asked for, told or refused, (k,) each, sorted by row; sent to the workers."""

    rows: IntArray
    columns: IntArray
    status: NDArray[np.uint8]

    def statuses(self, known: BoolArray, numbers: IntArray) -> NDArray[np.uint8]:
        """Return the status of each cell (m, p), given which are known, and the rows' numbers, increasing."""
        found = np.where(known, CellStatus.KNOWN, CellStatus.HOLE).astype(np.uint8)
        if not len(numbers):
            return found
        first, last = np.searchsorted(self.rows, [numbers[0], numbers[-1] + 1])
        rows, columns = self.rows[first:last], self.columns[first:last]
        at = np.searchsorted(numbers, rows)
        here = (numbers[at] == rows) & (columns < known.shape[1])
        found[at[here], columns[here]] = self.status[first:last][here]
        return found


class CellWorths(Protocol):
    """What the cells of a campaign's table are worth and cost now."""

    def cells(self, first: int = 0, last: int | None = None) -> CellArrays:
        """Return the cells of the rows from ``first`` up to before ``last``, by default of all."""

    def totals(self) -> WorthTotals:
        """Return the totals of all cells, column by column."""

    def marked(self) -> MarkedCells:
        """Return the cells that were asked for, told or refused."""


class WorthsInMemory:
    """The cells of a table in memory; see `CellWorths`."""

    def __init__(self, log: Log, in_force: BudgetAndPrices, make_rounds: Callable[[], Rounds]) -> None:
        self._log, self._in_force, self._make_rounds = log, in_force, make_rounds

    def cells(self, first: int = 0, last: int | None = None) -> CellArrays:
        """Return the cells of a range of rows; the rounds since the last cache, and O(n p)."""
        found = cell_arrays(self._log.state, self._in_force.prices, self._make_rounds())
        return found.of_rows(*check_range(first, last, len(found.known)))

    def totals(self) -> WorthTotals:
        """Return the totals of all cells."""
        from cellworth.campaign.worth_totals import WorthTotals

        return WorthTotals.of(self.cells())

    def marked(self) -> MarkedCells:
        """Return the cells that were asked for, told or refused."""
        return MarkedCells(*self._log.state.cells.marked())


def check_range(first: int, last: int | None, n: int) -> tuple[int, int]:
    """Return a range of rows, at least one; ParameterError if there is none."""
    end = n if last is None else min(last, n)
    if not 0 <= first < end:
        raise ParameterError(f"rows must satisfy 0 <= first < last <= {n}; got {first} to {last}.")
    return first, end


def counts_labels(state: State, prices: Prices) -> bool:
    """Return whether labels count as cells: they have a price, or had one when they were bought. O(p)."""
    touched = (CellStatus.TOLD, CellStatus.ASKED, CellStatus.REFUSED)
    return state.index.sells_labels(prices) or any(state.count(each, labels=True) for each in touched)


def still_costs(state: State, prices: Prices, limit: float) -> float:
    """Return the cost of all cells that can still be bought, capped at ``limit``; O(n p)."""
    price_list = prices.on(state.table())
    width = price_list.own.shape[1]
    wanted, known = state.has(*MAY_COME)[:, :width], ~np.isnan(state.values[:, :width])
    if state.stands_for is not None:
        return min(limit, state.stands_for.cost(price_list, wanted, known))
    if float(price_list.own[wanted].sum()) >= limit:
        return limit
    if not wanted.any():
        return 0.0
    return min(limit, price_list.cost(np.argwhere(wanted), known))


def row_records(state: State, time: datetime, places: Iterable[int]) -> list[RowRecord]:
    """Return the rows at some positions, as far as there are such rows; O(their cells)."""
    p, n = state.index.features, state.index.n_rows
    found = []
    shown = [i for i in places if 0 <= i < n]
    rows = np.array(shown, dtype=np.int64)
    width = len(state.index.columns)
    state.index.rows.meet_places(rows)
    state.cells.at(np.repeat(rows, width), np.tile(np.arange(width), len(rows)))
    for i in shown:
        cells = [_cell(state, time, (i, j)) for j in range(width)]
        label = cells[p] if p < len(cells) else None
        found.append(RowRecord(state.index.rows.name(i), i, cells[:p], label))
    return found


def cell_arrays(state: State, prices: Prices, rounds: Rounds) -> CellArrays:
    """Return all cells, scored by the newest round, or by a new one if the table has changed."""
    listed = prices.on(state.table())
    width = listed.own.shape[1]
    status, holes = state.status[:, :width], np.isnan(state.values[:, :width])
    worth = np.zeros((len(status), width))
    if (holes & (status != CellStatus.REFUSED)).any():
        scores = rounds.newest(since=state.table_number).scored.scores[:, :width]
        worth[:, : scores.shape[1]] = scores
    return CellArrays.of(status, holes, listed.marginal(~holes), worth)


def _cell(state: State, time: datetime, cell: Cell) -> CellRecord:
    column, status = state.index.columns[cell[1]], state.status_of(cell)
    if status == CellStatus.ASKED and not state.open.is_out(cell, time):
        status = CellStatus.HOLE
    value = value_to_json(column, state.value_of(cell)) if status in HAS_VALUE else None
    return CellRecord(column.name, _WORDS[status], value)
