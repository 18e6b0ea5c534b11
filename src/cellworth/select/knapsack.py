"""The best batch that a budget can buy.

If prices are additive, the knapsack is solved exactly; see `cellworth.select.knapsack_solver`. If cells share
fees, or a batch is spread over rows, batches are built greedily from bundles, with a bound on the loss; see
`cellworth.select.bundles`.
"""

from __future__ import annotations

import math
import warnings
from typing import Self

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.prices.money import MoneyUnits, add_up, within
from cellworth.select.bundles import Bundles, buy_bundles
from cellworth.select.greedy import GreedyPurchase, Top
from cellworth.select.knapsack_solver import Packing, pack, pack_counted
from cellworth.select.row_spread import Spread
from cellworth.select.selector import (
    Front,
    Offer,
    Selection,
    check_limits,
    positive_integer,
    settle,
)


def by_bundles(offer: Offer, wanted: BoolArray, budget: float, count: float) -> Selection:
    """Buy bundles of rows by decreasing ratio of score to price; without spread.

    The bundles before the first one that does not fit, and a part of that one, solve the relaxed problem. So
    the best batch is worth at most as much as those bundles and that one together. The better of the bundles
    before it, and its row's bundles up to it, has at least half of that, if the latter fit the budget. Both
    are then filled up with single cells. Whether a batch fits is decided exactly when it is filled.
    """
    chosen, rival = buy_bundles(Bundles(offer, wanted), budget, count, skip=True)
    batches = [fill(offer, wanted, Spread(), budget, count, begin) for begin in (chosen, rival, [])]
    return max(batches, key=lambda batch: batch.score)


