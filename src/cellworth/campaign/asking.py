"""Turn the scores of a round into the cells to ask for, each with its reason."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from cellworth.arrays import BoolArray
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_events import Asked, AskedCell, Wish
from cellworth.campaign.events import Event
from cellworth.campaign.log import FAIR, Log
from cellworth.campaign.settings import strategy_of
from cellworth.campaign.spending import Terms
from cellworth.campaign.state import HAS_VALUE, CellStatus, State
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.setting_names import setting
from cellworth.strategy import Batch, Purchase, Strategy

if TYPE_CHECKING:
    from cellworth.campaign.rounds import Rounds
    from cellworth.select import Selection


class Asker:
    """Chooses the cells to ask for. An ask costs a round, if one is due, and a selection.

    The modules that fit completers are imported with the first ask.
    """

    def __init__(self, log: Log, in_force: BudgetAndPrices) -> None:
        self._log = log
        self._in_force = in_force
        self._rounds: Rounds | None = None
        self._list: tuple[Prices, PriceList] | None = None

    @cached_property
    def _strategy(self) -> Strategy:
        return strategy_of(self._log.settings)

    def ask(self, wish: Wish, *, who: str | None, key: str | None, stopped: bool = False) -> Batch:
        """Ask for cells and record it; in a replay, only return what was or would be asked for.

        If nothing can be bought, or a rule has ``stopped`` the ask, it is recorded only if it has a key.
        """
        attempts = itertools.count()
        since = self._log.newest().table_number

        def make(state: State, time: datetime) -> Asked | None:
            # After a conflict, start no further round, so that the next attempt is quick. When others wait,
            # run none at all.
            attempt = next(attempts)
            found = None
            if not stopped:
                begin = since if attempt == 0 else None
                found = self.asked(wish, time, since=begin, may_run=attempt < FAIR)
            return Asked(0, 0, None, (), wish) if found is None and key is not None else found

        if self._log.read_only:
            return self._batch(self._recorded(wish) or self._log.sketch(make, who=who))
        known = key is not None and self._log.keyed(key) is not None
        may_run = not (known or stopped) and self._offered(wish, self._log.now()) is not None
        with self._own_rounds().turn(since) if may_run else nullcontext():
            event = self._log.write(Asked, make, who=who, key=key, request=lambda _: wish.to_json())
            if event is not None and self._rounds is not None:
                self._rounds.save(event.number)
        return self._batch(event)

    def _recorded(self, wish: Wish) -> Event | None:
        """Return what was asked for next, after the end of a replay, if it was asked for with this wish."""
        event = self._log.following()
        asked = None if event is None else event.content
        return event if isinstance(asked, Asked) and asked.wish == wish else None

    def preview(self, wish: Wish) -> Batch:
        """Return what would be asked for now."""
        self._log.refresh()
        since = self._log.state.table_number
        make = partial(self.asked, wish, since=since, tentative=True)
        return self._batch(self._log.sketch(lambda _, time: make(time), who=None))

    def leave(self) -> None:
        """Save the newest round for whoever opens the campaign next."""
        if self._rounds is not None:  # else no round was run here
            self._rounds.save(self._log.state.number)

    def make_rounds(self) -> Rounds:
        """Return the campaign's rounds, with a separate adviser."""
        from cellworth.campaign.rounds import Rounds

        return Rounds(self._log, self._strategy, self._in_force, self._log.settings["seed"])

    def asked(
        self,
        wish: Wish,
        time: datetime,
        *,
        since: int | None = None,
        may_run: bool = True,
        tentative: bool = False,
    ) -> Asked | None:
        """Return what to ask for in the newest state; None if nothing can be bought.

        Set ``tentative`` if the result will not be recorded. See `Rounds.newest` for the others.
        """
        from cellworth.strategy.choose_batch import choose
        from cellworth.strategy.reasons import Reasons

        state = self._log.state
        offered = self._offered(wish, time)
        if offered is None:
            return None
        available, before, limit = offered
        prices = self._price_list()
        refused = state.status[:, -1] == CellStatus.REFUSED if prices.labels else None
        newest = self._own_rounds().newest(since=since, may_run=may_run, tentative=tentative)
        selection = choose(
            self._strategy.selector,
            newest.scored,
            prices,
            available=available,
            before=before,
            budget=limit,
            count=wish.count,
            asks_before=state.asks_by_round[newest.round],
            refused_labels=refused,
        )
        if len(selection.cells) == 0:
            return None
        reasons = Reasons(
            state.index.columns[: state.index.features],
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
        terms = self._terms(prices, selection, before)
        return Asked(newest.round, newest.based_on, until, cells, wish, terms)

    def _own_rounds(self) -> Rounds:
        if self._rounds is None:
            self._rounds = self.make_rounds()
        return self._rounds

    def _offered(self, wish: Wish, time: datetime) -> tuple[BoolArray, BoolArray, float | None] | None:
        """Return the cells that can be bought, those already known, and the most money to spend.

        None if nothing can be bought.
        """
        state = self._log.state
        available = state.status == CellStatus.HOLE
        for cell in state.open.expired(time):
            available[cell] = True
        for_sale = slice(0, self._price_list().own.shape[1])
        available, before = available[:, for_sale], state.has(*HAS_VALUE)[:, for_sale]
        limit = wish.budget
        if self._in_force.budget is not None:
            left = state.money.spendable(self._in_force.budget, state.ended(time))
            limit = left if limit is None else min(left, limit)
        elif limit is None and wish.count is None:
            raise ParameterError(
                f"the campaign has no budget, so an ask needs a limit: give {setting('budget')}, "
                f"{setting('count')}, or both."
            )
        if wish.count == 0 or not available.any():
            return None
        if limit is not None and self._price_list().marginal(before)[available].min() > limit:
            return None
        return available, before, limit

    def _terms(self, prices: PriceList, selection: Selection, before: BoolArray) -> tuple[Terms, ...] | None:
        """Return what each cell owes; None if no fees are shared."""
        if prices.additive:
            return None
        opened = prices.opened(before, selection.cells[:, 0])
        groups = self._in_force.prices.groups
        found = []
        for place, (i, j) in enumerate(selection.cells.tolist()):
            group = int(prices.group_of[j])
            is_open = group < 0 or bool(opened[place, group])
            name = groups[group].name if group >= 0 else None
            lasting = group >= 0 and bool(prices.lasting[group])
            fee = 0.0 if is_open else float(prices.fee[j])
            found.append(Terms(float(prices.own[i, j]), float(prices.visit), fee, name, lasting))
        return tuple(found)

    def _batch(self, event: Event | None) -> Batch:
        """Return what an event asked for."""
        if event is None or not isinstance(event.content, Asked):
            return Batch()
        until = event.content.until
        return Batch(
            Purchase(row, column, price, worth, self._in_force.groups.get(column), why, until, event.who)
            for row, column, price, worth, why in event.content.cells
        )

    def _price_list(self) -> PriceList:
        """Return the prices of all cells, and of labels if they have one.

        They change only when rows are added or prices change.
        """
        prices = self._in_force.prices
        n = len(self._log.state.values)
        if self._list is None or self._list[0] is not prices or len(self._list[1].own) != n:
            self._list = prices, prices.on(self._log.state.table())
        return self._list[1]
