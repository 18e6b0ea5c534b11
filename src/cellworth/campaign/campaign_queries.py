"""What can be seen of a campaign: its table, money, cells, events, status and past."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cellworth import complete
from cellworth import model as models
from cellworth.arrays import IntArray
from cellworth.cached_property import cached_property
from cellworth.campaign import answer_file, open_cells, row_search
from cellworth.campaign import answers as reports
from cellworth.campaign.asking import Asker
from cellworth.campaign.assessment.assessment import Assessment
from cellworth.campaign.assessment.status import Gain, Judging, Status, Totals, totals_of
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.campaign_events import Stage
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.clock import Times, clock_problem
from cellworth.campaign.current_cells import (
    CellArrays,
    CellWorths,
    RowRecord,
    StatusWord,
    counts_labels,
    row_records,
)
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import Library, Log, cell_frame, check_moment, records
from cellworth.campaign.settings import check_strategy, read_options, strategy_of
from cellworth.campaign.undecided_rows import RowPolicies, warn_of_sample
from cellworth.forecasting import Outlook, StopAdvice, StopRule
from cellworth.prices import Prices
from cellworth.prices.currency import money_text
from cellworth.progress import Steps
from cellworth.strategy import Purchase, Strategy
from cellworth.table import Column
from cellworth.table.files import AnyFile
from cellworth.table.read_options import ReadOptions

if TYPE_CHECKING:
    from cellworth.policy import NextStep, Policy


class CampaignQueries:
    """The part of `Campaign` that only reads; every method first catches up with the log.

    A replay has nothing else to show: it records nothing.
    """

    def __init__(self, log: Log, assessed: Assessment | None = None) -> None:
        self._log = log
        self.name, self.created = log.name, log.created
        self.strategy = check_strategy(log.settings)
        self.seed: int = log.settings["seed"]
        self.read_only = log.read_only
        self._in_force = BudgetAndPrices(log)
        self._asker = Asker(log, self._in_force)
        self.assessment = Assessment(log, self._in_force, assessed)
        self._decisions = RowPolicies(log)

    @cached_property
    def settled(self) -> Strategy:
        """The strategy's parts, as chosen on the table at the start if it left any open."""
        return strategy_of(self._log.settings)

    @property
    def read_options(self) -> ReadOptions:
        """How the file of the original table was written; new rows are read the same way."""
        return read_options(self._log.settings)

    @property
    def budget(self) -> float | None:
        """The most that may be spent in the whole campaign, as it is now; None for no limit."""
        self._log.refresh()
        return self._in_force.budget

    @property
    def stage(self) -> Stage:
        """Whether it is "open", "closed" or "archived"; see `Campaign.change_stage`."""
        return self._log.newest().stage

    @property
    def prices(self) -> Prices:
        """The prices of cells that are asked for now."""
        self._log.refresh()
        return self._in_force.prices

    @property
    def table(self) -> Any:
        """The table with all answers filled in: a `Table`, or a `BlockTable` if it is in row blocks."""
        return self._log.newest().table()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose cells can be told: those of the table, and last the one of the labels, if any."""
        return self._log.state.index.columns

    @property
    def n_unlabelled(self) -> int:
        """How many rows have no label; 0 without a target."""
        state = self._log.newest()
        lacking = (CellStatus.HOLE, CellStatus.ASKED, CellStatus.REFUSED)
        return sum(state.count(each, labels=True) for each in lacking)

    @property
    def counts_labels(self) -> bool:
        """Whether labels are bought like cells: they have a price now, or somebody has dealt with one."""
        return counts_labels(self._log.newest(), self._in_force.prices)

    @property
    def original(self) -> Any:
        """The table that the campaign started with: a `Table`, or a `BlockTable` if it is in row blocks."""
        return self._log.original

    @property
    def row_id(self) -> str | None:
        """The column that the row ids come from; None if rows are numbered."""
        return self._log.founding.row_id

    @property
    def number(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._log.newest().number

    @property
    def spent(self) -> float:
        """What the answers have cost, in the currency of the prices."""
        return self.totals().spent

    @property
    def reserved(self) -> float:
        """What the cells that are out now will cost."""
        return self.totals().reserved

    @property
    def left(self) -> float | None:
        """Budget minus spent and reserved; None without a budget, negative if late answers exceed it."""
        return self.totals().left

    def totals(self) -> Totals:
        """Return money and cell counts, all as of the same moment; O(new events)."""
        self._log.newest()
        return self._totals_so_far()

    def _totals_so_far(self) -> Totals:
        """Return the totals as of the last event that was read."""
        return totals_of(self._log.state, self._in_force.prices, self._in_force.budget, self._log.now())

    def times(self) -> Times:
        """Return the time of the last event, that of the clock, and what is wrong if they are far apart."""
        last, now = self._log.newest().time or self.created, self._log.clock_time()
        return Times(last, now, clock_problem(self.name, last, now))

    def open_purchases(self) -> list[Purchase]:
        """Return the cells that are out now, in the order they were asked for."""
        return open_cells.open_purchases(self._log.newest(), self._log.now(), self._in_force.groups)

    def open_page(
        self,
        after: int = 0,
        most: int = 100,
        *,
        row: str | None = None,
        column: str | None = None,
        asked_by: str | None = None,
        holder: str | None = None,
        free: bool = False,
        row_contains: str | None = None,
        by_row: bool = False,
    ) -> open_cells.OpenPage:
        """Return at most ``most`` of the cells that are out, in the order they were asked for.

        ``after`` is the previous page's, 0 for the first; answers in between shift nothing. The filters keep
        cells in this row or column, in rows whose id contains a text, asked for or held by this person, or
        ``free``. With ``by_row``, the cells of a row come together, in the order of the table. O(cells out)
        in a few passes over arrays: about 1 ms for 65,000.
        """
        wanted = open_cells.Wanted(row, column, asked_by, holder, free, row_contains)
        return open_cells.open_page(
            self._log.newest(), self._log.now(), self._in_force.groups, wanted, after, most, by_row
        )

    def open_counts(self) -> open_cells.OpenCounts:
        """Return how many cells are out now: in all, free, by column, by asker and by holder."""
        return open_cells.open_counts(self._log.newest(), self._log.now())

    def faults(
        self, answers: Iterable[tuple[object, str, object]], *, unsolicited: bool = False
    ) -> list[tuple[int, str]]:
        """Return what is wrong with each of the answers that `tell` rejects: its position, and why."""
        return reports.faults(self._log.newest(), answers, unsolicited=unsolicited)

    def check_names(self, row: str | None = None, column: str | None = None) -> None:
        """Raise DataError, suggesting the closest name, if there is no such row or column."""
        index = self._log.newest().index
        if row is not None:
            index.row(row)
        if column is not None:
            index.cell(index.rows.name(0), column)

    def cells_named(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        """Return the row and column of cells written as ROW:COLUMN; DataError if there is no such cell."""
        return answer_file.parse_cells(texts, self._log.newest().index)

    def cells_in_file(self, path: AnyFile) -> list[tuple[str, str]]:
        """Return the row and column of the cells that a file lists; WrongAnswersError names wrong lines."""
        return answer_file.read_cells(path, self._log.newest().index)

    def rows(self, after: int = 0, most: int = 100) -> list[RowRecord]:
        """Return rows as they are now, with the status of each cell, skipping the first ``after`` rows."""
        return self.rows_at(range(max(after, 0), max(after, 0) + most))

    def search_rows(
        self,
        after: int = 0,
        most: int = 100,
        *,
        row_contains: str = "",
        column: str | None = None,
        status: Iterable[StatusWord] = (),
        without: str | None = None,
        sort: str | None = None,
        descending: bool = False,
    ) -> row_search.RowPage:
        """Return at most ``most`` rows whose id contains a text, or with a cell of some status.

        The cell is that of ``column``, or of any if it is None; ``status`` are some of "known", "bought",
        "out", "refused" and "missing". ``without`` is a column in which the row has no value. ``after`` is
        the previous page's, 0 for the first. A call looks at 1,000,000 rows at most, so a page may be short,
        or empty: ``after`` is None when all were looked at. Reads no file for what is bought, out or refused
        but to show it, else one column of these rows. With ``sort``, all rows are looked at, and come in the
        order of that column's values; of a table in row blocks, the first 10,000 of them.
        """
        wanted = row_search.RowFilter(row_contains, column, tuple(status), without)
        state, time, after = self._log.newest(), self._log.now(), max(after, 0)
        if sort is None:
            return row_search.search_rows(state, time, wanted, after, most)
        return row_search.sorted_page(state, time, wanted, row_search.RowOrder(sort, descending), after, most)

    def ordered_rows(self, wanted: row_search.RowFilter, order: row_search.RowOrder) -> IntArray:
        """Return the places of rows as of the last event read; of row blocks the first 10,000. O(n)."""
        return row_search.ordered_rows(self._log.state, self._log.now(), wanted, order)

    @property
    def can_be_sorted(self) -> bool:
        """Whether the table is short enough for `ordered_rows`."""
        return row_search.can_be_sorted(self._log.state)

    def some_rows(self) -> list[str]:
        """Return the ids of rows, to complete what somebody types: all, or a sample of row blocks."""
        return list(self._log.newest().index.rows.alike())

    def rows_at(self, places: Iterable[int]) -> list[RowRecord]:
        """Return the rows at some positions, counted from 0, as they are now."""
        return row_records(self._log.newest(), self._log.now(), places)

    def row(self, row: object) -> RowRecord:
        """Return one row as it is now; DataError suggesting the closest id if there is none."""
        place = self._log.newest().index.row(row)
        return row_records(self._log.state, self._log.now(), [place])[0]

    def cells(self, first: int = 0, last: int | None = None) -> CellArrays:
        """Return cells as arrays: status, price, and what they are worth to the strategy now.

        Of all rows, or from ``first`` up to before ``last``; of row blocks at most 4,000,000 cells. Costs the
        rounds since the last cache, and one more if the table has changed, apart from those of asks.
        """
        self._log.refresh()
        return self.worths.cells(first, last)

    @cached_property
    def worths(self) -> CellWorths:
        """What cells are worth and cost, in all, as of the last event read; see `cells`."""
        return self._log.founding.worths(self._log, self._in_force, self._asker.make_rounds)

    def fill(self, level: float = 0.9) -> complete.FilledTable:
        """Fill the table as it is now with the strategy's completer, with intervals if it provides them.

        Unlike that of `cellworth.fill`, most strategies' completer ignores labels. Costs a fit from scratch.
        """
        return complete.fill(self.table, self.settled.completer, level=level)

    def model(self, **settings: Any) -> models.CompletingClassifier | models.CompletingRegressor:
        """Return a model of the target, chosen on and fitted to the table as it is now.

        It takes rows with holes, as a `Table` or as in ``Table.encode().X``, and predicts labels as you write
        them. ``settings`` are those of `CompletingClassifier` and `CompletingRegressor`: ``seconds=60``, ...
        Of row blocks it learns from the rows that the store keeps, 4,000 to 8,000, with their answers.
        """
        rows = self._log.founding.assessed(self._log)
        warn_of_sample(rows, "the model")
        return models.model_of(rows.newest().table(), **settings)

    def policy(self, **settings: Any) -> Policy:
        """Return a policy for new rows: which cell next, by the model in use and the campaign's prices.

        ``settings`` are those of `cellworth.policy.Policy`: ``error_cost=500``, ``confidence=0.95``, ...;
        ``model`` is the name of a candidate. Costs a fit, once for each state of the table. See also `model`.
        """
        return self._decisions.policy(self.prices, self.assessment.cache, self.seed, settings)

    def next_cell(self, row: object, **settings: Any) -> NextStep:
        """Return what to measure next in one row of the table, given by its id; see `policy`.

        Cells that are asked for or refused are left out. What is measured is recorded with
        ``tell(..., unsolicited=True)``; a row that is new to the table is added with `extend`.
        """
        policy = self.policy(**settings)
        return self._decisions.steps(policy, np.array([self.table.row_index(row)]))[0]

    def undecided(self, **settings: Any) -> list[NextStep]:
        """Return next steps of rows without a label, of row blocks 1,000, if a cell is worth its price."""
        return self._decisions.undecided(self.policy(**settings))

    def status(
        self, *, until: StopRule | None = None, progress: Steps | None = None, **settings: Any
    ) -> Status:
        """Report how the campaign, or a replay of it, is doing: money, cells, learning curve and forecast.

        ``until``, by default ``StopRule()``, says whether to stop; ``progress`` gets the points scored and
        their number; ``settings`` and the cost are those of `cellworth.campaign.assessment.status.Judging`.
        """
        return self.assessment.status(Judging(until=until or StopRule(), **settings), progress)

    def gain_since(self, number: int) -> Gain | None:
        """Return how much the score has risen since an event, on the same rows; None without a score."""
        return self.assessment.gain_since(number)

    def forecast(
        self, *, model: Any = "auto", seed: int = 0, n_jobs: int | None = None, progress: bool = False
    ) -> Outlook:
        """Forecast the score that more money would buy, from the table as it is now.

        It is the forecast of `status`: of the same model, unless ``model`` is another; the parameters are
        those of `cellworth.forecast`. Refused cells are not counted on. After three rounds with answers,
        what they brought is weighed in. DataError if nothing can be forecast.
        """
        return self.assessment.forecast(model=model, seed=seed, n_jobs=n_jobs, progress=progress)

    def advice(self, until: StopRule | None = None) -> StopAdvice | None:
        """Say by a rule whether it is worth spending more; None if nothing can be forecast.

        Uses the last forecast, of any process, O(n p), or makes that of `status`.
        """
        return self.assessment.advice(until)

    def history(self, frame: Library | None = None, *, after: int = 0, most: int | None = None) -> Any:
        """Return the events as a list of dicts, or a frame with one row per cell; see `events`."""
        events = self.events(after, most)
        return records(events) if frame is None else cell_frame(events, frame)

    def events(self, after: int = 0, most: int | None = None) -> list[Event]:
        """Return the events numbered above ``after``, at most ``most`` of them, oldest first."""
        return list(self._log.events(after, most))

    def replay(self, until: int | datetime) -> Self:
        """Return a read-only view of the campaign as it was after an event, by number, or at a time."""
        return type(self)(Log(self._log.store, self.name, until=check_moment(until)), self.assessment)

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Within this context, everything read is as of the event that is the newest now; O(new events)."""
        return self._log.standing_still()

    def refresh(self) -> bool:
        """Read the log to its end, and return whether there was anything new. O(new events)."""
        return self._log.refresh()

    @property
    def last_read(self) -> int:
        """The number of the newest event that this object has read, without querying the store."""
        return self._log.state.number

    @property
    def table_number(self) -> int:
        """The number of the last event read that changed the table; 0 if none did."""
        return self._log.state.table_number

    def close(self) -> None:
        """Save the newest round for others, and close the store if the campaign opened it."""
        self._asker.leave()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._log.state
        n, p = state.index.n_rows, state.index.features
        spent = money_text(state.money.spent, self._in_force.prices.currency)
        done = f"{state.number} event{'s' * (state.number != 1)}, {spent} spent"
        return f"<campaign {self.name!r}, {self.strategy}: {n} rows, {p} columns, {done}>"