def by_gains(offer: Offer, wanted: BoolArray, spread: Spread, budget: float, count: float) -> Selection:
    """Buy the cell that adds most worth to the batch per price, one at a time; with spread.

    The worth of a batch is a submodular function of its cells. For additive prices, the better of the greedy
    batch and the best single cell has at least (1 - 1/e) / 2 of the best worth. A cell past the limit of its
    row adds its gain over the worst one that counts, which leaves the batch in the end.
    """
    batch = GreedyPurchase(_only(offer, wanted), Spread(), budget, count)
    rows: dict[int, list[int]] = {}

    def gain_per_money(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
        members = rows.setdefault(int(batch.rows[last]), [])
        members.append(last)
        gains = spread.gains(batch.scores[members], batch.scores[cells]) / prices
        return np.where(gains > 0, gains, -np.inf)

    greedy = batch.run(batch.scores / batch.prices, gain_per_money)
    kept = greedy.cells[spread.within_rows(greedy.cells[:, 0], greedy.scores)]
    best = batch.places[[int(np.argmax(batch.scores))]]
    begins = [(kept @ [offer.scores.shape[1], 1]).tolist(), best.tolist(), []]
    batches = [fill(offer, wanted, spread, budget, count, begin) for begin in begins]
    return max(batches, key=lambda batch: spread.total(batch.cells[:, 0], batch.scores))


def fill(
    offer: Offer, wanted: BoolArray, spread: Spread, budget: float, count: float, begin: list[int]
) -> Selection:
    """Buy the cells of ``begin`` (flat numbers) first, then single cells by score per price."""
    batch = GreedyPurchase(_only(offer, wanted), spread, budget, count)

    def per_money(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
        return batch.scores[cells] * spread.crowding**taken / prices

    first = np.searchsorted(batch.places, begin).tolist()
    return batch.run(batch.scores / batch.prices, per_money, begin=first)


def _only(offer: Offer, wanted: BoolArray) -> Offer:
    return Offer(offer.scores, wanted, offer.prices, offer.before)


NODES = 100_000  # of the solver's tree, if a count also limits the batch


class Knapsack:
    r"""Take the batch with the largest total score that the budget can buy.

    For additive prices, per column or per cell, the batch is optimal:

    .. math:: \max_S \sum_{(i, j) \in S} I_{ij} \quad\text{subject to}\quad \sum_{(i, j) \in S} C_{ij} \le b.

    With group or visit prices, or with spread, it is greedy, with a bound (see Notes).

    Parameters
    ----------
    per_row : int or None, default=None
        Maximum number of cells per row; None sets no limit.
    crowding : float, default=1.0
        Above 0 and at most 1: the r-th best cell of a row counts ``crowding**(r - 1)`` times its score.
    effort : int, default=2,000,000
        Maximum number of partial batches that the search keeps. It is reached only in hard cases, such as
        scores that are a linear function of the prices. A RuntimeWarning then says how far the batch may be
        from the best.

    Notes
    -----
    Cells with score 0 are never bought. Scores are added in floating point; prices are counted in whole
    units, so the budget is kept exactly.

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

    O(N log N) to sort N candidates. The search after that depends on prices more than on N: for integer
    prices up to D, at most 2 D - 1 cells of each price are considered. Groups, visits and spread take
    O(N + k p log(k p)) for k cells bought and p columns.

    For additive prices without spread, ``Selection.front`` holds the batches along the order of score per
    price, each the best for its own cost, and the batch itself.

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
        """Choose at most ``count`` cells that cost at most ``budget``; ``rng`` is not used."""
        money, most = check_limits(budget, count)
        wanted = offer.available & (offer.scores > 0)
        if budget is None:
            worthy = Offer(offer.scores, wanted, offer.prices, offer.before)
            return Top(self.per_row, self.crowding).select(worthy, count=count, rng=rng)
        additive = offer.prices.additive
        alone = offer.prices.own if additive else offer.prices.marginal(offer.before)
        wanted &= alone <= money
        # A batch never costs more than its cells bought separately; twice that stands in for no limit.
        money = min(money, 2 * float(alone[wanted].sum()))
        if most == 0 or not wanted.any():
            return settle(offer, np.zeros(0, dtype=np.intp), money)
        if self._spread.active:
            return by_gains(offer, wanted, self._spread, money, most)
        if not additive:
            return by_bundles(offer, wanted, money, most)
        return self._best(offer, wanted, money, most)

    def alternatives(self) -> tuple[Self]:
        """Return itself: it does not look at the totals of a table in row blocks."""
        return (self,)

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,) that a batch could touch; see `BlockSelector`.

        An exact batch has a cell only with all that are worth more and cost no more, so it is bought in the
        order of scores; what is filled up, in the order of scores per price; and bundles by their own ratio.
        """
        money, most = check_limits(budget, count)
        wanted = offer.available & (offer.scores > 0)
        batch = GreedyPurchase(_only(offer, wanted), self._spread, money, most)
        if not len(batch.scores):
            return np.zeros(0, dtype=np.intp)
        rows = [batch.rows_in_reach(batch.scores), batch.rows_in_reach(batch.scores / batch.prices)]
        payable = np.flatnonzero(batch.prices <= money)
        if len(payable):
            rows.append(batch.rows[payable[[int(np.argmax(batch.scores[payable]))]]])
        if not offer.prices.additive and not self._spread.active and budget is not None:
            wanted = wanted & (offer.prices.marginal(offer.before) <= money)
            rows.append(Bundles(offer, wanted).rows_in_reach(money))
        return np.unique(np.concatenate(rows))

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
            # Prices without a common decimal unit are counted in a binary one, inexact in the last digit.
            money -= max(1, math.ceil((float(add_up(chosen)) - budget) * units.scale))
        if len(packing.items) > count:
            return self._best_counted(offer, wanted, places, units, int(count))
        self._warn(packing.excess, float(scores[packing.items].sum()), "effort")
        return settle(offer, places[packing.items], budget, front=_front(offer, places, packing))

    def _best_counted(
        self,
        offer: Offer,
        wanted: BoolArray,
        places: IntArray,
        units: MoneyUnits,
        count: int,
    ) -> Selection:
        """Return the best batch when the count also limits it."""
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
    """Return the batches up to the break, starting with the empty one, and the best batch."""
    batches = []
    for values in (offer.prices.own.ravel(), offer.scores.ravel()):
        along = np.cumsum(values[places[packing.order[: packing.prefix]]])
        batches.append(np.concatenate([[0.0], along, [values[places[packing.items]].sum()]]))
    costs, scores = batches
    last = len(costs) - 1
    better = costs[last] > costs[last - 1] and scores[last] > scores[last - 1]
    return Front(costs[: last + better], scores[: last + better])
