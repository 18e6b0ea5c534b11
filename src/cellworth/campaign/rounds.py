"""The rounds of a campaign: an adviser led through the rounds of the log, and the newest scores."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.campaign.adviser_cache import pack_cache, unpack_cache
from cellworth.campaign.log import Log
from cellworth.errors import CellworthError, UnusableCacheError
from cellworth.messages import shorten
from cellworth.strategy import Strategy
from cellworth.strategy.choosing import Adviser, ScoredRound

SAVE_EVERY = 5
"""Rounds between two caches. Packing one takes about as long as a warm completion of a large table."""

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
    scored : ScoredRound
        The worth of each cell (n, p), and what else batches are chosen by. Rows that were added later have
        none.
    completer : fitted completer
    owner : (d,) array of int
        The cell column of each encoded column.
    """

    round: int
    based_on: int
    scored: ScoredRound
    completer: Any
    owner: IntArray


class Rounds:
    """Leads an adviser through the rounds of a log, each on the table as it was then.

    What an adviser does in a round depends on those before it. So every process must run the same rounds on
    the same tables: those in the log, in its order. A round that was run here but did not get into the log is
    thrown away, with the adviser, as soon as the log goes another way.

    Where the strategy's completer can state what it has fitted (``fitted_state`` and ``restore_fitted``), the
    adviser is kept in the store now and then, so that a new process need not run all rounds again.
    """

    def __init__(self, log: Log, strategy: Strategy, seed: int) -> None:
        self._log = log
        self._strategy = strategy
        self._seed = seed
        self._owner = log.original.layout.owner
        self._before: dict[str, Any] | None = None  # where the adviser stood before a tentative round
        self._saved, self._again = 0, False
        self.runs = 0
        """Rounds that were run here: completions, with their scores."""
        self._begin()

    def newest(self, *, may_begin: bool, tentative: bool = False) -> NewestRound:
        """Return the round to choose by.

        A new round begins if there was none, or if the table has changed since the last and ``may_begin``.
        Otherwise the newest is that of the log, or one that was begun here and still follows on the log.
        Costs a completion and its scores for each round that has to be run, else nothing. If the new round is
        ``tentative``, where the adviser stood before it is kept: it may never get into the log.
        """
        rounds = list(self._log.state.rounds)
        now = self._log.state.table_number
        if not may_begin and self._done[:-1] == rounds and self._done:
            rounds = self._done
        elif not rounds or (may_begin and now > rounds[-1]):
            rounds.append(now)
        if tentative and self._done != rounds:
            self._lead(rounds[:-1])
            self._before = None if not self._done else self._content()
        self._lead(rounds)
        scored = self._adviser.scored
        assert scored is not None
        return NewestRound(len(self._done), self._done[-1], scored, self._adviser.completer, self._owner)

    def save(self, number: int, *, leaving: bool = False) -> None:
        """Keep the adviser in the store for those who open the campaign later, if it is worth it.

        That is the case after every `SAVE_EVERY` rounds, after rounds of the log had to be run again, and
        when this process is ``leaving``.
        """
        new = len(self._done) - self._saved
        wanted = self._again or new >= SAVE_EVERY or (leaving and new > 0)
        tentative = self._done != self._log.state.rounds[: len(self._done)]
        if self._log.read_only or tentative or not wanted:
            return
        self._saved, self._again = len(self._done), False
        content = self._content()
        completer = content["adviser"]["completer"]
        if not (hasattr(completer, "fitted_state") and hasattr(completer, "restore_fitted")):
            return
        try:
            content["adviser"]["completer"] = completer.fitted_state()
            self._log.store.save_cache(self._log.name, number, pack_cache(content))
        except CellworthError as error:  # such as a cache too large for the store
            logger.info("campaign %s is not cached: %s", shorten(self._log.name), error)

    def _begin(self) -> None:
        self._adviser = Adviser.of(self._strategy, self._log.original, seed=self._seed)
        self._done: list[int] = []
        self._saved = 0
        self._cached = False  # goes on from a cache
        self._fresh = True  # has run nothing yet
        self._again = False  # had to run rounds of the log again after it was made

    def _lead(self, rounds: list[int]) -> None:
        """Bring the adviser through these rounds, from where it is if it is on the way, else from a cache."""
        if self._done != rounds[: len(self._done)]:
            self._begin()
            if self._before is not None and self._before["rounds"] == rounds[: len(self._before["rounds"])]:
                self._go_on_from(self._before)
        if not self._done and len(rounds) > 1:
            self._read_cache(rounds)
        try:
            self._run(rounds)
        except Exception:
            if not self._cached:
                raise
            self._ignore_cache("rounds could not go on from it")
            self._run(rounds)

    def _run(self, rounds: list[int]) -> None:
        if self._fresh and len(self._done) < len(self._log.state.rounds):
            self._again = True
        ahead = rounds[len(self._done) :]
        for based_on, table in zip(ahead, self._log.tables(ahead), strict=True):
            self._adviser.complete(table.encode().X, table.y)
            self._adviser.score()
            self._done.append(based_on)
            self._fresh = False
            self.runs += 1

    def _content(self) -> dict[str, Any]:
        return {"rounds": list(self._done), "adviser": self._adviser.state()}

    def _go_on_from(self, content: dict[str, Any]) -> None:
        self._adviser.restore(content["adviser"])
        self._done = list(content["rounds"])
        self._saved = len(self._done)

    def _read_cache(self, rounds: list[int]) -> None:
        """Go on from the cache of the store, if it is of the first of these rounds and can be used."""
        found = self._log.store.load_cache(self._log.name, self._log.state.number)
        if found is None or not hasattr(self._adviser.completer, "restore_fitted"):
            return
        try:
            content = unpack_cache(found[1])
            if content["rounds"] != rounds[: len(content["rounds"])]:
                return
            adviser, completer = content["adviser"], self._adviser.completer
            completer.restore_fitted(adviser["completer"])
            self._go_on_from({**content, "adviser": {**adviser, "completer": completer}})
            self._check_restored()
        except Exception as error:  # whatever is wrong with a cache, the log has everything
            self._ignore_cache(str(error) or type(error).__name__)
        else:
            self._cached = True

    def _check_restored(self) -> None:
        """Refuse what no campaign on this table could have left behind."""
        scored, completed = self._adviser.scored, np.asarray(self._adviser.completer.completed_)
        n, p = self._log.state.values.shape
        if not self._done or self._adviser.rounds != len(self._done) or scored is None:
            raise UnusableCacheError("its rounds do not agree")
        rows = len(scored.scores)
        fits = scored.scores.shape == (rows, p) and len(self._log.original.row_ids) <= rows <= n
        if not fits or not np.isfinite(scored.scores).all() or (scored.scores < 0).any():
            raise UnusableCacheError("its scores are not those of this table")
        if completed.shape != (rows, len(self._owner)) or not np.isfinite(completed).all():
            raise UnusableCacheError("its completed table is not this one")
        scored.rng(0)

    def _ignore_cache(self, why: str) -> None:
        logger.info("the cache of campaign %s is ignored: %s", shorten(self._log.name), why)
        self._begin()
