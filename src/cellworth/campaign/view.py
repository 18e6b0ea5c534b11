"""What can be read off a campaign."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, overload

from cellworth.campaign.founding import check_format, registered
from cellworth.campaign.history import Library, Record, cell_frame, records
from cellworth.campaign.log import Log
from cellworth.campaign.places import Cell
from cellworth.campaign.results import fill_with_intervals, fit_model
from cellworth.campaign.row_records import RowRecord, row_records
from cellworth.campaign.state import State
from cellworth.campaign.tally import Tally, tally_of
from cellworth.complete import FilledTable
from cellworth.prices import Prices
from cellworth.strategy import Purchase
from cellworth.table import Table


class CampaignView:
    """The readable side of a campaign; `Campaign` adds what writes. Each look reads on in the log first.

    Attributes
    ----------
    name : str
    created : datetime
        In UTC.
    budget : float or None
        All that may be spent; None for no limit.
    strategy : str
    prices : Prices
    read_only : bool
        Whether this is a replay.
    """

    def __init__(self, log: Log) -> None:
        check_format(log.settings, log.name)
        self._log = log
        self.name = log.name
        self.created = log.created
        self.budget: float | None = log.settings["budget"]
        self.strategy: str = registered(log.settings["strategy"]).name
        self.prices = Prices.from_dict(log.settings["prices"])
        self.read_only = log.read_only
        self._groups = {column: group.name for group in self.prices.groups for column in group.columns}

    @property
    def table(self) -> Table:
        """The table with all answers in."""
        return self._newest().table()

    @property
    def original(self) -> Table:
        """The table that the campaign began with."""
        return self._log.original

    @property
    def number(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._newest().number

    @property
    def spent(self) -> float:
        """What the answers cost, in the money of the prices."""
        return self._newest().money.spent

    @property
    def reserved(self) -> float:
        """What the cells that are out now will cost."""
        state = self._newest()
        return state.money.reserved(self._expired_prices(state))

    @property
    def left(self) -> float | None:
        """What may still be asked for: budget less spent less reserved; None without a budget.

        Below 0 if answers came after their leases had run out and the money was given to others.
        """
        if self.budget is None:
            return None
        state = self._newest()
        return state.money.left(self.budget, self._expired_prices(state))

    def open_purchases(self) -> list[Purchase]:
        """Return the cells that are out now, in the order in which they were asked for."""
        state, time = self._newest(), self._log.now()
        return [self._purchase(state, cell, time) for cell in state.out(time)]

    def tally(self) -> Tally:
        """Return money and cells as they are now, all of the same moment; O(new events)."""
        state, time = self._newest(), self._log.now()
        return tally_of(state, self.budget, state.expired(time))

    def rows(self, after: int = 0, most: int = 100) -> list[RowRecord]:
        """Return rows as they are now, with the status of each cell; the first ``after`` rows are left out.

        O(cells that are returned).
        """
        state = self._newest()
        return list(row_records(state, self._log.now(), max(after, 0), max(after, 0) + most))

    def row(self, row: object) -> RowRecord:
        """Return one row as it is now; DataError with the closest id if there is no such row."""
        state = self._newest()
        place = state.places.row(row)
        return next(row_records(state, self._log.now(), place, place + 1))

    def complete(self, level: float = 0.9) -> FilledTable:
        """Fill the table as it is now, by the strategy's completer; with intervals where it has them.

        Costs a completion from scratch: the result depends on the table only, not on the rounds so far.
        """
        return fill_with_intervals(self.table, registered(self.strategy).completer, level)

    def model(self) -> Any:
        """Return a model of the target, fitted on the table as it is now.

        A scikit-learn pipeline of the strategy's completer, scaling, and logistic or ridge regression. It
        takes rows as ``Table.encode().X`` gives them, with holes, and predicts labels as you write them.
        """
        return fit_model(self.table, registered(self.strategy).completer)

    @overload
    def history(self, frame: None = None, *, after: int = 0, most: int | None = None) -> list[Record]: ...
    @overload
    def history(self, frame: Library, *, after: int = 0, most: int | None = None) -> Any: ...
    def history(
        self,
        frame: Literal["pandas", "polars", "pyarrow"] | None = None,
        *,
        after: int = 0,
        most: int | None = None,
    ) -> Any:
        """Return the events, the first one first.

        Parameters
        ----------
        frame : {"pandas", "polars", "pyarrow"}, optional
            Give a frame of that library, with a line for each cell of each event; else a list of dicts.
        after : int
            Only events with a higher number.
        most : int, optional
            So many events at most.
        """
        events = list(self._log.events(after, most))
        return records(events) if frame is None else cell_frame(events, frame)

    def close(self) -> None:
        """Let go of the store, if the campaign was given its address; a store object is its owner's."""
        if self._log.owns_store:
            self._log.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._log.state
        n, p = state.values.shape
        return (
            f"<campaign {self.name!r}, {self.strategy}: {n} rows, {p} columns, {state.number} events, "
            f"{state.money.spent:.2f} spent>"
        )

    def _newest(self) -> State:
        self._log.refresh()
        return self._log.state

    def _purchase(self, state: State, cell: Cell, time: datetime) -> Purchase:
        ask, held = state.asked[cell], state.holder(cell, time)
        row, column = state.places.names(cell)
        return Purchase(
            row,
            column,
            ask.price,
            ask.worth,
            self._groups.get(column),
            ask.why,
            ask.until,
            ask.who,
            None if held is None else held.who,
            None if held is None else held.until,
        )

    def _expired_prices(self, state: State) -> list[float]:
        return [state.asked[cell].price for cell in state.expired(self._log.now())]
