"""The rounds of a campaign: the adviser, led through the rounds of the log, and the newest scores."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.cache import freeze, thaw
from cellworth.campaign.log import Log
from cellworth.errors import CellworthError
from cellworth.strategy import Strategy
from cellworth.strategy.adviser import Adviser, ScoredRound
from cellworth.table import Table

SAVE_EVERY = 5
"""Rounds between two caches. Packing one takes about as long as a warm completion of a large table."""


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
    owner: NDArray[np.intp]


class Rounds:
    """Leads an adviser through the rounds of a log, each on the table as it was then.

    What an adviser does in a round depends on those before it. So every process must run the same rounds on
    the same tables: those in the log, in its order. A round that was run here but did not get into the log is
    thrown away, with the adviser, as soon as the log goes another way.
    """

    def __init__(self, log: Log, strategy: Strategy, seed: int) -> None:
        self._log = log
        self._strategy = strategy
        self._seed = seed
        self._owner = log.original.layout.owner
        self._saved = 0
        self._again = False
        self._before: dict[str, Any] | None = None  # where the adviser stood before a tentative round
        self._begin()

    def newest(self, *, may_begin: bool, tentative: bool = False) -> NewestRound:
        """Return the standing to choose by.

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
        assert self._adviser.scored is not None
        return NewestRound(
            len(self._done), self._done[-1], self._adviser.scored, self._adviser.completer, self._owner
        )

    def save(self, number: int, *, leaving: bool = False) -> None:
        """Keep the adviser for those who open the campaign later, if it is worth the while.

        It is every `SAVE_EVERY` rounds, after rounds of the log had to be run again, and when this process is
        ``leaving``.
        """
        new = len(self._done) - self._saved
        wanted = self._again or new >= SAVE_EVERY or (leaving and new > 0)
        tentative = self._done != self._log.state.rounds[: len(self._done)]
        if self._log.read_only or tentative or not wanted:
            return
        content = self._content()
        with contextlib.suppress(CellworthError):  # such as a cache too large for the store
            self._log.store.save_cache(self._log.name, number, freeze(content))
        self._saved, self._again = len(self._done), False

    def _begin(self) -> None:
        self._adviser = Adviser.of(self._strategy, self._log.original, seed=self._seed)
        self._done: list[int] = []
        self._saved = 0
        self._fresh = True  # has run nothing yet
        self._again = False  # had to run rounds of the log again after it was made

    def _lead(self, rounds: list[int]) -> None:
        """Bring the adviser through these rounds, from where it is if it is on the way, else from a cache."""
        if self._done != rounds[: len(self._done)]:
            self._begin()
            self._take_over(self._before, rounds)
        if not self._done and len(rounds) > 1:
            found = self._log.store.load_cache(self._log.name, self._log.state.number)
            self._take_over(None if found is None else thaw(found[1]), rounds)
        if self._fresh and len(self._done) < len(self._log.state.rounds):
            self._again = True
        ahead = rounds[len(self._done) :]
        for based_on, table in zip(ahead, self._log.tables(ahead), strict=True):
            self._run(table)
            self._done.append(based_on)
            self._fresh = False

    def _run(self, table: Table) -> None:
        self._adviser.complete(table.encode().X, table.y)
        self._adviser.score()

    def _content(self) -> dict[str, Any]:
        return {"rounds": list(self._done), "adviser": self._adviser.state()}

    def _take_over(self, content: dict[str, Any] | None, rounds: list[int]) -> None:
        """Go on from what was kept, if it is of the first of these rounds."""
        if content is None or set(content) != {"rounds", "adviser"}:
            return
        if content["rounds"] != rounds[: len(content["rounds"])]:
            return
        try:
            self._adviser.restore(content["adviser"])
        except (CellworthError, KeyError):  # saved by a strategy that had the same name and other parts
            self._begin()
            return
        self._done = list(content["rounds"])
        self._saved = len(self._done)
