"""A campaign: the long-lived object for buying cells of a table with real money."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from cellworth.campaign import answer_file, bulk_answers, open_cells
from cellworth.campaign import answers as reports
from cellworth.campaign import events as kinds
from cellworth.campaign.answers import Answers, Cells
from cellworth.campaign.asking import Asker
from cellworth.campaign.cell_records import CellArrays, RowRecord, cell_arrays, row_records
from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE, parse_lease
from cellworth.campaign.log import Clock, Library, Log, Make, cell_frame, check_moment, records, utc_now
from cellworth.campaign.new_rows import Rows, extended
from cellworth.campaign.self_assessment import SelfAssessment
from cellworth.campaign.settings import make_record, only_name, opened, strategy_of
from cellworth.campaign.status import Gain, Judging, Status, Totals, totals_of
from cellworth.campaign.stores import Store
from cellworth.campaign.wish import Wish
from cellworth.complete import FilledTable, fill
from cellworth.model import CompletingClassifier, CompletingRegressor, model_of
from cellworth.outlook import Outlook, StopAdvice, StopRule
from cellworth.prices import AnyPrices, Prices
from cellworth.prices.currency import money_text
from cellworth.progress import Steps
from cellworth.strategy import Batch, Purchase
from cellworth.table import AnyTable, Table, as_table
from cellworth.table.files import AnyFile


class Campaign:
    """Ask for cells, tell their values, refuse those that cannot be obtained; never lose an answer.

    Start one with `create`, resume it with `open`. Its state is the original table and an append-only log of
    events: any number of processes may work on one campaign, and any moment of it can be replayed. Every read
    first catches up with the log. Use each object from one thread at a time. Asking for a cell reserves its
    price; telling its value spends it; refusing or cancelling it, or letting its lease expire, releases it,
    except fees that other cells owe, too. An answer that arrives later still counts, and still costs.

    ``name``, ``strategy``, ``prices``, ``budget`` (None: no limit), ``seed``, ``created`` (UTC): what it was
    created with; ``settled``: the strategy's parts; ``assessment``: behind `status`; ``read_only``: a replay.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Campaign, Prices, Table
    >>> from cellworth.campaign.stores import MemoryStore
    >>> rng = np.random.default_rng(0)
    >>> X = np.where(rng.random((60, 3)) < 0.4, np.nan, rng.normal(size=(60, 3)))
    >>> table = Table.from_arrays(X, rng.random(60) < 0.5, columns=["a", "b", "c"])
    >>> campaign = Campaign.create(table, prices=Prices.same(2.0), budget=10, store=MemoryStore())
    >>> batch = campaign.ask(count=2)
    >>> campaign.tell({(batch[0].row, batch[0].column): 1.5})
    1
    >>> campaign.spent, campaign.reserved, campaign.left
    (2.0, 2.0, 6.0)
    """

    def __init__(self, log: Log, assessed: SelfAssessment | None = None) -> None:
        self._log = log
        self.name, self.created = log.name, log.created
        self.budget: float | None = log.settings["budget"]
        self.settled = strategy_of(log.settings)
        self.strategy = self.settled.name
        self.prices = Prices.from_dict(log.settings["prices"])
        self.seed: int = log.settings["seed"]
        self.read_only = log.read_only
        self._groups = {column: group.name for group in self.prices.groups for column in group.columns}
        self._asker = Asker(log, self.prices, self._groups)
        self.assessment = SelfAssessment(log, self.prices, self.budget, assessed)

    @classmethod
    def create(
        cls,
        table: AnyTable,
        *,
        target: str | None = None,
        prices: AnyPrices | None = None,
        strategy: str = "recommended",
        budget: float | None = None,
        store: str | Path | Store = "sqlite:///study.db",
        name: str = "study",
        seed: int = 0,
        who: str | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Start a campaign on a table with holes; the table is stored permanently, unchanged.

        A frame or the path of a file may stand for the table; ``target`` is its column to predict. See
        `Prices.of` for prices, by default 1 per cell; without a budget, spending has no limit. ``strategy``
        is one of `cellworth.strategy.names`. In ``store``, a URL or an open store, the name must be new.
        """
        said = as_table(table, target=target), Prices.of(prices), strategy
        with opened(store) as (place, owned):
            time = Log.clock_of(place, clock)()
            place.create(make_record(name, *said, budget=budget, seed=seed, who=who, time=time))
            return cls(Log(place, name, clock, owns_store=owned))

    @classmethod
    def open(cls, store: str | Path | Store, name: str | None = None, *, clock: Clock = utc_now) -> Self:
        """Resume a campaign, the store's only one without a name; O(n p + cells out + 2,000 events)."""
        with opened(store) as (place, owned):
            return cls(Log(place, only_name(place) if name is None else name, clock, owns_store=owned))

    def ask(
        self,
        budget: float | None = None,
        count: int | None = None,
        *,
        who: str | None = None,
        lease: str | timedelta | None = ASK_LEASE,
        key: str | None = None,
        until: StopRule | None = None,
    ) -> Batch:
        """Ask for the cells most worth buying now, in the order in which they were chosen.

        ``budget`` and ``count`` limit the money and the cells; with neither, the ask uses all that is left of
        the campaign's budget. ``who`` is the person asking. The cells are reserved for ``lease``, such as
        "7d", "12h" or "30m"; None never expires. Requests with the same ``key`` are recorded once and all get
        the same batch. It is empty if the money buys nothing. Costs a selection and, if the table has changed
        since the last ask, one warm completion and scoring. A replay returns what was asked for next, if so.

        If ``until``, a rule to stop, says that the next money is not worth it, the batch is empty and a
        `StopWarning` gives the reason; see `advice` for its cost. Without it, cells are asked for in any
        case, with a `StopWarning` if the last forecast, of a `status` in any process, says stop: O(n p).
        """
        wish = Wish(budget, count, parse_lease(lease))
        stopped = self.assessment.says_stop(until, key)
        return self._asker.ask(wish, who=who, key=key, stopped=stopped)

    def preview(self, budget: float | None = None, count: int | None = None) -> Batch:
        """Return what `ask` would ask for now, at the same cost, without recording or reserving anything."""
        return self._asker.preview(Wish(budget, count, None))

    def tell(
        self,
        answers: Answers,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        price: float | None = None,
    ) -> int:
        """Record values of cells, all of them or none, and return how many were new; O(answers).

        Answers map (row, column) to value, or are triples (row, column, value), with values as you write
        them: numbers, strings, booleans, dates or ISO strings. Telling the same again records nothing.
        ``who`` and ``key`` are as in `ask`; ``unsolicited`` also accepts cells never asked for; ``price`` is
        what each answer cost, by default its own price and a visit or fee not paid yet. An OverspentWarning
        says if ``left`` is below 0. Raises DataError if a cell does not exist, was never asked for, or cannot
        hold the value; ConflictError if another value is known or the key used.
        """
        make = reports.Telling(answers, unsolicited=unsolicited, price=price)
        event = self._log.write(kinds.Told, make, who=who, key=key, request=make.request)
        reports.warn_if_overspent(event, self.totals())
        return kinds.size(event)

    def tell_file(
        self,
        path: AnyFile,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        encoding: str | None = None,
    ) -> answer_file.FileResult:
        """Record the answers in a file: all of them or, if any line is wrong, none; O(n + p + lines).

        See `tell` for the keywords and `cellworth.campaign.answer_file.read_answers` for the file. Raises
        WrongAnswersError, or ConflictingAnswersError if the only problem is that different values are known.
        """
        file = bulk_answers.FileTelling(path, self._log, encoding=encoding, unsolicited=unsolicited)
        event = file.write(who=who, key=key)
        reports.warn_if_overspent(event, self.totals())
        return file.result(kinds.size(event))

    def check_file(self, path: AnyFile, *, encoding: str | None = None) -> answer_file.FileCheck:
        """Return what `tell_file` would do with a file, or raise what it would raise; records nothing."""
        lines = answer_file.read_answers(path, self.table, encoding=encoding)
        return answer_file.check_answers(self._log.state, path, lines)

    def refuse(self, cells: Cells, reason: str, *, who: str | None = None) -> int:
        """Record that cells cannot be obtained, so they are never asked for again; return how many are new.

        A value that arrives anyway is accepted. Refusing a cell that has a value is a ConflictError.
        """
        pairs = reports.as_cells(cells)
        return self._write(kinds.Refused, lambda state, _: reports.refused(state, pairs, reason), who)

    def cancel(self, cells: Cells, *, who: str | None = None) -> int:
        """Return asked cells to the pool and release their money; return how many were still out."""
        pairs = reports.as_cells(cells)
        return self._write(kinds.Cancelled, lambda state, _: reports.cancelled(state, pairs), who)

    def correct(
        self, row: object, column: str, value: object, *, who: str | None = None, reason: str | None = None
    ) -> bool:
        """Replace a wrong value; the old one stays in the log. Return False if the value is the same."""
        change = reports.Change(row, column, value, reason)
        return self._write(kinds.Corrected, lambda state, _: reports.corrected(state, change), who) > 0

    def extend(self, rows: Rows, *, who: str | None = None) -> int:
        """Append rows with new ids to the table, and return how many.

        Pass a Table from ``Table.read(path, **campaign.table.keywords())``, or {row id: {column: value}}.
        """
        return self._write(kinds.Extended, lambda state, _: extended(state, rows, self.prices), who)

    def take(self, cells: Cells | int, *, who: str, lease: str | timedelta = TAKE_LEASE) -> list[Purchase]:
        """Take cells that are out, so that nobody else works on them in the meantime.

        Takes all the cells named or, if one is unavailable, none; a number takes that many cells that nobody
        has, in the order they were asked for. Taking them again renews the lease. Returns them with
        ``holder`` and ``held_until``. Answers from others are still recorded. Raises ConflictError if
        somebody else has a cell or it is no longer out; DataError if a cell was never asked for.
        """
        event = self._log.write(kinds.Taken, open_cells.Taking(cells, who, lease), who=who)
        return open_cells.purchases_of(self._log.state, event, self._groups)

    def give_back(self, cells: Cells, *, who: str) -> int:
        """Give back cells you have taken, and return how many; ConflictError if somebody else has one."""
        kinds.check_text("who", who)
        pairs = reports.as_cells(cells)
        return self._write(
            kinds.GivenBack, lambda state, time: open_cells.given_back(state, time, pairs, who), who
        )

    @property
    def table(self) -> Table:
        """The table with all answers filled in."""
        return self._log.newest().table()

    @property
    def original(self) -> Table:
        """The table that the campaign started with."""
        return self._log.original

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
        return totals_of(self._log.newest(), self.prices, self.budget, self._log.now())

    def open_purchases(self) -> list[Purchase]:
        """Return the cells that are out now, in the order they were asked for."""
        return open_cells.open_purchases(self._log.newest(), self._log.now(), self._groups)

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
    ) -> open_cells.OpenPage:
        """Return at most ``most`` of the cells that are out, in the order they were asked for.

        ``after`` is the previous page's, 0 for the first; answers in between shift nothing. The filters keep
        cells in this row or column, asked for or held by this person, or ``free``. O(cells out), 0.1 us each.
        """
        wanted = open_cells.Wanted(row, column, asked_by, holder, free)
        return open_cells.open_page(self._log.newest(), self._log.now(), self._groups, wanted, after, most)

    def rows(self, after: int = 0, most: int = 100) -> list[RowRecord]:
        """Return rows as they are now, with the status of each cell, skipping the first ``after`` rows."""
        return row_records(self._log.newest(), self._log.now(), max(after, 0), max(after, 0) + most)

    def row(self, row: object) -> RowRecord:
        """Return one row as it is now; DataError suggesting the closest id if there is none."""
        place = self._log.newest().index.row(row)
        return row_records(self._log.state, self._log.now(), place, place + 1)[0]

    def cells(self) -> CellArrays:
        """Return all cells as arrays: status, price, and what they are worth to the strategy now.

        Costs the rounds since the last cache, and one more if the table has changed since. They run
        separately from the campaign's own rounds: the next ask is neither changed nor delayed.
        """
        return cell_arrays(self._log.newest(), self.prices, self._asker.make_rounds())

    def fill(self, level: float = 0.9) -> FilledTable:
        """Fill the table as it is now with the strategy's completer, with intervals if it provides them.

        Unlike that of `cellworth.fill`, most strategies' completer ignores labels. Costs a fit from scratch.
        """
        return fill(self.table, self.settled.completer, level=level)

    def model(self, **settings: Any) -> CompletingClassifier | CompletingRegressor:
        """Return a model of the target, chosen on and fitted to the table as it is now.

        It takes rows with holes, as a `Table` or as in ``Table.encode().X``, and predicts labels as you write
        them. ``settings`` are those of `CompletingClassifier` and `CompletingRegressor`: ``seconds=60``, ...
        """
        return model_of(self._log.newest().table(), **settings)

    def status(
        self, *, until: StopRule | None = None, progress: Steps | None = None, **settings: Any
    ) -> Status:
        """Report how the campaign, or a replay of it, is doing: money, cells, learning curve and forecast.

        ``until``, by default ``StopRule()``, says whether to stop; ``progress`` gets the points scored and
        their number; ``settings`` are those of `cellworth.campaign.status.Judging`, which states the cost.
        """
        return self.assessment.status(Judging(until=until or StopRule(), **settings), progress)

    def gain_since(self, number: int) -> Gain | None:
        """Return how much the score has risen since an event, on the same rows; None without a score."""
        return self.assessment.gain_since(number)

    def forecast(self, **settings: Any) -> Outlook:
        """Forecast the score that more money would buy, from the table as it is now.

        ``settings`` are those of `cellworth.forecast`: model, seconds, seed, n_jobs and progress. Cells
        refused are not counted on. After four rounds with answers, the campaign's own curve is weighed in.
        """
        return self.assessment.forecast(**settings)

    def advice(self, until: StopRule | None = None) -> StopAdvice | None:
        """Say by a rule whether the next money is worth it; None if nothing can be forecast.

        Uses the last forecast, of any process, O(n p), or makes that of `status`.
        """
        return self.assessment.advice(until)

    def write_report(self, path: str | Path, *, progress: Steps | None = None) -> None:
        """Write one HTML page about the campaign: money, cells, learning curve, and what is still out."""
        from cellworth.report import write_report  # the one import from a lower layer

        write_report(self, path, progress=progress)

    def history(self, frame: Library | None = None, *, after: int = 0, most: int | None = None) -> Any:
        """Return the events as a list of dicts, or a frame with one row per cell; O(cells). See `events`."""
        events = self.events(after, most)
        return records(events) if frame is None else cell_frame(events, frame)

    def events(self, after: int = 0, most: int | None = None) -> list[kinds.Event]:
        """Return the events numbered above ``after``, at most ``most`` of them, oldest first; O(cells)."""
        return list(self._log.events(after, most))

    def replay(self, until: int | datetime) -> Self:
        """Return a read-only view of the campaign after an event, by number, or at a time; O(events then)."""
        return type(self)(Log(self._log.store, self.name, until=check_moment(until)), self.assessment)

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
        (n, p), state = self._log.state.values.shape, self._log.state
        spent = money_text(state.money.spent, self.prices.currency)
        done = f"{state.number} event{'s' * (state.number != 1)}, {spent} spent"
        return f"<campaign {self.name!r}, {self.strategy}: {n} rows, {p} columns, {done}>"

    def _write(self, kind: type[kinds.Content], make: Make, who: str | None) -> int:
        return kinds.size(self._log.write(kind, make, who=who))
