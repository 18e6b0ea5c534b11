"""The long-lived object of a person who spends real money on the cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Self

from cellworth.campaign import answers as reports
from cellworth.campaign.asking import Asker, Wish, purchases
from cellworth.campaign.checks import check_moment
from cellworth.campaign.extension import Rows, extended
from cellworth.campaign.founding import found, only_name, opened, registered
from cellworth.campaign.lease import parse_lease
from cellworth.campaign.log import Clock, Data, Log, utc_now
from cellworth.campaign.queue import CampaignQueue, Cells
from cellworth.campaign.rounds import Rounds
from cellworth.campaign.stores import Store
from cellworth.prices import Prices
from cellworth.strategy import Batch
from cellworth.table import Table

Answers = Mapping[tuple[object, str], object] | Iterable[tuple[object, str, object]]


class Campaign(CampaignQueue):
    """Ask for cells, tell their values, refuse those that cannot be had; never lose an answer.

    Begin one with `create`, go on with `open`. Its state is the original table and a log of events that is
    only ever added to: any number of processes may work on one campaign, and any moment of it can be
    replayed. An object is for one thread at a time; threads open the campaign each for itself.

    Money that is asked for is reserved, spent when the value is told, and released when the cell is refused,
    cancelled, or its lease runs out. An answer that comes later still counts, and still costs.

    What can be read off it is described in `CampaignView`, how people share the work in `CampaignQueue`.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import Prices, Table
    >>> from cellworth.campaign import Campaign
    >>> from cellworth.campaign.stores.memory import MemoryStore
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] > 0
    >>> X[rng.random(X.shape) < 0.4] = np.nan
    >>> table = Table.from_arrays(X, y, columns=["a", "b", "c"])
    >>> campaign = Campaign.create(table, prices=Prices.same(2.0), budget=10, store=MemoryStore())
    >>> batch = campaign.ask(count=2)
    >>> campaign.tell({(batch[0].row, batch[0].column): 1.5})
    1
    >>> campaign.refuse(batch[1:], "the sample is lost")
    1
    >>> campaign.spent, campaign.reserved, campaign.left
    (2.0, 0.0, 8.0)
    """

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
        """Begin a campaign.

        Parameters
        ----------
        table : Table
            With holes; it is kept as it is, for ever.
        prices : Prices, optional
            By default every cell costs 1.
        strategy : str
            The name of a registered strategy; see `cellworth.strategy.names`.
        budget : float, optional
            All that may ever be spent, in the money of the prices.
        store : str, Path or Store
            The URL of a database, or an open store.
        name : str
            Unique in the store; ConflictError if it is taken.
        seed : int
            Of the strategies that draw.
        who : str, optional
            Who begins it.
        clock : callable
            Gives the time, with its time zone.
        """
        founding = found(
            table,
            prices=prices or Prices.same(1.0),
            strategy=strategy,
            budget=budget,
            seed=seed,
            name=name,
            who=who,
            time=clock(),
        )
        with opened(store) as (place, owned):
            place.found(founding)
            return cls(Log(place, name, clock, owns_store=owned))

    @classmethod
    def open(cls, store: str | Path | Store, name: str | None = None, *, clock: Clock = utc_now) -> Self:
        """Go on with a campaign; its name may be left out if the store has only one.

        Takes O(n p + events): no completion is run before the first ask.
        """
        with opened(store) as (place, owned):
            return cls(Log(place, only_name(place) if name is None else name, clock, owns_store=owned))

    def ask(
        self,
        budget: float | None = None,
        count: int | None = None,
        *,
        who: str | None = None,
        lease: str | timedelta | None = "7d",
        key: str | None = None,
    ) -> Batch:
        """Ask for the cells that are most worth buying now; the first choice first.

        Parameters
        ----------
        budget : float, optional
            Most money to ask for. Never more than what is left; without a limit, all that is left.
        count : int, optional
            Most cells.
        who : str, optional
            Who asks.
        lease : str, timedelta or None
            For how long the cells are reserved: "7d", "12h", "30m"; None for ever. After that they may be
            asked for again.
        key : str, optional
            Of this request: with the same key it is answered once, and the same, however often it is sent.

        Returns
        -------
        Batch
            Empty if nothing can be had for the money.

        Notes
        -----
        Costs one warm completion with its scores if the table has changed since the last ask, and a
        selection. In a replay it returns what would have been asked for, and records nothing.
        """
        wish = Wish(budget, count, parse_lease(lease))
        attempts = iter((True,))

        def make(time: datetime) -> Data | None:
            # After a conflict no further round is begun, so that the next attempt is a quick one.
            return self._asker.asked(wish, time, may_begin=next(attempts, False))

        if self.read_only:
            event = self._log.sketch("asked", make, who=who)
        else:
            event = self._log.write("asked", make, who=who, key=key, request=wish.plain)
            if event is not None:
                self._rounds.save(event.number)
        return Batch() if event is None else purchases(event, self._groups)

    def preview(self, budget: float | None = None, count: int | None = None) -> Batch:
        """Return what `ask` would ask for now. Nothing is recorded, and no money reserved.

        Costs what the ask would; if nothing happens in between, that one then costs a selection only.
        """
        wish = Wish(budget, count, None)
        self._log.refresh()
        asked = partial(self._asker.asked, wish, may_begin=True, tentative=True)
        event = self._log.sketch("asked", asked, who=None)
        return Batch() if event is None else purchases(event, self._groups)

    def tell(
        self,
        answers: Answers,
        *,
        who: str | None = None,
        key: str | None = None,
        unsolicited: bool = False,
        price: float | None = None,
    ) -> int:
        """Record values of cells: all of them or, if one is wrong, none.

        Parameters
        ----------
        answers : mapping of (row, column) to value, or triples (row, column, value)
            Values as you write them: numbers, texts, booleans, dates or ISO texts.
        who, key : str, optional
            As in `ask`.
        unsolicited : bool
            Whether to take values of cells that were never asked for.
        price : float, optional
            What each answer cost; by default what its cell was asked for at, nothing if it never was.

        Returns
        -------
        int
            How many were new. The same value once more is not recorded, nor an error.

        Raises
        ------
        DataError
            If there is no such cell, it was never asked for, or its column cannot hold the value.
        ConflictError
            If another value is known, or the key was used for other answers.

        Notes
        -----
        O(answers); a thousand take some tens of milliseconds.
        """

        @cache
        def given() -> list[reports.Answer]:
            # Read on the newest state: rows that others have added can be answered for.
            return reports.as_answers(self._log.state, answers)

        def make(time: datetime) -> Data | None:
            return reports.told(self._log.state, given(), unsolicited=unsolicited, price=price)

        event = self._log.write("told", make, who=who, key=key, request=lambda: [sorted(given()), price])
        return 0 if event is None else len(event.data["cells"])

    def refuse(self, cells: Cells, reason: str, *, who: str | None = None) -> int:
        """Record that cells cannot be had: they are never asked for again. Return how many are new.

        A value that comes all the same is taken. Refusing a cell that has a value is a ConflictError.
        """
        pairs = reports.as_cells(cells)
        event = self._log.write("refused", lambda _: reports.refused(self._log.state, pairs, reason), who=who)
        return 0 if event is None else len(event.data["cells"])

    def cancel(self, cells: Cells, *, who: str | None = None) -> int:
        """Give asked cells back to the pool, and their money. Return how many were still out."""
        pairs = reports.as_cells(cells)
        event = self._log.write("cancelled", lambda _: reports.cancelled(self._log.state, pairs), who=who)
        return 0 if event is None else len(event.data["cells"])

    def correct(
        self, row: object, column: str, value: object, *, who: str | None = None, reason: str | None = None
    ) -> bool:
        """Replace a known value, told or from the start, that turned out wrong; the old one stays in the log.

        Returns False, and records nothing, if it is the same value.
        """

        def make(time: datetime) -> Data | None:
            return reports.corrected(self._log.state, row, column, value, reason=reason)

        return self._log.write("corrected", make, who=who) is not None

    def extend(self, rows: Rows, *, who: str | None = None) -> int:
        """Add rows at the end of the table and return how many.

        Parameters
        ----------
        rows : Table, or mapping of row id to values by column name
            With ids of their own. A table has the columns of the campaign, of the same kinds; read it with
            ``Table.read(path, **campaign.table.keywords())``. A mapping may leave columns out.
        """
        event = self._log.write("extended", lambda _: extended(self._log.state, rows, self.prices), who=who)
        return 0 if event is None else len(event.data["rows"])

    def replay(self, until: int | datetime) -> Self:
        """Return the campaign as it was after an event, by its number, or at a time; for looking only.

        What is asked of it is what would have been asked for then, and is not recorded.
        """
        return type(self)(Log(self._log.store, self.name, until=check_moment(until)))

    def close(self) -> None:
        """Keep the newest round for those who open the campaign later, and let go of the store.

        The store is let go of if the campaign was given its address; a store object is its owner's.
        """
        if "_rounds" in self.__dict__:  # else none was run here
            self._rounds.save(self._log.state.number, leaving=True)
        super().close()

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self._log, registered(self.strategy), self._log.settings["seed"])

    @cached_property
    def _asker(self) -> Asker:
        selector = registered(self.strategy).selector
        return Asker(self._log, self._rounds, selector, self.prices, budget=self.budget)
