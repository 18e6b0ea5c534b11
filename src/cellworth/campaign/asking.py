"""Turn the scores of a round into the cells to ask for, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from cellworth.arrays import BoolArray
from cellworth.campaign.events import Asked, AskedCell, Event
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import Rounds
from cellworth.campaign.settings import strategy_of
from cellworth.campaign.state import CellStatus, State
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.select.selector import check_limits
from cellworth.strategy import Batch, Purchase
from cellworth.strategy.choosing import choose
from cellworth.strategy.reasons import Reasons


@dataclass(frozen=True)
class Wish:
    """The limits of an ask: the most money, the most cells, and how long to reserve them."""

    budget: float | None
    count: int | None
    lease: timedelta | None

    def __post_init__(self) -> None:
        if self.budget is not None or self.count is not None:
            check_limits(self.budget, self.count)

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "budget": None if self.budget is None else float(self.budget),
            "count": None if self.count is None else int(self.count),
            "lease": None if self.lease is None else self.lease.total_seconds(),
        }


class Asker:
    """Chooses the cells to ask for. An ask costs a round, if one is due, and a selection.

    ``groups`` maps columns to their price groups.
    """

    def __init__(self, log: Log, prices: Prices, groups: Mapping[str, str]) -> None:
        self._log = log
        self._strategy = strategy_of(log.settings)
        self._prices = prices
        self._groups = groups
        self._budget: float | None = log.settings["budget"]
        self._rounds: Rounds | None = None
        self._list: PriceList | None = None

    def ask(self, wish: Wish, *, who: str | None, key: str | None) -> Batch:
        """Ask for cells and record it; in a replay, only return what would be asked for."""
        attempts = iter((True,))

        def make(state: State, time: datetime) -> Asked | None:
            # After a conflict, start no further round, so that the next attempt is quick.
            return self.asked(wish, time, may_begin=next(attempts, False))

        if self._log.read_only:
            return self._batch(self._log.sketch(make, who=who))
        event = self._log.write(Asked, make, who=who, key=key, request=lambda _: wish.to_json())
        if event is not None and self._rounds is not None:
            self._rounds.save(event.number)
        return self._batch(event)

    def preview(self, wish: Wish) -> Batch:
        """Return what would be asked for now."""
        self._log.refresh()
        make = partial(self.asked, wish, may_begin=True, tentative=True)
        return self._batch(self._log.sketch(lambda _, time: make(time), who=None))

    def leave(self) -> None:
        """Save the newest round for whoever opens the campaign next."""
        if self._rounds is not None:  # else no round was run here
            self._rounds.save(self._log.state.number, leaving=True)

    def make_rounds(self) -> Rounds:
        """Return the campaign's rounds, with a separate adviser."""
        return Rounds(self._log, self._strategy, self._log.settings["seed"])

    def asked(self, wish: Wish, time: datetime, *, may_begin: bool, tentative: bool = False) -> Asked | None:
        """Return what to ask for in the newest state; None if nothing can be bought.

        Set ``tentative`` if the result will not be recorded.
        """
        state = self._log.state
        available, before, limit = self._offered(wish, time)
        if wish.count == 0 or not available.any():
            return None
        prices = self._price_list()
        if limit is not None and prices.marginal(before)[available].min() > limit:
            return None
        if self._rounds is None:
            self._rounds = self.make_rounds()
        newest = self._rounds.newest(may_begin=may_begin, tentative=tentative)
        selection = choose(
            self._strategy.selector,
            newest.scored,
            prices,
            available=available,
            before=before,
            budget=limit,
            count=wish.count,
            asks_before=state.asks_by_round[newest.round],
        )
        if len(selection.cells) == 0:
            return None
        reasons = Reasons(
            state.index.columns,
            newest.completer,
            newest.scored.scores,
            self._strategy.selector,
            prices=prices,
            available=available,
            before=before,
        )
        named = zip(
            [state.index.names((i, j)) for i, j in selection.cells.tolist()],
            selection.prices.tolist(),
            selection.scores.tolist(),
            reasons.of(selection),
            strict=True,
        )
        cells = tuple(AskedCell(*names, price, worth, why) for names, price, worth, why in named)
        until = None if wish.lease is None else time + wish.lease
        return Asked(newest.round, newest.based_on, until, cells)

    def _offered(self, wish: Wish, time: datetime) -> tuple[BoolArray, BoolArray, float | None]:
        """Return the cells that can be bought, those already known, and the most money to spend."""
        state = self._log.state
        available = state.status == CellStatus.HOLE
        for cell in state.open.expired(time):
            available[cell] = True
        before = (state.status == CellStatus.KNOWN) | (state.status == CellStatus.TOLD)
        limit = wish.budget
        if self._budget is not None:
            left = state.money.spendable(self._budget, state.expired_prices(time))
            limit = left if limit is None else min(left, limit)
        elif limit is None and wish.count is None:
            raise ParameterError(
                "the campaign has no budget, so an ask needs a limit: give budget=, count=, or both."
            )
        return available, before, limit

    def _batch(self, event: Event | None) -> Batch:
        """Return what an event asked for."""
        if event is None or not isinstance(event.content, Asked):
            return Batch()
        until = event.content.until
        return Batch(
            Purchase(row, column, price, worth, self._groups.get(column), why, until, event.who)
            for row, column, price, worth, why in event.content.cells
        )

    def _price_list(self) -> PriceList:
        """Return the prices of all cells; they change only when rows are added."""
        if self._list is None or self._list.own.shape != self._log.state.values.shape:
            self._list = self._prices.on(self._log.state.table())
        return self._list
