"""Bundles: the cells of one row that, bought together, have the highest score for the money.

With prices of groups and visits the first cell of a row pays for the others. The cost of a row is
submodular, so the sets that maximise score - x * cost grow as x falls: a row is a chain of bundles of
falling ratio, each bought on top of those before it. Bundles of all rows by falling ratio, up to the break,
solve the relaxed problem.
"""

from __future__ import annotations

import heapq

import numpy as np

from cellworth.select.fees import opening_fees
from cellworth.select.offer import Array, Mask, Offer, Places

STEPS = 100  # of Newton's method; it takes about five


class Bundles:
    """The next bundle of each row, bundle after bundle.

    Finding the first bundle of all n rows takes about five steps of O(n p), the next one of a row O(p) each.
    """

    def __init__(self, offer: Offer, wanted: Mask) -> None:
        prices = offer.prices
        self.open = wanted.copy()
        self.scores = np.where(wanted, offer.scores, 0.0)
        self.own = prices.own
        self.fees = opening_fees(prices, offer.before)
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

    def pop(self) -> tuple[int, Places, float]:
        """Return the row of the highest ratio, the columns of its next bundle, and that bundle's cost."""
        _, row = heapq.heappop(self.heap)
        at = self._at[row]
        return row, np.flatnonzero(self._members[at]), float(self._costs[at])

    def buy(self, row: int, columns: Places) -> None:
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

    def _densest(self, rows: Places) -> tuple[Array, Mask, Array]:
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

    def _best_at(self, rows: Places, x: Array) -> Mask:
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

    def _cost(self, rows: Places, members: Mask) -> Array:
        """Return what the members (r, p) of each row add to the bill."""
        costs = np.where(members, self.own[rows], 0.0).sum(axis=1)
        for group in self.groups:
            costs += np.where(members[:, group], self.fees[rows][:, group], 0.0).max(axis=1)
        return costs + np.where(members.any(axis=1), self.visit[rows], 0.0)
