"""Turn the scores of a round into the cells to ask for, each with its reason."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from cellworth.cached_property import cached_property
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_events import Asked, AskedCell, Wish
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import FAIR, Log
from cellworth.campaign.settings import strategy_of
from cellworth.campaign.state import State
from cellworth.errors import ParameterError
from cellworth.setting_names import setting
from cellworth.strategy import Batch, Purchase, Strategy
from cellworth.strategy.batch import why_nothing

if TYPE_CHECKING:
    from cellworth.campaign.choosing import Chooser, Limits
    from cellworth.campaign.rounds import Rounds


class Asker:
    """Chooses the cells to ask for. An ask costs a round, if one is due, and a selection.

    The modules that fit completers are imported with the first ask.
    """

    def __init__(self, log: Log, in_force: BudgetAndPrices) -> None:
        self._log = log
        self._in_force = in_force
        self._rounds: Rounds | None = None

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
        now = self._log.now()
        may_run = not (known or stopped) and self._chooser.can_buy(self._limits(wish, now), now)
        with self._own_rounds().turn(since) if may_run else nullcontext():
            event = self._log.write(Asked, make, who=who, key=key, request=lambda _: wish.to_json())
            if event is not None and self._rounds is not None:
                self._rounds.save(event.number)
        return self._batch(event) if known or stopped else self._explained(self._batch(event), wish)

    def _explained(self, batch: Batch, wish: Wish) -> Batch:
        """Return a batch, with a note if it is empty for want of cells or money."""
        if batch:
            return batch
        now = self._log.now()
        budget, currency = self._limits(wish, now).budget, self._in_force.prices.currency
        return Batch(note=why_nothing(self._chooser.cheapest(now), budget, currency))

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
        return self._explained(self._batch(self._log.sketch(lambda _, time: make(time), who=None)), wish)

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
        limits = self._limits(wish, time)
        if not self._chooser.can_buy(limits, time):
            return None
        newest = self._own_rounds().newest(since=since, may_run=may_run, tentative=tentative)
        chosen = self._chooser.choose(newest, self._strategy, limits, time)
        if chosen is None:
            return None
        named = zip(
            [self._log.state.index.names((i, j)) for i, j in chosen.cells.tolist()],
            chosen.prices,
            chosen.worths,
            chosen.reasons,
            strict=True,
        )
        cells = tuple(AskedCell(*names, price, worth, why) for names, price, worth, why in named)
        until = None if wish.lease is None else time + wish.lease
        return Asked(newest.round, newest.based_on, until, cells, wish, chosen.terms)

    def _own_rounds(self) -> Rounds:
        if self._rounds is None:
            self._rounds = self.make_rounds()
        return self._rounds

    @cached_property
    def _chooser(self) -> Chooser:
        return self._log.founding.chooser(self._log, self._in_force)

    def _limits(self, wish: Wish, time: datetime) -> Limits:
        """Return the most money and the most cells of an ask."""
        from cellworth.campaign.choosing import Limits

        limit = wish.budget
        if self._in_force.budget is not None:
            state = self._log.state
            left = state.money.spendable(self._in_force.budget, state.ended(time))
            limit = left if limit is None else min(left, limit)
        elif limit is None and wish.count is None:
            raise ParameterError(
                f"the campaign has no budget, so an ask needs a limit: give {setting('budget')}, "
                f"{setting('count')}, or both."
            )
        return Limits(limit, wish.count)

    def _batch(self, event: Event | None) -> Batch:
        """Return what an event asked for."""
        if event is None or not isinstance(event.content, Asked):
            return Batch()
        until = event.content.until
        return Batch(
            Purchase(row, column, price, worth, self._in_force.groups.get(column), why, until, event.who)
            for row, column, price, worth, why in event.content.cells
        )
