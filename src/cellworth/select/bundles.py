"""Greedy batches with a bound, where cells share fees or a batch is spread over rows.

A bundle is the cells of one row that, bought together, have the highest score for the money.

With prices of groups and visits the first cell of a row pays for the others. The cost of a row is
submodular, so the sets that maximise score - x * cost grow as x falls: a row is a chain of bundles of
falling ratio, each bought on top of those before it. Bundles of all rows by falling ratio, up to the break,
solve the relaxed problem.
"""

from __future__ import annotations

import heapq

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.select.greedy import GreedyPurchase
from cellworth.select.offer import Offer, Selection
from cellworth.select.spread import Spread

CLOSE = 2.0**-40  # relative, by which sums of floats may be off
STEPS = 100  # of Newton's method; it takes about five


class Bundles:
    """The next bundle of each row, bundle after bundle.

    Finding the first bundle of all n rows takes about five steps of O(n p), the next one of a row O(p) each.
    """

    def __init__(self, offer: Offer, wanted: BoolArray) -> None:
        prices = offer.prices
        self.open = wanted.copy()
        self.scores = np.where(wanted, offer.scores, 0.0)
        self.own = prices.own
        self.fees = offer.opening_fees()
        self.visit = np.full(len(wanted), prices.visit)
        self.group_of = prices.group_of
        self.groups = [
            columns[np.argsort(prices.fee[columns], kind="stable")]
            for columns in (np.flatnonzero(prices.group_of == g) for g in range(len(prices.lasting)))
            if len(columns)
        ]
        rows = np.flatnonzero(wanted.any(axis=1))
        ratios, self._members, self._costs = self._densest(rows)
        self._at = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        self.heap = list(zip((-ratios).tolist(), rows.tolist(), strict=True))
        heapq.heapify(self.heap)

    def pop(self) -> tuple[int, IntArray, float]:
        """Return the row of the highest ratio, the columns of its next bundle, and that bundle's cost."""
        _, row = heapq.heappop(self.heap)
        at = self._at[row]
        return row, np.flatnonzero(self._members[at]), float(self._costs[at])

    def buy(self, row: int, columns: IntArray) -> None:
        """Take the bundle of a row and find the row's next."""
        self.open[row, columns] = False
        self.visit[row] = 0.0
        for group in self.groups:
            paid = self.fees[row, np.intersect1d(columns, group)].max(initial=0.0)
            self.fees[row, group] = np.maximum(0.0, self.fees[row, group] - paid)
        if self.open[row].any():
            ratios, members, costs = self._densest(np.array([row]))
            self._members[self._at[row]], self._costs[self._at[row]] = members[0], costs[0]
            heapq.heappush(self.heap, (-float(ratios[0]), row))

    def _densest(self, rows: IntArray) -> tuple[Float64Array, BoolArray, Float64Array]:
        """Return the highest ratio of a bundle in each row (r,), its members (r, p) and its cost (r,).

        Newton's method on the largest score - x * cost (Dinkelbach): x only rises, to the highest ratio.
        """
        alone = self.own[rows] + self.fees[rows] + self.visit[rows, np.newaxis]
        single = np.where(self.open[rows], self.scores[rows] / alone, -1.0)
        members = np.arange(single.shape[1]) == single.argmax(axis=1)[:, np.newaxis]
        ratios = single.max(axis=1)
        active = np.arange(len(rows))
        for _ in range(STEPS):
            better = self._best_at(rows[active], ratios[active])
            costs = self._cost(rows[active], better)
            values = np.where(better, self.scores[rows[active]], 0.0).sum(axis=1)
            raised = np.divide(values, costs, out=np.zeros_like(values), where=costs > 0)
            up = raised > ratios[active] * (1 + 1e-12)
            active, better = active[up], better[up]
            if not active.size:
                break
            ratios[active], members[active] = raised[up], better
        return ratios, members, self._cost(rows, members)

    def _best_at(self, rows: IntArray, x: Float64Array) -> BoolArray:
        """Return the members (r, p) of the bundle with the largest score - x * cost in each row."""
        gains = np.where(self.open[rows], self.scores[rows] - x[:, np.newaxis] * self.own[rows], 0.0)
        gains = np.maximum(gains, 0.0)
        members = gains > 0
        for group in self.groups:
            # Up to each level of fee, all that gains; the level itself is paid once.
            levels = np.cumsum(gains[:, group], axis=1) - x[:, np.newaxis] * self.fees[rows][:, group]
            best = levels.argmax(axis=1)
            last = np.where(levels.max(axis=1) > 0, best, -1)
            members[:, group] &= np.arange(len(group)) <= last[:, np.newaxis]
        return members

    def _cost(self, rows: IntArray, members: BoolArray) -> Float64Array:
        """Return what the members (r, p) of each row add to the bill."""
        costs = np.where(members, self.own[rows], 0.0).sum(axis=1)
        for group in self.groups:
            costs += np.where(members[:, group], self.fees[rows][:, group], 0.0).max(axis=1)
        return costs + np.where(members.any(axis=1), self.visit[rows], 0.0)


def by_bundles(offer: Offer, wanted: BoolArray, budget: float, count: float) -> Selection:
    """Buy bundles of rows by falling ratio of score to money; without spread.

    The relaxed problem is solved by the bundles before the first one that does not fit, and a part of that
    one. So the best batch is worth at most as much as those bundles and that one together. The better of the
    bundles before it, and of its row's bundles up to it, has at least half of that, if the latter fit the
    budget. Both are then filled up with single cells.
    """
    bundles, width = Bundles(offer, wanted), offer.scores.shape[1]
    chosen: list[int] = []
    rival: list[int] = []
    spent = 0.0
    cheapest = offer.prices.own[wanted].min()
    while bundles.heap and len(chosen) < count and (budget - spent >= cheapest or not rival):
        row, columns, cost = bundles.pop()
        cells = (row * width + columns).tolist()
        # A tie is not lost to rounding here; what the batch may cost is decided when it is filled.
        if spent + cost <= budget * (1 + CLOSE) and len(chosen) + len(cells) <= count:
            chosen += cells
            spent += cost
            bundles.buy(row, columns)
        elif not rival:
            rival = [cell for cell in chosen if cell // width == row] + cells
    batches = [fill(offer, wanted, Spread(), budget, count, begin) for begin in (chosen, rival, [])]
    return max(batches, key=lambda batch: batch.score)


def by_gains(offer: Offer, wanted: BoolArray, spread: Spread, budget: float, count: float) -> Selection:
    """Buy cell by cell what adds most to the worth of the batch for its money; with spread.

    The worth of a batch is a submodular function of its cells. For additive prices the better of the greedy
    batch and the best single cell has at least (1 - 1/e) / 2 of the best worth. A cell past the limit of a
    row adds what it is better than the worst that counts, and that one leaves the batch in the end.
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
    """Buy the cells of ``begin`` (flat numbers) first and then single cells by score per money."""
    batch = GreedyPurchase(_only(offer, wanted), spread, budget, count)

    def per_money(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
        return batch.scores[cells] * spread.crowding**taken / prices

    first = np.searchsorted(batch.places, begin).tolist()
    return batch.run(batch.scores / batch.prices, per_money, begin=first)


def _only(offer: Offer, wanted: BoolArray) -> Offer:
    return Offer(offer.scores, wanted, offer.prices, offer.before)
