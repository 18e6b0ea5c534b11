"""The best batch that a budget can buy."""

from __future__ import annotations

import math
import warnings

import numpy as np

from cellworth.arrays import BoolArray, IntArray
from cellworth.prices.money import MoneyUnits, add_up, within
from cellworth.select.bundles import by_bundles, by_gains, fill
from cellworth.select.exact_knapsack import Packing, pack, pack_counted
from cellworth.select.greedy import Top
from cellworth.select.offer import (
    Front,
    Offer,
    Selection,
    best_of_each_price,
    check_limits,
    positive_integer,
    settle,
)
from cellworth.select.spread import Spread

NODES = 100_000  # of the solver's tree, where a count limits the batch as well


class Knapsack:
    r"""Take the batch of the largest total score that the budget can buy.

    For additive prices, per column or per cell, the batch is optimal:

    .. math:: \max_S \sum_{(i, j) \in S} I_{ij} \quad\text{subject to}\quad \sum_{(i, j) \in S} C_{ij} \le b.

    With prices of groups or visits, or with spread, it is greedy and has a bound (see Notes).

    Parameters
    ----------
    per_row : int or None, default=None
        The most cells of one row; None: any number.
    crowding : float, default=1.0
        Above 0 and at most 1: of the cells of a row the r-th best counts ``crowding**(r - 1)`` times its
        score.
    effort : int, default=2,000,000
        The most partial batches that the search keeps. It is reached only in hard cases, such as scores
        that are a linear function of the prices. Then a RuntimeWarning says how far the batch may be from the
        best.

    Notes
    -----
    Cells of score 0 are never bought. Scores are added with the rounding of floating-point numbers; prices
    are counted in whole units, so the budget is kept exactly.

    =================================  =========================================================
    prices and options                 worth of the batch
    =================================  =========================================================
    additive                           the largest
    additive, and a count              the largest, up to a millionth (by scipy's ``milp``)
    a count alone                      the largest, also with spread
    groups or visits                   at least 1/2 of the largest, if the budget covers each row
    additive with spread               at least (1 - 1/e)/2 of the largest
    groups or visits, spread or count  no bound; at least as good as `Ratio`
    =================================  =========================================================

    O(N log N) to order N candidates. The search after that depends on prices more than on N: for whole prices
    up to D at most 2 D - 1 cells of each price come into question. Groups, visits and spread take O(N + k p
    log(k p)) for k cells bought and p columns.

    ``Selection.front`` holds, for additive prices without spread, the batches along the order of score per
    money, each the best for its own cost, and the batch itself.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Knapsack, Offer
    >>> none = np.full(3, -1), np.zeros(3), np.zeros(0, dtype=bool)
    >>> prices = PriceList(np.tile([1.0, 2.0, 5.0], (2, 1)), *none)
    >>> scores = np.array([[3.0, 4.0, 9.0], [2.0, 8.0, 1.0]])
    >>> holes = np.ones((2, 3), dtype=bool)
    >>> offer = Offer(scores, holes, prices, ~holes)
    >>> batch = Knapsack().select(offer, budget=8, rng=np.random.default_rng(0))
    >>> batch.cells.tolist(), batch.cost, batch.score
    ([[1, 1], [0, 0], [0, 2]], 8.0, 20.0)
    """

    def __init__(self, per_row: int | None = None, crowding: float = 1.0, effort: int = 2_000_000) -> None:
        self._spread = Spread(per_row, crowding)
        self.per_row = per_row
        self.crowding = crowding
        self.effort = positive_integer("effort", effort)

    def __repr__(self) -> str:
        return f"Knapsack(per_row={self.per_row}, crowding={self.crowding}, effort={self.effort})"

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose cells that cost at most ``budget`` and are at most ``count``; ``rng`` is not used."""
        money, most = check_limits(budget, count)
        wanted = offer.available & (offer.scores > 0)
        if budget is None:
            worthy = Offer(offer.scores, wanted, offer.prices, offer.before)
            return Top(self.per_row, self.crowding).select(worthy, count=count, rng=rng)
        additive = offer.prices.additive
        alone = offer.prices.own if additive else offer.prices.marginal(offer.before)
        wanted &= alone <= money
        # A batch never costs more than its cells one by one; twice that is a finite budget without limit.
        money = min(money, 2 * float(alone[wanted].sum()))
        if most == 0 or not wanted.any():
            return settle(offer, np.zeros(0, dtype=np.intp), money)
        if self._spread.active:
            return by_gains(offer, wanted, self._spread, money, most)
        if not additive:
            return by_bundles(offer, wanted, money, most)
        return self._best(offer, wanted, money, most)

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the best cells (k, 2) of each price: no others can be in the batch; see `BlockSelector`."""
        self._spread.refuse_on_blocks(self)
        return best_of_each_price(offer, budget=budget, count=count)

    def _best(self, offer: Offer, wanted: BoolArray, budget: float, count: float) -> Selection:
        places = np.flatnonzero(wanted)
        scores = offer.scores.ravel()[places]
        own = offer.prices.own.ravel()[places]
        units = MoneyUnits.of(budget, own)
        prices, money = units.count(own), units.budget
        while True:
            packing = pack(prices, scores, money, self.effort)
            chosen = own[packing.items]
            if within(chosen, budget) or not len(chosen):
                break
            # Prices without a common decimal unit are counted in a binary one, off in the last digit.
            money -= max(1, math.ceil((float(add_up(chosen)) - budget) * units.scale))
        if len(packing.items) > count:
            return self._best_counted(offer, wanted, places, packing, units, int(count))
        self._warn(packing.excess, float(scores[packing.items].sum()), "effort")
        return settle(offer, places[packing.items], budget, front=_front(offer, places, packing))

    def _best_counted(
        self,
        offer: Offer,
        wanted: BoolArray,
        places: IntArray,
        packing: Packing,
        units: MoneyUnits,
        count: int,
    ) -> Selection:
        """Return the best batch when the count limits it as well."""
        budget = float(units.money(np.array([units.budget]))[0])
        highest = Top().select(
            Offer(offer.scores, wanted, offer.prices, offer.before), count=count, rng=np.random.default_rng(0)
        )
        if within(highest.prices, budget):
            return highest
        scores = offer.scores.ravel()[places]
        prices = units.count(offer.prices.own.ravel()[places])
        items, excess = pack_counted(prices, scores, units.budget, count, NODES)
        exact = settle(offer, places[items[np.argsort(-scores[items], kind="stable")]], budget)
        greedy = fill(offer, wanted, Spread(), budget, count, [])
        if len(items):
            self._warn(excess, exact.score, "nodes")
        return exact if exact.score >= greedy.score else greedy

    def _warn(self, excess: float, score: float, limit: str) -> None:
        if excess > 1e-9 * score:
            warnings.warn(
                f"the search for the best batch was cut short: this one is worth {score:g}, and no batch "
                f"within the budget is worth more than {score + excess:g}"
                + (f". Raise effort, now {self.effort:,}, to search longer." if limit == "effort" else "."),
                RuntimeWarning,
                stacklevel=4,
            )


def _front(offer: Offer, places: IntArray, packing: Packing) -> Front:
    """Return the batches up to the break, from none on, and the best batch."""
    batches = []
    for values in (offer.prices.own.ravel(), offer.scores.ravel()):
        along = np.cumsum(values[places[packing.order[: packing.prefix]]])
        batches.append(np.concatenate([[0.0], along, [values[places[packing.items]].sum()]]))
    costs, scores = batches
    last = len(costs) - 1
    better = costs[last] > costs[last - 1] and scores[last] > scores[last - 1]
    return Front(costs[: last + better], scores[: last + better])
