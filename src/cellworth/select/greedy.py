"""Greedy batches: buy cells by decreasing priority until the budget runs out.

`Top` orders by score, `Ratio` by score per price. Other selectors also use `GreedyPurchase`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from typing import Self

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.select.row_spread import Spread
from cellworth.select.selector import Offer, Selection, check_limits, fits, settle
from cellworth.select.shortlist import Reach, descending

CLOSE = 2.0**-32  # of the budget: bound on the rounding error of float price sums


class Top:
    """Take the cells with the highest scores, whatever they cost, until the budget runs out.

    A cell that does not fit the budget is skipped, and cheaper ones further down are still taken. Ties are
    broken by row, then by column. Deterministic.

    Parameters
    ----------
    per_row : int or None, default=None
        Maximum number of cells per row; None sets no limit.
    crowding : float, default=1.0
        Above 0 and at most 1: multiplies a cell's score once for each cell already chosen in its row.

    Notes
    -----
    O(N + k log k) for k cells out of N; with spread or with prices of groups and visits
    O(N + k p log(k p)) for p columns.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Offer, Top
    >>> none = np.full(3, -1), np.zeros(3), np.zeros(0, dtype=bool)
    >>> prices = PriceList(np.tile([1.0, 2.0, 5.0], (2, 1)), *none)
    >>> scores = np.array([[3.0, 4.0, 9.0], [2.0, 8.0, 1.0]])
    >>> holes = np.ones((2, 3), dtype=bool)
    >>> batch = Top().select(Offer(scores, holes, prices, ~holes), budget=8, rng=np.random.default_rng(0))
    >>> batch.cells.tolist(), batch.cost
    ([[0, 2], [1, 1], [0, 0]], 8.0)
    """

    def __init__(self, per_row: int | None = None, crowding: float = 1.0) -> None:
        self._spread = Spread(per_row, crowding)
        self.per_row = per_row
        self.crowding = crowding

    def __repr__(self) -> str:
        return f"Top(per_row={self.per_row}, crowding={self.crowding})"

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose at most ``count`` cells that cost at most ``budget``; ``rng`` is not used."""
        batch = GreedyPurchase(offer, self._spread, *check_limits(budget, count))

        def crowded(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
            return batch.scores[cells] * self.crowding**taken

        return batch.run(batch.scores, crowded if self.crowding < 1 else None)

    def alternatives(self) -> tuple[Self]:
        """Return itself: it does not look at the totals of a table in row blocks."""
        return (self,)

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,) that a batch could touch; see `BlockSelector`."""
        batch = GreedyPurchase(offer, self._spread, *check_limits(budget, count))
        return batch.rows_in_reach(batch.scores)


class Ratio:
    """Take the cells with the highest score per price, until the budget runs out.

    The price is what a cell adds to the cost of this batch. With group and visit prices it drops once a cell
    of the row is taken, so the other cells of the row move up. A cell that does not fit the budget is
    skipped. Ties are broken by row, then by column. Deterministic.

    Parameters
    ----------
    per_row : int or None, default=None
        Maximum number of cells per row; None sets no limit.
    crowding : float, default=1.0
        Above 0 and at most 1: multiplies a cell's score once for each cell already chosen in its row.

    Notes
    -----
    O(N + k log k) for k cells out of N; with spread or with prices of groups and visits
    O(N + k p log(k p)) for p columns.

    It can be arbitrarily far from the best batch: with a budget of 100, a cell with score 2 and price 1
    rules out one with score 100 and price 100. `Knapsack` avoids this.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.prices import PriceList
    >>> from cellworth.select import Offer, Ratio
    >>> none = np.full(3, -1), np.zeros(3), np.zeros(0, dtype=bool)
    >>> prices = PriceList(np.tile([1.0, 2.0, 5.0], (2, 1)), *none)
    >>> scores = np.array([[3.0, 4.0, 9.0], [2.0, 8.0, 1.0]])
    >>> holes = np.ones((2, 3), dtype=bool)
    >>> batch = Ratio().select(Offer(scores, holes, prices, ~holes), budget=8, rng=np.random.default_rng(0))
    >>> batch.cells.tolist(), batch.cost
    ([[1, 1], [0, 0], [0, 1], [1, 0]], 6.0)
    """

    def __init__(self, per_row: int | None = None, crowding: float = 1.0) -> None:
        self._spread = Spread(per_row, crowding)
        self.per_row = per_row
        self.crowding = crowding

    def __repr__(self) -> str:
        return f"Ratio(per_row={self.per_row}, crowding={self.crowding})"

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose at most ``count`` cells that cost at most ``budget``; ``rng`` is not used."""
        batch = GreedyPurchase(offer, self._spread, *check_limits(budget, count))

        def per_money(cells: IntArray, prices: Float64Array, taken: int, last: int) -> Float64Array:
            return batch.scores[cells] * self.crowding**taken / prices

        constant = offer.prices.additive and self.crowding == 1
        return batch.run(batch.scores / batch.prices, None if constant else per_money)

    def alternatives(self) -> tuple[Self]:
        """Return itself: it does not look at the totals of a table in row blocks."""
        return (self,)

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,) that a batch could touch; see `BlockSelector`."""
        batch = GreedyPurchase(offer, self._spread, *check_limits(budget, count))
        return batch.rows_in_reach(batch.scores / batch.prices)


# New priorities for the cells of a row after a purchase in it, given their candidate numbers, what each would
# now add to the cost, how many cells of the row are in the batch, and the number of the last one bought.
Again = Callable[[IntArray, Float64Array, int, int], Float64Array]


class GreedyPurchase:
    """A batch that is being filled.

    A cell that does not fit the budget is skipped, and reconsidered only when a purchase in its row has made
    it cheaper. A purchase changes priorities and prices only in its own row, in either direction: these cells
    enter a heap with their new priorities, and their old entries become invalid.

    Parameters
    ----------
    offer : Offer
    spread : Spread
    budget, count : float
        Infinite for no limit.
    label_first : bool
        Whether cells that pay only together with a label are bought after it, or not at all.

    Notes
    -----
    With N candidates and k bought: O(N + k log k) for additive prices without spread, if the batch is a small
    part of the candidates; else O(N + k p log(k p)) for p columns. Up to O(N log N) if cells of low priority
    are needed to use up the budget.
    """

    def __init__(
        self, offer: Offer, spread: Spread, budget: float, count: float, *, label_first: bool = False
    ) -> None:
        self.offer = offer
        self.spread = spread
        self.budget = budget
        self.places = np.flatnonzero(offer.available)
        own = offer.prices.own.ravel().take(self.places)  # a mask of two axes takes thirty times as long
        additive = offer.prices.additive
        # For each candidate as the only one:
        self.prices = own if additive else offer.prices.marginal(offer.before).ravel().take(self.places)
        self.scores = offer.scores.ravel()[self.places]
        self.count = min(count, len(self.places))
        self.chosen: list[int] = []
        self.spent = 0.0
        self._slack = CLOSE * budget if budget < math.inf else 0.0
        self._cheapest = float(own.min(initial=math.inf))
        waits = offer.prices.labels and label_first
        self.awaiting = offer.awaiting[offer.available] if waits else np.zeros(len(self.places), dtype=bool)

    @cached_property
    def rows(self) -> IntArray:
        """The row of each candidate, (N,)."""
        return self.rows_of(self.places)

    def rows_of(self, places: IntArray) -> IntArray:
        """Return the rows of some flat cell numbers."""
        return places // max(1, self.offer.scores.shape[1])

    def run(
        self,
        priority: Float64Array,
        again: Again | None = None,
        tier: BoolArray | None = None,
        begin: Iterable[int] = (),
    ) -> Selection:
        """Buy by decreasing priority (N,), ties by row and column, and return the batch.

        ``again`` gives the new priorities in a row after a purchase there, minus infinity for cells to leave
        out; with None they do not change. Candidates in the second ``tier`` (N,) come after all others. The
        candidates of ``begin`` are bought first.
        """
        if tier is None:
            tier = np.zeros(len(priority), dtype=bool)
        begin = list(begin)
        alone = self.offer.prices.additive and not self.spread.active and again is None
        if alone and not begin and not self.awaiting.any():
            for stage in (False, True):
                self._fill(np.flatnonzero(tier == stage), priority)
        else:
            self._fill_rows(_Rows(self, priority, again, tier), begin)
        return settle(self.offer, self.places[self.chosen], self.budget)

    def rows_in_reach(
        self, priority: Float64Array, tier: BoolArray | None = None, among: BoolArray | None = None
    ) -> IntArray:
        """Return the rows, increasing, that `run` with this priority and tier could touch.

        If only candidates ``among`` (N,) are given, the rows that it could touch because of one of them;
        none of them may await a label.

        If a cell is the first to be bought in its row, then every cell of higher priority that costs no more
        alone was affordable when its turn came, since the money left only shrinks. So its row has a purchase,
        too, and the first purchase of a row costs at least what its cheapest cell does alone. If these
        amounts exceed the budget, the cell cannot be bought. That holds for groups, visits and limits by row,
        and among some of the rows as among all. O(N + k log k) if k cells are in reach.
        """
        if self.offer.prices.additive and not self.spread.active:
            costs, counts = self.prices, np.broadcast_to(1.0, len(self.prices))
        else:  # a purchase in a row may be due to any of its cells, so each stands for a part of it
            counted = self.rows if among is None else self.rows[among]
            cells = np.maximum(np.bincount(counted, minlength=len(self.offer.scores)), 1)[self.rows]
            cheapest = np.full(len(self.offer.scores), np.inf)
            np.minimum.at(cheapest, self.rows, self.prices)
            costs, counts = cheapest[self.rows] / cells, 1.0 / cells
        reach = Reach(self.prices, costs, counts, self.budget, self.count)
        late = np.zeros(len(priority), dtype=bool) if tier is None else tier
        for stage in (False, True):
            here = late == stage
            reach.take(priority, np.flatnonzero(here if among is None else here & among))
        return np.unique(self.rows_of(self.places[reach.kept]))

    @property
    def left(self) -> float:
        """The money left, plus the rounding error that float sums may have."""
        return self.budget - self.spent + self._slack

    @property
    def full(self) -> bool:
        """Whether nothing more can be bought."""
        return len(self.chosen) >= self.count or self.left < self._cheapest

    def can_pay(self, candidate: int, price: float) -> bool:
        """Return whether a candidate still fits the budget at this price, decided exactly if it is close."""
        after = self.spent + price
        if abs(after - self.budget) > self._slack:
            return after < self.budget
        places = self.places[[*self.chosen, candidate]]
        return fits(self.offer, places, self.budget)

    def _first_chunk(self) -> int:
        """Return roughly how many cells the limits allow."""
        if len(self.prices) == 0 or self.full:
            return 1
        affordable = min(self.budget / self.prices.mean(), len(self.prices))
        return max(1024, math.ceil(2 * min(self.count, affordable)))

    def _fill(self, candidates: IntArray, priority: Float64Array) -> None:
        """Buy many cells at a time, since prices and priorities do not change."""
        chunks = descending(
            priority, candidates, self._first_chunk(), lambda rest: self.prices[rest] <= self.left
        )
        while not self.full:
            chunk = next(chunks, None)
            if chunk is None:
                return
            while len(chunk) and not self.full:
                chunk = chunk[self.prices[chunk] <= self.left]
                costs = np.cumsum(self.prices[chunk])
                # These certainly fit; the next one is checked on its own.
                sure = int(np.searchsorted(costs, self.left - 2 * self._slack, side="left"))
                sure = int(min(sure, self.count - len(self.chosen)))
                self._buy(chunk[:sure])
                if sure < len(chunk) and len(self.chosen) < self.count:
                    following = chunk[sure : sure + 1]
                    if self.can_pay(int(following[0]), float(self.prices[following[0]])):
                        self._buy(following)
                chunk = chunk[sure + 1 :]

    def _buy(self, candidates: IntArray) -> None:
        self.chosen.extend(candidates.tolist())
        self.spent += float(self.prices[candidates].sum())

    def _fill_rows(self, rows: _Rows, begin: list[int]) -> None:
        """Buy one cell at a time, with a heap for the cells of rows with purchases."""
        for candidate in begin:
            if not self.full:
                rows.consider(candidate)
        for stage in (False, True):
            candidates = np.flatnonzero(rows.tier == stage)
            chunks = descending(rows.priority, candidates, self._first_chunk(), rows.as_at_first)
            while not self.full:
                chunk = next(chunks, None)
                if chunk is None:
                    break
                keys = (-rows.priority[chunk]).tolist()  # before purchases change them
                for candidate, key in zip(chunk.tolist(), keys, strict=True):
                    self._serve(rows, (stage, key, candidate))
                    if self.full:
                        return
                    if not rows.closed[self.rows[candidate]] and candidate not in rows.bought:
                        rows.consider(candidate)
            self._serve(rows, (stage, math.inf, 0))

    def _serve(self, rows: _Rows, until: tuple[bool, float, int]) -> None:
        """Consider the heap entries before ``until``."""
        while rows.heap and rows.heap[0][:3] < until and not self.full:
            _, _, candidate, taken = heapq.heappop(rows.heap)
            if taken == rows.taken[int(self.rows[candidate])]:
                rows.consider(candidate)


class _Rows:
    """Purchases by row, and the heap of cells whose priority or price they changed."""

    def __init__(
        self, batch: GreedyPurchase, priority: Float64Array, again: Again | None, tier: BoolArray
    ) -> None:
        self.batch = batch
        self.priority = priority.copy()  # it changes
        self.again = again
        self.tier = tier
        self.taken: dict[int, int] = {}
        self.closed = np.zeros(batch.offer.scores.shape[0], dtype=bool)  # first entries no longer valid
        self.bought: set[int] = set()
        self.heap: list[tuple[bool, float, int, int]] = []
        self.bill = batch.offer.prices.bill(batch.offer.before)
        self.labelled: set[int] = set()
        self.coupled = again is not None or not batch.offer.prices.additive or bool(batch.awaiting.any())

    def as_at_first(self, candidates: IntArray) -> BoolArray:
        """Return which candidates still have their first priority and an affordable price."""
        batch = self.batch
        return ~self.closed[batch.rows[candidates]] & (batch.prices[candidates] <= batch.left)

    def consider(self, candidate: int) -> None:
        """Buy a candidate if it fits."""
        batch = self.batch
        row, column = divmod(int(batch.places[candidate]), batch.offer.scores.shape[1])
        if batch.awaiting[candidate] and row not in self.labelled:
            return
        if not batch.can_pay(candidate, self.bill.price(row, column)):
            return
        batch.spent += self.bill.add(row, column)
        batch.chosen.append(candidate)
        self.bought.add(candidate)
        if column == batch.offer.scores.shape[1] - 1:
            self.labelled.add(row)
        self.taken[row] = taken = self.taken.get(row, 0) + 1
        full = taken >= batch.spread.most
        self.closed[row] = self.coupled or full
        if self.coupled and not full:
            self._push_row(row, candidate)

    def _push_row(self, row: int, last: int) -> None:
        """Push the open cells of a row onto the heap again."""
        batch, width = self.batch, self.batch.offer.scores.shape[1]
        first, end = np.searchsorted(batch.rows, [row, row + 1])
        cells = np.array([c for c in range(first, end) if c not in self.bought], dtype=np.intp)
        if not cells.size:
            return
        prices = np.array([self.bill.price(row, int(place) % width) for place in batch.places[cells]])
        if self.again is not None:
            self.priority[cells] = self.again(cells, prices, self.taken[row], last)
        for c, price in zip(cells.tolist(), prices.tolist(), strict=True):
            if price <= batch.left and self.priority[c] > -math.inf:
                entry = (bool(self.tier[c]), -float(self.priority[c]), c, self.taken[row])
                heapq.heappush(self.heap, entry)
