"""A strategy at work: round after round, from a table to the batch that it would buy."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cellworth.errors import ParameterError
from cellworth.prices import PriceList
from cellworth.score import Round
from cellworth.select import Offer, Selection
from cellworth.strategy.strategy import Strategy

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Adviser:
    """Carries a strategy through the rounds of one campaign or simulation.

    A round is `complete` and then, if anything is to be bought, `score` and `choose`. Completers that can
    start from their last fit do so. The same calls with the same seed give the same batches.

    Parameters
    ----------
    strategy : Strategy
        Its parts are copied.
    owner : (d,) array of int, non-decreasing
        The cell column that each column of X belongs to, as in ``Table.encode``: a category is bought as
        one cell.
    target : {"classes", "number"} or None
        What the labels hold.
    seed : int

    Attributes
    ----------
    completer : estimator
        Fitted in the last round.
    round : int
        How many rounds have been completed.
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        owner: NDArray[np.intp],
        target: Literal["classes", "number"] | None,
        seed: int = 0,
    ) -> None:
        self.strategy = strategy
        self.completer: Any = clone(strategy.completer)
        settings = self.completer.get_params()
        if target is not None and settings.get("target") == "auto":
            self.completer.set_params(target=target)
        if "warm_start" in settings:
            self.completer.set_params(warm_start=True)
        self._scorer = copy.deepcopy(strategy.scorer)
        self._starts = np.searchsorted(owner, np.arange(owner[-1] + 1))
        self._target = target
        self._seed = seed
        self.round = 0
        self._seen: Round | None = None

    def complete(self, X: Array, y: Array | None) -> Array:
        """Begin a round: fill the encoded table X (n, d), with labels y (n,), and return it filled."""
        self.completer.fit(X, y)
        rng = np.random.default_rng([self._seed, self.round])
        self._seen = Round(X, y, self._target, self.completer, rng)
        self.round += 1
        return self._seen.completed

    def score(self) -> Array:
        """Return the worth of each cell (n, p) in this round; 0 where it is known. Call it once per round."""
        if self._seen is None:
            raise ParameterError("nothing to score; call complete(X, y) first, in every round")
        scores = self._scorer.score(self._seen)
        each_its_own = len(self._starts) == scores.shape[1]
        return scores if each_its_own else np.add.reduceat(scores, self._starts, axis=1)

    def choose(
        self,
        scores: Array,
        prices: PriceList,
        *,
        available: Mask,
        before: Mask,
        budget: float | None = None,
        count: int | None = None,
    ) -> Selection:
        """End a round: return the batch that the strategy would buy; masks and scores are (n, p).

        See `Offer` and `Selector.select`.
        """
        if self._seen is None:
            raise ParameterError("nothing to choose from; call complete(X, y) first, in every round")
        offer = Offer(scores, available, prices, before)
        selection = self.strategy.selector.select(offer, budget=budget, count=count, rng=self._seen.rng)
        self._seen = None
        return selection

    def state(self) -> dict[str, Any]:
        """Return all that the next round depends on: rounds done, fitted completer, the scorer's state."""
        return {
            "round": self.round,
            "completer": copy.deepcopy(self.completer),
            "scorer": self._scorer.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state: the next batches are those that its owner would have chosen."""
        self.round = state["round"]
        self.completer = copy.deepcopy(state["completer"])
        self._scorer = copy.deepcopy(self.strategy.scorer)
        self._scorer.restore(state["scorer"])
        self._seen = None
