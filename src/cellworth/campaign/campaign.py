"""The long-lived object of a person who spends real money on the cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from cellworth.campaign import answer_file, open_cells
from cellworth.campaign import answers as reports
from cellworth.campaign import events as kinds
from cellworth.campaign.asking import Asker, Wish
from cellworth.campaign.cell_records import CellArrays, RowRecord, cell_arrays, row_records
from cellworth.campaign.cross_validation import fit_model
from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE, parse_lease
from cellworth.campaign.log import Clock, Library, Log, Make, cell_frame, check_moment, records, utc_now
from cellworth.campaign.new_rows import Rows, extended
from cellworth.campaign.settings import check_format, make_record, only_name, opened, registered
from cellworth.campaign.status import Gain, Judging, Status, Totals, gain_since, status_of, totals_of
from cellworth.campaign.stores import Store
from cellworth.complete import FilledTable, fill
from cellworth.prices import Prices
from cellworth.progress import Steps
from cellworth.strategy import Batch, Purchase
from cellworth.table import Table
from cellworth.table.files import AnyFile

Answers = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]
Cells = Iterable[tuple[object, str] | Purchase]


class Campaign:
    """Ask for cells, tell their values, refuse those that cannot be had; never lose an answer.

    Begin one with `create`, go on with `open`. Its state is the original table and a log of events that is
    only ever added to: any number of processes may work on one campaign, and any moment of it can be
    replayed. Whatever is looked at, the log is read to its end first. An object is for one thread at a time.
    Money that is asked for is reserved, spent when the value is told, and released when the cell is refused,
    cancelled, or its lease runs out. An answer that comes later still counts, and still costs.

    ``name``, ``strategy``, ``prices``, ``budget`` (None for no limit), ``seed`` and ``created`` (in UTC) are
    what it was created with; ``read_only`` says whether it is a replay.

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
    >>> campaign.refuse(batch[1:], "the sample is lost")
    1
    >>> campaign.spent, campaign.reserved, campaign.left
    (2.0, 0.0, 8.0)
    """

    def __init__(self, log: Log) -> None:
        check_format(log.settings, log.name)
        self._log = log
        self.name = log.name
        self.created = log.created
        self.budget: float | None = log.settings["budget"]
        self.strategy: str = registered(log.settings["strategy"]).name
        self.prices = Prices.from_dict(log.settings["prices"])
        self.seed: int = log.settings["seed"]
        self.read_only = log.read_only
        self._groups = {column: group.name for group in self.prices.groups for column in group.columns}
        self._asker = Asker(log, self.prices, self._groups)

    @classmethod
    def create(
        cls,
        table: Table,
        *,
        prices: Prices | None = None,
        strategy: str = "recommended",
        budget: float | None = None,
        store: str | Path | Store = "sqlite:///study.db",
        name: str = "study",
        seed: int = 0,
        who: str | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Begin a campaign on a table with holes, which is kept as it is, for ever.

        Without prices every cell costs 1; without a budget there is no limit to what may be spent. The
        strategy is the name of a registered one, see `cellworth.strategy.names`; the seed is for those that
        draw. The store is the URL of a database or an open store, in which the name must be new (else
        ConflictError). ``who`` begins it; the clock gives times with their time zone.
        """
        stated = prices or Prices.same(1.0)
        record = make_record(name, table, stated, strategy, budget=budget, seed=seed, who=who, time=clock())
        with opened(store) as (place, owned):
            place.create(record)
            return cls(Log(place, name, clock, owns_store=owned))

    @classmethod
    def open(cls, store: str | Path | Store, name: str | None = None, *, clock: Clock = utc_now) -> Self:
        """Go on with a campaign; its name may be left out if the store has only one. O(n p + events)."""
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
    ) -> Batch:
        """Ask for the cells that are most worth buying now; the first choice first.

        ``budget`` and ``count`` are the most money and the most cells to ask for; without a limit, all that
        is left of the campaign's budget is spent. ``who`` asks. The cells are reserved for the time of the
        lease, such as "7d", "12h" or "30m", None for ever; after that they may be asked for again. With the
        same ``key`` a request is answered once, and the same, however often it is sent. The batch is empty if
        nothing can be had for the money. Costs one warm completion with its scores if the table has changed
        since the last ask, and a selection. In a replay nothing is recorded.
        """
        return self._asker.ask(Wish(budget, count, parse_lease(lease)), who=who, key=key)

    def preview(self, budget: float | None = None, count: int | None = None) -> Batch:
        """Return what `ask` would ask for now, at the same cost; nothing is recorded or reserved."""
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

        Answers are a mapping of (row, column) to value, or triples (row, column, value), with values as you
        write them: numbers, texts, booleans, dates or ISO texts. The same value once more is not recorded,
        nor an error. ``who`` and ``key`` are as in `ask`; ``unsolicited`` takes cells that were never asked
        for; ``price`` is what each answer cost, by default what its cell was asked for at. Raises DataError
        if there is no such cell, it was never asked for, or its column cannot hold the value, and
        ConflictError if another value is known, or the key was used for other answers.
        """
        make = reports.Telling(answers, unsolicited=unsolicited, price=price)
        return kinds.size(self._log.write(kinds.Told, make, who=who, key=key, request=make.request))

    def tell_file(
        self,
        path: AnyFile,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        encoding: str | None = None,
    ) -> answer_file.FileResult:
        """Record the answers of a file: all of them or, if one line is wrong, none; O(n + p + lines).

        See `tell` for the keywords and `cellworth.campaign.answer_file.read_answers` for the file. The same
        file once more is no error. Raises WrongAnswersError, or ConflictingAnswersError if the only thing
        wrong is that other values are known; both name the lines.
        """
        lines = answer_file.read_answers(path, self.table, encoding=encoding)
        with answer_file.blame_lines(path, lines, self._log, unsolicited=unsolicited):
            new = self.tell(answer_file.triples(lines), who=who, key=key, unsolicited=unsolicited)
        return answer_file.result(lines, new)

    def check_file(self, path: AnyFile, *, encoding: str | None = None) -> answer_file.FileCheck:
        """Say what `tell_file` would do with a file, or raise what it would raise; nothing is recorded."""
        lines = answer_file.read_answers(path, self.table, encoding=encoding)
        return answer_file.check_answers(self._log.state, path, lines)

    def refuse(self, cells: Cells, reason: str, *, who: str | None = None) -> int:
        """Record that cells cannot be had: they are never asked for again. Return how many are new.

        A value that comes all the same is taken. Refusing a cell that has a value is a ConflictError.
        """
        pairs = reports.as_cells(cells)
        return self._write(kinds.Refused, lambda state, _: reports.refused(state, pairs, reason), who)

    def cancel(self, cells: Cells, *, who: str | None = None) -> int:
        """Give asked cells back to the pool, and their money. Return how many were still out."""
        pairs = reports.as_cells(cells)
        return self._write(kinds.Cancelled, lambda state, _: reports.cancelled(state, pairs), who)

    def correct(
        self, row: object, column: str, value: object, *, who: str | None = None, reason: str | None = None
    ) -> bool:
        """Replace a known value that was wrong; the old one stays in the log. False if it is the same."""
        change = reports.Change(row, column, value, reason)
        return self._write(kinds.Corrected, lambda state, _: reports.corrected(state, change), who) > 0

    def extend(self, rows: Rows, *, who: str | None = None) -> int:
        """Add rows with new ids at the end of the table and return how many.

        They are a Table with the same columns, read with ``Table.read(path, **campaign.table.keywords())``,
        or a mapping of row id to values by column name, which may leave columns out.
        """
        return self._write(kinds.Extended, lambda state, _: extended(state, rows, self.prices), who)

    def take(self, cells: Cells | int, *, who: str, lease: str | timedelta = TAKE_LEASE) -> list[Purchase]:
        """Take cells that are out, so that nobody else works on them meanwhile.

        Takes all of the cells that are named or, if one cannot be had, none; a number stands for that many
        cells that nobody has, those asked for first. After the lease others may take them; taking them once
        more renews it. Returns them with ``holder`` and ``held_until``. An answer by somebody else is
        recorded all the same: no answer is ever lost. Raises ConflictError if somebody else has a cell, who
        is named, or it is not out any more, and DataError if a cell was never asked for.
        """
        event = self._log.write(kinds.Taken, open_cells.Taking(cells, who, lease), who=who)
        return open_cells.purchases_of(self._log.state, event, self._groups)

    def give_back(self, cells: Cells, *, who: str) -> int:
        """Let others have cells that were taken, and return how many; ConflictError if another has one."""
        kinds.check_text("who", who)
        pairs = reports.as_cells(cells)
        return self._write(
            kinds.GivenBack, lambda state, time: open_cells.given_back(state, time, pairs, who), who
        )

    @property
    def table(self) -> Table:
        """The table with all answers in."""
        return self._log.newest().table()

    @property
    def original(self) -> Table:
        """The table that the campaign began with."""
        return self._log.original

    @property
    def number(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._log.newest().number

    @property
    def spent(self) -> float:
        """What the answers cost, in the money of the prices."""
        return self.totals().spent

    @property
    def reserved(self) -> float:
        """What the cells that are out now will cost."""
        return self.totals().reserved

    @property
    def left(self) -> float | None:
        """Budget less spent less reserved, None without a budget; below 0 if late answers cost more."""
        return self.totals().left

    def totals(self) -> Totals:
        """Return money and cells as they are now, all of the same moment; O(new events)."""
        return totals_of(self._log.newest(), self.budget, self._log.now())

    def open_purchases(self) -> list[Purchase]:
        """Return the cells that are out now, in the order in which they were asked for."""
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
        """Return at most ``most`` of the cells that are out, in the order in which they were asked for.

        ``after`` is what the page before said, 0 for the first: answers that come between two pages move
        nothing. Only cells of this row or column, that this person asked for, that this one has taken, or
        that are ``free`` are listed. O(cells that are out), a tenth of a microsecond each, and O(page).
        """
        wanted = open_cells.Wanted(row, column, asked_by, holder, free)
        return open_cells.open_page(self._log.newest(), self._log.now(), self._groups, wanted, after, most)

    def rows(self, after: int = 0, most: int = 100) -> list[RowRecord]:
        """Return rows as they are now, with the status of each cell, without the first ``after`` rows."""
        return row_records(self._log.newest(), self._log.now(), max(after, 0), max(after, 0) + most)

    def row(self, row: object) -> RowRecord:
        """Return one row as it is now; DataError with the closest id if there is no such row."""
        place = self._log.newest().index.row(row)
        return row_records(self._log.state, self._log.now(), place, place + 1)[0]

    def cells(self) -> CellArrays:
        """Return all cells as arrays: status, price, and what the strategy finds them worth now.

        Costs the rounds since the last cache, and one more if the table has changed since, run apart from
        the campaign's own: its next ask is neither changed nor delayed.
        """
        return cell_arrays(self._log.newest(), self.prices, self._asker.make_rounds())

    def fill(self, level: float = 0.9) -> FilledTable:
        """Fill the table as it is now, by the strategy's completer; with intervals where it has them.

        Costs a completion from scratch: the result depends on the table only, not on the rounds so far.
        """
        return fill(self.table, registered(self.strategy).completer, level=level)

    def model(self) -> Any:
        """Return a model of the target, fitted on the table as it is now.

        A scikit-learn pipeline of the strategy's completer, scaling, and logistic or ridge regression. It
        takes rows as ``Table.encode().X`` gives them, with holes, and predicts labels as you write them.
        """
        return fit_model(self.table, registered(self.strategy).completer)

    def status(
        self,
        *,
        folds: int = 5,
        repeats: int | None = None,
        max_rounds: int = 12,
        ahead: float = 100.0,
        seed: int = 0,
        progress: Steps | None = None,
    ) -> Status:
        """Say how the campaign, or a replay of it, is doing: money, cells, learning curve and forecast.

        ``folds`` and ``repeats`` are those of the cross-validation; rows are dealt into folds 10 times for
        200 labelled rows, less often for more, once from 2,000 on. The learning curve has at most
        ``max_rounds`` points, the beginning and now included; 1 looks at now only. The forecast is for
        ``ahead`` money. The same campaign and ``seed`` give the same status. ``progress`` is called with how
        many points are scored, and how many there are. Costs a completion for each point, most of them warm,
        and ``folds * repeats`` small fits each: some seconds for a few hundred rows. Of more than 20,000
        rows, as many at random take part in the score.
        """
        judging = Judging(folds, repeats, max_rounds, ahead, seed)
        return status_of(self._log, self.prices, self.totals(), judging, progress)

    def gain_since(self, number: int) -> Gain | None:
        """Return how much the score has risen since an event, on the same rows; None without a score."""
        return gain_since(self._log, number)

    def write_report(self, path: str | Path, *, progress: Steps | None = None) -> None:
        """Write one HTML page about the campaign: money, cells, learning curve, and what is still out."""
        from cellworth.report import write_report  # the one import that goes down

        write_report(self, path, progress=progress)

    def history(self, frame: Library | None = None, *, after: int = 0, most: int | None = None) -> Any:
        """Return the events as a list of dicts, the first one first; see `events` for the limits.

        With "pandas", "polars" or "pyarrow", a frame of that library with a line for each cell.
        """
        events = self.events(after, most)
        return records(events) if frame is None else cell_frame(events, frame)

    def events(self, after: int = 0, most: int | None = None) -> list[kinds.Event]:
        """Return the events with a number above ``after``, at most ``most``, the first one first."""
        return list(self._log.events(after, most))

    def replay(self, until: int | datetime) -> Self:
        """Return the campaign as it was after an event, by its number, or at a time; it records nothing."""
        return type(self)(Log(self._log.store, self.name, until=check_moment(until)))

    def refresh(self) -> bool:
        """Read the log to its end; say whether there was anything new. O(new events)."""
        return self._log.refresh()

    @property
    def last_read(self) -> int:
        """The number of the newest event that this object has read; it does not look into the store."""
        return self._log.state.number

    @property
    def table_number(self) -> int:
        """The number of the last event that changed the table, as far as the log was read; 0 for none."""
        return self._log.state.table_number

    def close(self) -> None:
        """Keep the newest round for others, and close the store if the campaign was given its address."""
        self._asker.leave()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        (n, p), state = self._log.state.values.shape, self._log.state
        done = f"{state.number} events, {state.money.spent:.2f} spent"
        return f"<campaign {self.name!r}, {self.strategy}: {n} rows, {p} columns, {done}>"

    def _write(self, kind: type[kinds.Content], make: Make, who: str | None) -> int:
        return kinds.size(self._log.write(kind, make, who=who))
