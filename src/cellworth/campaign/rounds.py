"""The rounds of a campaign: run an adviser through the rounds in the log to get the newest scores."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cache import ROUNDS, load_part, pack_cache, save_part, unpack_cache
from cellworth.campaign.log import Log
from cellworth.errors import CellworthError, UnusableCacheError
from cellworth.messages import shorten
from cellworth.prices import Prices
from cellworth.progress import portion
from cellworth.strategy import Strategy

LONGEST_WAIT = 30.0
"""Seconds to wait for somebody else's round; twice the time of a round, if that is longer."""

logger = logging.getLogger("cellworth.campaign")


@dataclass(frozen=True, eq=False)
class NewestRound:
    """The newest round.

    Attributes
    ----------
    round : int
        1, 2, ...
    based_on : int
        The number of the last event that had changed the table when it was completed; 0 for the original.
    scored : ScoredRound or BlockRound
        The worth of each cell (n, p), and the rest of what batches are chosen by. Rows added later have no
        scores.
    completer : fitted completer
    adviser : Adviser or BlockAdviser
        That has run it.
    """

    round: int
    based_on: int
    scored: Any
    completer: Any
    adviser: Any


class Rounds:
    """Runs an adviser through the rounds in a log, each on the table as it was then.

    What an adviser does in a round depends on the rounds before it. So every process must run the same rounds
    on the same tables: those in the log, in order. If a round run here did not make it into the log, and the
    log takes another course, the round and the adviser are discarded.

    If the strategy's completer can save its fit (``fitted_state`` and ``restore_fitted``), the adviser is
    cached in the store after each round, so that no other process need rerun it. If neither the completer nor
    the scorer remembers earlier rounds, only the newest is run.
    """

    def __init__(self, log: Log, strategy: Strategy, in_force: BudgetAndPrices, seed: int) -> None:
        self._log = log
        self._strategy = strategy
        self._in_force = in_force
        self._seed = seed
        self._before: dict[str, Any] | None = None  # the adviser's state before a tentative round
        self._saved = 0  # how many rounds are cached
        self._took = 0.0  # seconds to run the last round that was run here
        self._busy = False  # at work, or interrupted at it: the adviser may be in any state
        self.runs = 0
        """How many rounds were run here: completions with their scores."""
        self._begin()

    @contextmanager
    def turn(self, since: int) -> Iterator[None]:
        """Run a block that needs a round based on event ``since`` or a later one, while no other begins.

        Of several processes that need one, the first works it out, records and caches it in the block, and
        the others wait and find it in the store. So an ask waits for two rounds at most: one that began
        before it, and one that has seen all that was told before it. If no turn comes in time, since whoever
        has it hangs, or if the store has none, go on without: then rounds may be worked out twice.
        """
        with ExitStack() as held:
            take = getattr(self._log.store, "turn", None)
            if take is not None and not self._log.read_only and self._wanted(since) != self._done:
                held.enter_context(take(self._log.name, max(LONGEST_WAIT, 2 * self._took)))
                self._log.refresh()
                if not self._begins(since):
                    held.close()
            yield

    def newest(
        self, *, since: int | None = None, may_run: bool = True, tentative: bool = False
    ) -> NewestRound:
        """Return the round whose scores to choose by.

        A new round starts if there was none, if the last one does not rest on event ``since`` or a later
        one, or if a column has got another category since. Otherwise the newest round is the log's last, or
        one that was started here and still follows it. Each round that must be run costs a completion and its
        scores. Without ``may_run``, an earlier round of the log will do if it is at hand. If the new round is
        ``tentative``, the adviser's state before it is kept, since the round may never make it into the log.
        """
        self._recover()
        return self.after(self._wanted(since, may_run=may_run), tentative=tentative)

    def _wanted(self, since: int | None, *, may_run: bool = True) -> list[int]:
        rounds, at_hand = list(self._log.state.rounds), self._done
        follows = since is None and at_hand[:-1] == rounds
        will_do = not may_run and at_hand == rounds[: len(at_hand)]
        if at_hand and (follows or will_do) and at_hand[-1] >= self._log.state.recoded:
            return at_hand
        return [*rounds, self._log.state.table_number] if self._begins(since) else rounds

    def _begins(self, since: int | None) -> bool:
        rounds = self._log.state.rounds
        return not rounds or rounds[-1] < max(since or 0, self._log.state.recoded)

    def after(self, rounds: list[int], *, tentative: bool = False) -> NewestRound:
        """Return the last of these rounds, given by the numbers of the events that they were based on."""
        self._recover()
        self._busy = True
        if tentative and self._done != rounds and rounds != self._log.state.rounds:
            self._lead(rounds[:-1])
            self._before = None if not self._done else self._content()
        self._lead(rounds)
        scored = self._adviser.scored
        assert scored is not None
        self._busy = False
        return NewestRound(len(self._done), self._done[-1], scored, self._adviser.completer, self._adviser)

    def save(self, number: int) -> None:
        """Cache the adviser in the store for other processes, if it has run rounds of the log since."""
        self._recover()
        tentative = self._done != self._log.state.rounds[: len(self._done)]
        if self._log.read_only or tentative or len(self._done) == self._saved:
            return
        self._saved = len(self._done)
        plain = self._adviser.to_plain()
        if plain is None:
            return
        try:
            content = {"rounds": list(self._done), "adviser": plain}
            save_part(self._log.store, self._log.name, number, ROUNDS, pack_cache(content))
        except CellworthError as error:  # such as a cache too large for the store
            logger.info("campaign %s is not cached: %s", shorten(self._log.name), error)

    def _begin(self) -> None:
        self._adviser = self._log.founding.adviser(self._strategy, self._seed)
        self._done: list[int] = []
        self._saved = 0
        self._cached = False  # resumed from a cache

    def _recover(self) -> None:
        """Begin anew if the last piece of work was interrupted."""
        if self._busy:
            self._before = None
            self._begin()
            self._busy = False

    def _lead(self, rounds: list[int]) -> None:
        """Run the adviser through these rounds, from its current state if they match, else from a cache."""
        if self._done != rounds[: len(self._done)]:
            self._begin()
            if self._before is not None and self._before["rounds"] == rounds[: len(self._before["rounds"])]:
                self._go_on_from(self._before)
        if self._is_behind(rounds):  # somebody has run the next one
            self._read_cache(rounds)
        try:
            self._run(rounds)
        except Exception:
            if not self._cached:
                raise
            self._ignore_cache("rounds could not resume from it")
            self._run(rounds)

    def _is_behind(self, rounds: list[int]) -> bool:
        return len(self._done) < min(len(rounds), len(self._log.state.rounds))

    def _run(self, rounds: list[int]) -> None:
        begun, before = time.monotonic(), self.runs
        self._run_all(rounds)
        if self.runs > before:
            self._took = (time.monotonic() - begun) / (self.runs - before)

    def _run_all(self, rounds: list[int]) -> None:
        ahead = rounds[len(self._done) :]
        if len(ahead) > 1 and not self._adviser.remembers:
            self._adviser.skip(len(ahead) - 1)
            self._done += ahead[:-1]
            ahead = ahead[-1:]
        for number, (based_on, table) in enumerate(zip(ahead, self._log.tables(ahead), strict=True)):
            with portion(number / len(ahead), (number + 1) / len(ahead)):
                self._adviser.run(table, self._in_force.prices_as_of(based_on))
            self._done.append(based_on)
            self.runs += 1

    def _content(self) -> dict[str, Any]:
        return {"rounds": list(self._done), "adviser": self._adviser.state()}

    def _go_on_from(self, content: dict[str, Any]) -> None:
        self._adviser.restore(content["adviser"])
        self._done = list(content["rounds"])
        self._saved = len(self._done)

    def _read_cache(self, rounds: list[int]) -> None:
        """Resume from the cache in the store, if it holds the first of these rounds and is usable."""
        found = load_part(self._log.store, self._log.name, self._log.state.number, ROUNDS)
        if found is None:
            return
        try:
            content = unpack_cache(found)
            known = content["rounds"]
            if known != rounds[: len(known)] or 0 < len(known) <= len(self._done):
                return
            if known and self._log.state.recoded:
                if known[-1] < self._log.state.recoded:
                    return
                self._adviser.begin_anew(self._log.state.table().layout)
            prices = self._in_force.prices_as_of(known[-1]) if known else self._in_force.prices
            self._adviser.resume(content["adviser"], lambda: next(self._log.tables(known[-1:])), prices)
            self._done, self._saved = list(known), len(known)
            self._check_restored(prices)
        except Exception as error:  # whatever is wrong with the cache, the log has everything
            self._ignore_cache(str(error) or type(error).__name__)
        else:
            self._cached = True

    def _check_restored(self, prices: Prices) -> None:
        """Reject a state that no campaign on this table could have produced."""
        if not self._done or self._adviser.rounds != len(self._done) or self._adviser.scored is None:
            raise UnusableCacheError("its rounds are inconsistent")
        index = self._log.state.index
        problem = self._adviser.misfit(
            index.features, self._log.founding.n_rows, index.n_rows, labels=index.sells_labels(prices)
        )
        if problem is not None:
            raise UnusableCacheError(problem)
        self._adviser.scored.rng(0)

    def _ignore_cache(self, why: str) -> None:
        logger.info("ignoring the cache of campaign %s: %s", shorten(self._log.name), why)
        self._begin()
