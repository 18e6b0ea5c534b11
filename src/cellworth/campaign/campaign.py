"""A campaign: the long-lived object for buying cells of a table with real money."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from cellworth.campaign import answer_file, bulk_answers, campaign_events, cell_events, open_cells
from cellworth.campaign import answers as reports
from cellworth.campaign.answers import Answers, Cells
from cellworth.campaign.budget_and_prices import NewBudget, NewPrices
from cellworth.campaign.campaign_events import NewCategory, NewStage
from cellworth.campaign.campaign_queries import CampaignQueries
from cellworth.campaign.clock import new_time
from cellworth.campaign.event_codec import Content, check_optional_text, check_text, size
from cellworth.campaign.founding_table import NewPlace, founded_on
from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE, parse_lease
from cellworth.campaign.log import Clock, Log, Make, utc_now
from cellworth.campaign.new_rows import Rows, extended, request_of
from cellworth.campaign.settings import make_record, only_name, opened
from cellworth.campaign.state import State
from cellworth.campaign.stores import Store
from cellworth.errors import ContradictionError
from cellworth.forecasting import StopRule
from cellworth.prices import AnyPrices, Prices
from cellworth.progress import Steps
from cellworth.strategy import Batch, Purchase
from cellworth.table import AnyTable
from cellworth.table.files import AnyFile


class Campaign(CampaignQueries):
    """Ask for cells, tell their values, refuse those that cannot be obtained; never lose an answer.

    Start one with `create`, resume it with `open`. Its state is the original table and an append-only log of
    events: any number of processes may work on one campaign, and any moment of it can be replayed. Every read
    first catches up with the log. Use each object from one thread at a time. Asking for a cell reserves its
    price; telling its value spends it; refusing or cancelling it, or letting its lease expire, releases it,
    except fees that other cells owe, too. An answer that arrives later still counts, and still costs.

    ``name``, ``strategy``, ``seed``, ``created`` (UTC): what it was created with; ``settled``: the strategy's
    parts; ``assessment``: behind `status`; ``read_only``: a replay.

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

        A frame or the path of a file may stand for the table; ``target`` is its column to predict. A table
        in row blocks, from `Table.open`, stays where it is: the store keeps its path and the SHA-256 of its
        files, which must not change; if it is moved, see `move_table`. See
        `Prices.of` for prices, by default 1 per cell; without a budget, spending has no limit. ``strategy``
        is one of `cellworth.strategy.names`. In ``store``, a URL or an open store, the name must be new.
        """
        said = founded_on(table, target), Prices.of(prices), strategy
        with opened(store) as (place, owned):
            time = Log.clock_of(place, clock)()
            place.create(make_record(name, *said, budget=budget, seed=seed, who=who, time=time))
            return cls(Log(place, name, clock, owns_store=owned, engine=getattr(table, "engine", None)))

    @classmethod
    def open(
        cls,
        store: str | Path | Store,
        name: str | None = None,
        *,
        clock: Clock = utc_now,
        engine: Any = None,
    ) -> Self:
        """Resume a campaign, the store's only one without a name; O(n p + cells out + 2,000 events).

        If its table is in row blocks, that is O(cells out + 2,000 events), and they are processed on
        ``engine``, by default threads of this process; see `cellworth.blocks`.
        """
        with opened(store) as (place, owned):
            found = only_name(place, store) if name is None else name
            return cls(Log(place, found, clock, owns_store=owned, engine=engine))

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
        the same batch. It is empty if the money buys nothing; its ``note`` then names the lowest price. Costs
        a selection and, if the table has changed since the last ask, one warm completion and scoring. A
        replay returns what was asked for next, if so.

        If ``until``, a rule to stop, says that it is not worth spending more, the batch is empty and a
        `StopWarning` gives the reason; see `advice` for its cost. Without it, cells are asked for in any
        case, with a `StopWarning` if the last forecast, of a `status` in any process, says stop: O(n p).
        """
        wish = cell_events.Wish(budget, count, parse_lease(lease))
        self._log.check_clock()
        stopped = self.assessment.says_stop(until, key)
        return self._asker.ask(wish, who=who, key=key, stopped=stopped)

    def preview(self, budget: float | None = None, count: int | None = None) -> Batch:
        """Return what `ask` would ask for now, at the same cost, without recording or reserving anything."""
        return self._asker.preview(cell_events.Wish(budget, count, None))

    def tell(
        self,
        answers: Answers,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        price: float | None = None,
        insist: bool = False,
        reason: str | None = None,
    ) -> int:
        """Record values of cells, all of them or none, and return how many were new; O(answers).

        Answers map (row, column) to value, or are triples (row, column, value), with values as you write
        them: numbers, strings, booleans, dates or ISO strings; or a DataFrame with these columns, such as
        ``batch.to_frame()`` with a column ``value``. Telling the same again records nothing.
        ``who`` and ``key`` are as in `ask`; ``unsolicited`` also accepts cells never asked for; ``price`` is
        what each answer cost, by default its own price and a visit or fee not paid yet; ``reason`` a comment
        on the answers, for the log. An OverspentWarning says if ``left`` is below 0. Raises DataError if a
        cell does not exist, was never asked for, or cannot hold the value; QuestionedError, a DataError, if
        values are far outside what was seen in their columns (see `cellworth.table.seen_values`),
        unless you ``insist``; ConflictError if the key is used, or another value known: the answer is then
        kept in the log, and changes nothing; see `correct`.
        """
        make = reports.Telling(answers, unsolicited=unsolicited, price=price, insist=insist, reason=reason)
        try:
            event = self._log.write(cell_events.Told, make, who=who, key=key, request=make.request)
        except ContradictionError:
            self._write(cell_events.Contradicted, make.contradictions, who)
            raise
        reports.warn_if_overspent(event, self._totals_so_far())
        return size(event)

    def tell_file(
        self,
        path: AnyFile,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        insist: bool = False,
        encoding: str | None = None,
    ) -> answer_file.FileResult:
        """Record the answers in a file: all of them or, if any line is wrong, none; O(n + p + lines).

        See `tell` for the keywords and `cellworth.campaign.answer_file.read_answers` for the file, whose
        numbers, dates and marks of missing values are written as in the file of the campaign's table. Raises
        WrongAnswersError, or ConflictingAnswersError if the only problem is that different values are known.
        """
        path = self.read_options.file(path)
        with bulk_answers.without_collector():
            bulk = bulk_answers.bulk_telling(
                path, self._log, encoding, self.read_options, unsolicited=unsolicited, insist=insist
            )
            if bulk is not None:
                event = self._log.write(cell_events.Told, bulk, who=who, key=key, request=bulk.request)
                if bulk.fits:
                    reports.warn_if_overspent(event, self._totals_so_far())
                    return bulk.result(size(event))
        state = self._log.state
        lines = answer_file.read_answers(
            path, self.table, encoding=encoding, state=state, unsolicited=unsolicited, how=self.read_options
        )
        with answer_file.blame_lines(path, lines, self._log, unsolicited=unsolicited):
            triples = answer_file.triples(lines)
            new = self.tell(triples, who=who, key=key, unsolicited=unsolicited, insist=insist)
        return answer_file.result(lines, new)

    def check_file(self, path: AnyFile, *, encoding: str | None = None) -> answer_file.FileCheck:
        """Return what `tell_file` would do with a file, or raise what it would raise; records nothing."""
        path, state = self.read_options.file(path), self._log.state
        how = self.read_options
        lines = answer_file.read_answers(path, self.table, encoding=encoding, state=state, how=how)
        return answer_file.check_answers(state, path, lines)

    def refuse(self, cells: Cells, reason: str, *, who: str | None = None) -> int:
        """Record that cells cannot be obtained, so they are never asked for again; return how many are new.

        A value that arrives anyway is accepted. Refusing a cell that has a value is a ConflictError.
        """
        pairs = reports.as_cells(cells)
        return self._write(cell_events.Refused, lambda state, _: reports.refused(state, pairs, reason), who)

    def cancel(self, cells: Cells, *, who: str | None = None) -> int:
        """Return asked cells to the pool and release their money; return how many were still out."""
        pairs = reports.as_cells(cells)
        return self._write(cell_events.Cancelled, lambda state, _: reports.cancelled(state, pairs), who)

    def correct(
        self,
        row: object,
        column: str,
        value: object,
        *,
        who: str | None = None,
        reason: str | None = None,
        insist: bool = False,
    ) -> bool:
        """Replace a wrong value; the old one stays in the log. Return False if the value is the same.

        Raises QuestionedError as `tell` does, unless you ``insist``.
        """
        change = reports.Change(row, column, value, reason, insist)
        return self._write(cell_events.Corrected, lambda state, _: reports.corrected(state, change), who) > 0

    def extend(self, rows: Rows | AnyFile, *, who: str | None = None, key: str | None = None) -> int:
        """Append rows with new ids to the table, and return how many; ``key`` is as in `ask`.

        Pass {row id: {column: value}}, a DataFrame whose index or id column names the rows, a Table from
        ``Table.read(path, **campaign.table.keywords())``, or a file: its marks of missing values, decimal
        mark and dates are read as those of the campaign's table were, if that came from `Table.read`. Pass a
        `TextFile` to say how the file is written.
        """

        def make(state: State, _: datetime) -> campaign_events.Extended:
            return extended(state, rows, self._in_force.prices, self.read_options)

        request = None if key is None else request_of(rows)
        event = self._log.write(campaign_events.Extended, make, who=who, key=key, request=lambda _: request)
        return size(event)

    def add_category(
        self,
        column: str,
        category: str,
        *,
        before: str | None = None,
        who: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Let the cells of a column hold one more category; return False if they can already.

        For a value that no row had when the campaign began, whether of a feature or of a target of
        categories. Among ordered categories it comes ``before`` one of them; by default it is the highest.
        The next ask is chosen from scratch: what earlier rounds found out about the columns is forgotten.
        """
        make = NewCategory(column, category, before, reason)
        return self._write(campaign_events.CategoryAdded, make, who) > 0

    def take(
        self, cells: Cells | int, *, who: str, lease: str | timedelta = TAKE_LEASE, key: str | None = None
    ) -> list[Purchase]:
        """Take cells that are out, so that nobody else works on them in the meantime.

        Takes all the cells named or, if one is unavailable, none; a number takes that many cells that nobody
        has, in the order they were asked for. Taking them again renews the lease. Returns them with
        ``holder`` and ``held_until``. Answers from others are still recorded. With a ``key``, the same
        request sent again takes nothing more, and returns those of its cells that are still out. Raises
        ConflictError if somebody else has a cell or it is no longer out; DataError if a cell was never asked
        for.
        """
        self._log.check_clock()
        make = open_cells.Taking(cells, who, lease)
        event = self._log.write(cell_events.Taken, make, who=who, key=key, request=make.request)
        return open_cells.purchases_of(self._log.state, event, self._in_force.groups)

    def give_back(self, cells: Cells, *, who: str) -> int:
        """Give back cells you have taken, and return how many; ConflictError if somebody else has one."""
        check_text("who", who)
        pairs = reports.as_cells(cells)
        return self._write(
            cell_events.GivenBack, lambda state, time: open_cells.given_back(state, time, pairs, who), who
        )

    def release(self, cells: Cells, *, who: str | None = None, reason: str | None = None) -> int:
        """Take back cells that anybody has taken, for others to take, and return how many; they stay out."""
        pairs = reports.as_cells(cells)
        return self._write(
            cell_events.Released, lambda state, time: open_cells.released(state, time, pairs, reason), who
        )

    def set_clock(self, *, who: str | None = None, reason: str | None = None) -> bool:
        """Set the campaign's time by the clock, if they are far apart; return False if they are not.

        To be used once a wrong clock has dated events: `ask` and `take` are refused until then. Leases given
        out by a fast clock then end as much earlier as the time is set back.
        """
        check_optional_text("the reason", reason)
        log = self._log

        def make(*_: object) -> campaign_events.ClockSet | None:
            return new_time(log.last_time, log.clock_time(), reason)

        return self._write(campaign_events.ClockSet, make, who) > 0

    def change_budget(
        self, budget: float | None, *, who: str | None = None, reason: str | None = None
    ) -> bool:
        """Change the budget of the campaign, None for no limit; return False if it is the same.

        Raises ConflictError if the budget is below what is spent and reserved.
        """
        make = NewBudget(self._in_force, budget, reason)
        return self._write(campaign_events.BudgetChanged, make, who) > 0

    def change_prices(self, prices: AnyPrices, *, who: str | None = None, reason: str | None = None) -> bool:
        """Change the prices of cells that are asked for from now on; return False if they are the same.

        Cells asked for earlier cost what they were asked for at. See `Prices.of` for prices. Their currency
        is that of the campaign. Raises DataError if a cell of the table has no price.
        """
        make = NewPrices(self._in_force, prices, reason)
        return self._write(campaign_events.PricesChanged, make, who) > 0

    def change_stage(
        self, stage: campaign_events.Stage, *, who: str | None = None, reason: str | None = None
    ) -> bool:
        """Make the campaign "closed", "archived" or "open" again; return False if it is so already.

        A closed campaign can be read, and takes nothing: asks, answers and changes are ConflictErrors. Cells
        that are out stay out until their leases end. An archived one is also left out of the pages' list.
        """
        return self._write(campaign_events.StageChanged, NewStage(stage, reason), who) > 0

    def move_table(self, path: str | Path, *, who: str | None = None, reason: str | None = None) -> bool:
        """Say where a table in row blocks is now; return False if it is the place known already.

        All its files are read. DataError if they are not those that the campaign began with.
        """
        return self._write(campaign_events.TableMoved, NewPlace(self._log.founding, path, reason), who) > 0

    def write_report(self, path: str | Path, *, progress: Steps | None = None) -> None:
        """Write one HTML page about the campaign: money, cells, learning curve, and what is still out."""
        from cellworth.report import write_report  # the one import from a lower layer

        write_report(self, path, progress=progress)

    def _write(self, kind: type[Content], make: Make, who: str | None) -> int:
        return size(self._log.write(kind, make, who=who))
