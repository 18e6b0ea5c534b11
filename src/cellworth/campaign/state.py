"""The state of a campaign: the original table and the events so far, folded into arrays and money.

Nothing here reads a clock or a file or draws random numbers: the same events give the same state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray, Float64Array
from cellworth.campaign.campaign_events import BudgetChanged, PricesChanged, Stage
from cellworth.campaign.cell_events import Asked, CellName, Told
from cellworth.campaign.cell_index import Cell
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.event_codec import Event, Value, value_from_json, value_reader
from cellworth.campaign.founding_table import AnyFounding, as_founding, in_memory
from cellworth.campaign.leases import Hold, Leases
from cellworth.campaign.spending import Due, Spending, Terms, terms_map
from cellworth.errors import DataError
from cellworth.prices.price_list import CellsLeft
from cellworth.table.more_categories import with_category


class State:
    """A campaign's events folded into one state; `apply` adds the next event.

    Attributes
    ----------
    number : int
        The number of the last event; 0 before the first.
    time : datetime or None
        The time of the last event.
    table_number : int
        The number of the last event that changed the table; 0 for the original.
    index : CellIndex
        Rows and columns by name.
    cells : CellValues
        The value and status of each cell.
    rounds : list of int
        For each round, the ``table_number`` of the table it was completed on; strictly increasing.
    asks_by_round : Counter
        The number of asks in each round, by round number from 1.
    open : Leases
        The cells that are asked for, and who has taken them.
    last_terms : map of cell to Terms
        What each cell ever asked for owes, by its last ask.
    money : Spending
        Money spent and reserved.
    contradictions : set of (row, column, value)
        Answers that differed from known values.
    new_budget : BudgetChanged or None
        The last change of the budget; None if it is the one that the campaign was created with.
    price_changes : list of pairs of an event's number and PricesChanged
        The changes of the prices, oldest first.
    stage : {"open", "closed", "archived"}
    table_path : str or None
        Where the founding table is now, if it was moved.
    categories : list of (str, str, str or None)
        The categories that were added, in this order: the column, the category, and which it comes before.
    recoded : int
        The number of the last event that added one; 0 if none did. Numeric columns of earlier tables stand
        for other categories.
    stands_for : CellsLeft or None
        The cells of all rows, in the state of a sample of them; None if these are all rows.
    """

    def __init__(self, original: AnyFounding) -> None:
        founding = self._founding = as_founding(original)
        self.index = founding.index()
        self.cells = founding.cells(self.index)
        self.number = 0
        self.time: datetime | None = None
        self.table_number = 0
        self.rounds: list[int] = []
        self.asks_by_round: Counter[int] = Counter()
        self.open = Leases()
        self.last_terms = terms_map()
        self.money = Spending()
        self.contradictions: set[tuple[str, str, Value]] = set()
        self.new_budget: BudgetChanged | None = None
        self.price_changes: list[tuple[int, PricesChanged]] = []
        self.stage: Stage = "open"
        self.table_path: str | None = None
        self.categories: list[tuple[str, str, str | None]] = []
        self.recoded = 0
        self.stands_for: CellsLeft | None = None

    @property
    def values(self) -> Float64Array:
        """The values, (n, p), NaN for a hole; do not modify. The labels are the last column, if any.

        This and what follows raises ParameterError for a table in row blocks, which is not in memory.
        """
        return in_memory(self.cells).values

    @property
    def status(self) -> NDArray[np.uint8]:
        """The `CellStatus` of each cell, (n, p); do not modify. The labels are the last column, if any."""
        return in_memory(self.cells).status

    def has(self, *kinds: CellStatus) -> BoolArray:
        """Return which cells (n, p) have one of these statuses; O(n p)."""
        found: BoolArray = np.isin(self.status, kinds, kind="sort")  # for so few, the fastest by far
        return found

    def status_of(self, cell: Cell) -> CellStatus:
        """Return the status of one cell."""
        return self.cells.status_of(cell)

    def value_of(self, cell: Cell) -> float:
        """Return the value of one cell, NaN for a hole."""
        return self.cells.value_of(cell)

    def count(self, status: CellStatus, *, labels: bool = False) -> int:
        """Return how many cells have a status; if ``labels``, how many labels. O(1)."""
        return self.cells.count(status, labels=labels)

    def table(self) -> Any:
        """Return the table with all answers filled in; O(n p) after a change, else O(1)."""
        return self.cells.table(self.table_number)

    def ended(self, time: datetime) -> list[Due]:
        """Return the asked cells whose lease has ended by a given time, with terms: their money is free."""
        return [(self.open.asked[cell].terms, cell) for cell in self.open.expired(time)]

    def terms_of(self, cell: Cell) -> Terms | None:
        """Return what a cell owes by its last ask; None if it was never asked for."""
        ask = self.open.asked.get(cell)
        return self.last_terms.get(cell) if ask is None else ask.terms

    def apply(self, event: Event) -> None:
        """Apply the next event; O(its size), amortised."""
        if event.number != self.number + 1:
            raise DataError(f"expected event {self.number + 1}, got event {event.number}: the log has a gap.")
        self.index.rows.state(event.row_numbers)
        event.content.apply(self, event)
        if event.content.changes_table:
            self.table_number = event.number
        self.number, self.time = event.number, event.time

    def ask(self, asked: Asked, event: Event) -> None:
        """Reserve cells and their money, and free those whose leases have ended."""
        self._close_all(self.open.forget_ended(event.time), CellStatus.HOLE)
        if asked.round > len(self.rounds):
            self.rounds.append(asked.based_on)
        if asked.cells:  # else it only remembers its key
            self.asks_by_round[asked.round] += 1
        for (row, column, _, worth, why), terms in zip(asked.cells, asked.owed(event.number), strict=True):
            cell = self.index.cell(row, column)
            self.cells.mark(cell, CellStatus.ASKED)
            self.open.ask(
                cell,
                terms=terms,
                worth=worth,
                why=why,
                until=asked.until,
                number=event.number,
                who=event.who,
            )
            self.last_terms[cell] = terms
            self.money.ask(cell, terms)

    def tell(self, told: Told) -> None:
        """Fill in answers and pay for them; O(answers)."""
        rows = self.index.places(map(itemgetter(0), told.cells))
        columns = self.index.column_places(map(itemgetter(1), told.cells))
        if min(rows.min(initial=0), columns.min(initial=0)) < 0:  # an older version wrote them differently
            rows, columns = np.array(self._cells(each[:2] for each in told.cells), dtype=np.int64).T
        cells = list(zip(rows.tolist(), columns.tolist(), strict=True))
        asked = [None if ask is None else ask.terms for ask in self.open.close_all(cells)]
        self._pay(told, cells, asked)
        given = map(itemgetter(2), told.cells)
        told_about = {j: self.index.columns[j] for j in set(columns.tolist())}
        if {column.kind for column in told_about.values()} <= {"number", "integer"}:
            values = np.fromiter(map(float, given), dtype=np.float64)
        else:
            read = {j: value_reader(column) for j, column in told_about.items()}
            values = np.array([read[j](value) for (_, j), value in zip(cells, given, strict=True)])
        self.cells.put(rows, columns, values)

    def _pay(self, told: Told, cells: list[Cell], asked: list[Terms | None]) -> None:
        """Release the money of the asks that answers close, and spend what they cost; O(answers).

        Answers that share no fee are counted by their terms, of which there are few.
        """
        for terms, times in Counter(asked).items():
            if terms is not None and not terms.is_shared:
                self.money.give_back(terms.own, times)
        if told.stated:
            owed: list[Terms | None] = [None] * len(cells)
        elif None in asked:
            known = zip(cells, asked, strict=True)
            owed = [self.last_terms.get(cell) if terms is None else terms for cell, terms in known]
        else:
            owed = asked
        by_terms = Counter(owed)
        if by_terms.pop(None, 0):
            prices = (each.price for each, terms in zip(told.cells, owed, strict=True) if terms is None)
            for price, times in Counter(prices).items():
                self.money.spend(price, times)
        for terms, times in by_terms.items():
            if terms is not None and not terms.is_shared:
                self.money.spend(terms.own, times)
        if any(terms is not None and terms.is_shared for terms in {*asked, *owed}):
            for cell, before, terms in zip(cells, asked, owed, strict=True):
                if before is not None and before.is_shared:
                    self.money.release(cell, before)
                if terms is not None and terms.is_shared:
                    self.money.pay(cell, terms)

    def refuse(self, cells: Sequence[CellName]) -> None:
        """Mark cells as not to be had, and release their money."""
        self._close_all(self._cells(cells), CellStatus.REFUSED)

    def cancel(self, cells: Sequence[CellName]) -> None:
        """Return cells to the pool, and release their money."""
        self._close_all(self._cells(cells), CellStatus.HOLE)

    def correct(self, row: str, column: str, value: Value) -> None:
        """Replace the value of a cell."""
        cell = self.index.cell(row, column)
        self.cells.correct(cell, value_from_json(self.index.columns[cell[1]], value))

    def extend(self, packed: bytes) -> None:
        """Append the rows of a packed table."""
        self.cells.extend(packed)

    def add_category(self, column: str, category: str, before: str | None, number: int) -> None:
        """Let a column hold one more category; O(n)."""
        j = self.index.column(column)
        new = with_category(self.index.columns[j], category, before)
        self.cells.recode(j, new)
        self.index.replace(j, new)
        self.categories.append((column, category, before))
        self.recoded = number

    def hold(self, cells: Sequence[CellName], who: str, until: datetime) -> None:
        """Keep cells for somebody."""
        self.open.hold(self._cells(cells), Hold(who, until))

    def let_go(self, cells: Sequence[CellName]) -> None:
        """Let others take cells that somebody has."""
        self.open.give_back(self._cells(cells))

    def set_back(self, by: timedelta) -> None:
        """Make the leases that end after the last event end earlier."""
        if self.time is not None and by > timedelta(0):
            self.open.set_back(self.time, by)

    def move_table(self, path: str, number: int) -> None:
        """Look for the founding table at another path."""
        self.table_path = path
        self._founding.moved(path, number)

    def to_plain(self) -> dict[str, Any]:
        """Return the state as arrays and JSON, given the original table; O(n p + cells ever asked for)."""
        changed = self.cells.to_plain()
        labels = changed.pop("labels", None)
        plain = {
            "number": self.number,
            "time": None if self.time is None else self.time.isoformat(),
            "table_number": self.table_number,
            "rounds": np.array(self.rounds, dtype=np.int64),
            "asks_by_round": [list(pair) for pair in sorted(self.asks_by_round.items())],
            **changed,
            "open": self.open.to_plain(),
            "last_terms": self.last_terms.to_plain(),
            "money": self.money.to_plain(),
            "contradictions": sorted(map(list, self.contradictions), key=repr),
            "new_budget": None if self.new_budget is None else self.new_budget.to_json(),
            "price_changes": [[number, content.to_json()] for number, content in self.price_changes],
        }
        # Only where there is something: the bytes, and so snapshots, of others stay as they were.
        if self.stage != "open":
            plain["stage"] = self.stage
        if labels is not None:
            plain["labels"] = labels
        if self.table_path is not None:
            plain["table_path"] = self.table_path
        if self.categories:
            plain["categories"] = [self.recoded, [list(each) for each in self.categories]]
        return plain

    @classmethod
    def restored(cls, original: AnyFounding, plain: dict[str, Any]) -> Self:
        """Return the state that `to_plain` returned; O(n p + cells ever asked for), 3 us per cell out.

        Raises LookupError, TypeError or ValueError if it cannot be a state of this table.
        """
        state = cls(original)
        number, categories = plain.get("categories", (0, []))
        for column, category, before in categories:
            state.add_category(column, category, before, int(number))
        state.cells.restore(plain)
        state.number, state.table_number = int(plain["number"]), int(plain["table_number"])
        state.time = None if plain["time"] is None else datetime.fromisoformat(plain["time"])
        state.rounds = plain["rounds"].tolist()
        state.asks_by_round = Counter(dict(plain["asks_by_round"]))
        state.open.restore(plain["open"])
        state.last_terms.restore(plain["last_terms"])
        state.money.restore(plain["money"], [(ask.terms, cell) for cell, ask in state.open.asked.items()])
        state.contradictions = {(row, column, value) for row, column, value in plain["contradictions"]}
        if plain["new_budget"] is not None:
            state.new_budget = BudgetChanged.from_json(plain["new_budget"])
        state.price_changes = [
            (int(number), PricesChanged.from_json(content)) for number, content in plain["price_changes"]
        ]
        state.stage = plain.get("stage", "open")
        if "table_path" in plain:
            state.move_table(plain["table_path"], state.number)
        return state

    def _cells(self, names: Iterable[tuple[str, str]]) -> list[Cell]:
        return [self.index.cell(row, column) for row, column in names]

    def _close_all(self, cells: Iterable[Cell], status: CellStatus) -> None:
        for cell in cells:
            self._close(cell, status)

    def _close(self, cell: Cell, status: CellStatus) -> None:
        """Set a cell's status; if it was asked for, close the ask and release its money."""
        ask = self.open.close(cell)
        if ask is not None:
            self.money.release(cell, ask.terms)
        self.cells.mark(cell, status)
