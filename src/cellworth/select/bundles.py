"""Bundles: sets of cells of one row that pay their shared fees together.

With group and visit prices, the first cell of a row pays for the others. The cost of a row is submodular, so
the sets that maximise score - x * cost grow as x decreases: a row is a chain of bundles of decreasing score
per price, each bought on top of the previous ones. The bundles of all rows by decreasing ratio, up to the
first that does not fit, solve the relaxed problem of spending a budget.
"""

from __future__ import annotations

import heapq

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.select.row_spread import Spread
from cellworth.select.selector import Offer
from cellworth.select.shortlist import bundles_in_reach

CLOSE = 2.0**-40  # relative rounding error of float sums
STEPS = 100  # of Newton's method, which takes about five


class Bundles:
    """The next bundle of each row, one at a time.

    Finding the first bundle of all n rows takes about five steps of O(n p), and each row's next one O(p) per
    step.

    Parameters
    ----------
    offer : Offer
    wanted : (n, p) array of bool
        The cells to bundle.
    spread : Spread
        Cuts each bundle to its best part: of the cells by decreasing score per own price, those up to the
        one where the ratio is highest. Without spread, a bundle has the highest ratio of all sets.
    """

    def __init__(self, offer: Offer, wanted: BoolArray, spread: Spread | None = None) -> None:
        prices = offer.prices
        self.spread = spread or Spread()
        self.taken = np.zeros(len(wanted), dtype=np.intp)
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

    def rows_in_reach(self, budget: float) -> IntArray:
        """Return the rows that may have a bundle bought, or the first one that does not fit; at the start."""
        ratios = np.array([-ratio for ratio, _ in self.heap])
        rows = np.array([row for _, row in self.heap], dtype=np.intp)
        costs = np.array([self._costs[self._at[row]] for row in rows.tolist()])
        return np.sort(rows[bundles_in_reach(ratios, costs, budget)])

    def pop(self) -> tuple[int, IntArray, float]:
        """Return the row with the highest ratio, the columns of its next bundle, and that bundle's cost."""
        _, row = heapq.heappop(self.heap)
        at = self._at[row]
        return row, np.flatnonzero(self._members[at]), float(self._costs[at])

    def buy(self, row: int, columns: IntArray) -> None:
        """Take the bundle of a row and find its next one."""
        self.open[row, columns] = False
        self.taken[row] += len(columns)
        self.visit[row] = 0.0
        for group in self.groups:
            paid = self.fees[row, np.intersect1d(columns, group)].max(initial=0.0)
            self.fees[row, group] = np.maximum(0.0, self.fees[row, group] - paid)
        if self.taken[row] < self.spread.most and self.open[row].any():
            ratios, members, costs = self._densest(np.array([row]))
            self._members[self._at[row]], self._costs[self._at[row]] = members[0], costs[0]
            heapq.heappush(self.heap, (-float(ratios[0]), row))

    def _densest(self, rows: IntArray) -> tuple[Float64Array, BoolArray, Float64Array]:
        """Return the highest ratio of a bundle in each row (r,), its members (r, p) and its cost (r,).

        Newton's method on the largest score - x * cost (Dinkelbach): x increases to the highest ratio.
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
        if self.spread.active:
            return self._cut(rows, members)
        return ratios, members, self._cost(rows, members)

    def _cut(self, rows: IntArray, members: BoolArray) -> tuple[Float64Array, BoolArray, Float64Array]:
        """Return ratios (r,), members (r, p) and costs (r,) of the best parts of bundles under the spread."""
        per_money = np.where(members, self.scores[rows] / self.own[rows], -1.0)
        order = np.argsort(-per_money, axis=1, kind="stable")
        ranks = np.arange(order.shape[1])
        number = self.taken[rows, np.newaxis] + ranks
        worths = np.take_along_axis(self.scores[rows], order, axis=1) * self.spread.crowding**number
        costs = np.cumsum(np.take_along_axis(self.own[rows], order, axis=1), axis=1)
        costs += self.visit[rows, np.newaxis]
        for group in self.groups:
            of_group = np.zeros((len(rows), order.shape[1]))
            of_group[:, group] = self.fees[rows][:, group]
            costs += np.maximum.accumulate(np.take_along_axis(of_group, order, axis=1), axis=1)
        allowed = (ranks < members.sum(axis=1)[:, np.newaxis]) & (number < self.spread.most)
        ratios = np.where(allowed, np.cumsum(worths, axis=1) / costs, -1.0)
        last = ratios.argmax(axis=1)
        best = np.zeros_like(members)
        np.put_along_axis(best, order, ranks <= last[:, np.newaxis], axis=1)
        every = np.arange(len(rows))
        return ratios[every, last], best, costs[every, last]

    def _best_at(self, rows: IntArray, x: Float64Array) -> BoolArray:
        """Return the members (r, p) of the bundle with the largest score - x * cost in each row."""
        gains = np.where(self.open[rows], self.scores[rows] - x[:, np.newaxis] * self.own[rows], 0.0)
        gains = np.maximum(gains, 0.0)
        members = gains > 0
        for group in self.groups:
            # For each fee level, all cells up to it that gain; the level itself is paid once.
            levels = np.cumsum(gains[:, group], axis=1) - x[:, np.newaxis] * self.fees[rows][:, group]
            best = levels.argmax(axis=1)
            last = np.where(levels.max(axis=1) > 0, best, -1)
            members[:, group] &= np.arange(len(group)) <= last[:, np.newaxis]
        return members

    def _cost(self, rows: IntArray, members: BoolArray) -> Float64Array:
        """Return what the members (r, p) of each row add to the cost."""
        costs = np.where(members, self.own[rows], 0.0).sum(axis=1)
        for group in self.groups:
            costs += np.where(members[:, group], self.fees[rows][:, group], 0.0).max(axis=1)
        return costs + np.where(members.any(axis=1), self.visit[rows], 0.0)


def buy_bundles(bundles: Bundles, budget: float, count: float, *, skip: bool) -> tuple[list[int], list[int]]:
    """Buy bundles by decreasing ratio of score to price; skip those that do not fit, or stop at the first.

    Returns
    -------
    chosen : list of int
        The cells bought, as flat numbers, in order. A tie with the budget is not lost to rounding, so their
        cost may exceed it in the last digit.
    rival : list of int
        The first bundle that does not fit, after the cells bought in its row; empty if all fit.
    """
    width = bundles.open.shape[1]
    chosen: list[int] = []
    rival: list[int] = []
    spent = 0.0
    cheapest = bundles.own[bundles.open].min(initial=np.inf)
    while bundles.heap and len(chosen) < count and (budget - spent >= cheapest or not rival):
        row, columns, cost = bundles.pop()
        cells = (row * width + columns).tolist()
        if spent + cost <= budget * (1 + CLOSE) and len(chosen) + len(cells) <= count:
            chosen += cells
            spent += cost
            bundles.buy(row, columns)
            continue
        if not rival:
            rival = [cell for cell in chosen if cell // width == row] + cells
        if not skip:
            break
    return chosen, rival
