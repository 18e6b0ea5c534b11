"""The walk that Top, Ratio and Draw share: through the cells from high priority to low, buying what fits."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from cellworth.select.limits import settle
from cellworth.select.offer import Array, Mask, Offer, Places, Selection
from cellworth.select.spread import Spread

# New priorities for cells of one row after a purchase in it: their numbers among the candidates, what each
# would now add to the bill, how many cells of the row are in the batch, and the number of the last of them.
Again = Callable[[Places, Array, int, int], Array]


class Walk:
    """A batch that is being filled.

    A cell that does not fit the budget is passed over, and looked at again only when a cell of its row has
    made it cheaper. A purchase changes priorities and prices in its own row alone, in either direction: these
    cells enter a heap with their new priorities, and their old entries no longer count.

    Parameters
    ----------
    offer : Offer
    spread : Spread
    budget, count : float
        Infinite for no limit.

    Notes
    -----
    With N candidates and k bought: O(N + k log k) for additive prices without spread, as long as the batch
    is a small part of the candidates; else O(N + k p log(k p)) for p columns. Where cells of low priority are
    needed to use up the budget, up to O(N log N).
    """

    def __init__(self, offer: Offer, spread: Spread, budget: float, count: float) -> None:
        self.offer = offer
        self.spread = spread
        self.budget = budget
        self.places = np.flatnonzero(offer.available)
        self.rows = self.places // max(1, offer.scores.shape[1])
        own = offer.prices.own[offer.available]
        additive = offer.prices.additive
        # Of each candidate as the only one:
        self.prices = own if additive else offer.prices.marginal(offer.before)[offer.available]
        self.scores = offer.scores.ravel()[self.places]
        self.count = min(count, len(self.places))
        self._chosen: list[int] = []
        self._spent = 0.0
        self._cheapest = float(own.min(initial=math.inf))

    def run(
        self,
        priority: Array,
        again: Again | None = None,
        tier: Mask | None = None,
        begin: Iterable[int] = (),
    ) -> Selection:
        """Buy in the order of falling priority (N,), ties by row and column, and return the batch.

        ``again`` gives the new priorities in a row after a purchase there, minus infinity for cells to leave
        out; None: they stay. Candidates in the second ``tier`` (N,) come after all others. The candidates of
        ``begin`` are bought before any.
        """
        if tier is None:
            tier = np.zeros(len(priority), dtype=bool)
        begin = list(begin)
        if self.offer.prices.additive and not self.spread.active and again is None and not begin:
            for stage in (False, True):
                self._fill(np.flatnonzero(tier == stage), priority)
        else:
            self._fill_rows(_Rows(self, priority, again, tier), begin)
        return settle(self.offer, self.places[self._chosen], self.budget)

    def _left(self) -> float:
        return self.budget - self._spent

    def _full(self) -> bool:
        return len(self._chosen) >= self.count or self._left() < self._cheapest

    def _first_chunk(self) -> int:
        """Return about how many cells the limits allow."""
        if len(self.prices) == 0 or self._full():
            return 1
        affordable = min(self.budget / self.prices.mean(), len(self.prices))
        return max(1024, math.ceil(2 * min(self.count, affordable)))

    def _fill(self, candidates: Places, priority: Array) -> None:
        """Buy whole stretches at a time: prices and priorities stay as they are."""
        chunks = descending(
            priority, candidates, self._first_chunk(), lambda rest: self.prices[rest] <= self._left()
        )
        while not self._full():
            chunk = next(chunks, None)
            if chunk is None:
                return
            while not self._full():
                chunk = chunk[self.prices[chunk] <= self._left()]
                costs = np.cumsum(self.prices[chunk])
                fit = min(int(np.searchsorted(costs, self._left(), side="right")), len(chunk))
                fit = int(min(fit, self.count - len(self._chosen)))
                if fit == 0:
                    break
                self._chosen.extend(chunk[:fit].tolist())
                self._spent += float(costs[fit - 1])
                chunk = chunk[fit:]

    def _fill_rows(self, rows: _Rows, begin: list[int]) -> None:
        """Buy one cell at a time, with a heap for the cells of rows in which something was bought."""
        for candidate in begin:
            if not self._full():
                rows.consider(candidate)
        for stage in (False, True):
            candidates = np.flatnonzero(rows.tier == stage)
            chunks = descending(rows.priority, candidates, self._first_chunk(), rows.as_at_first)
            while not self._full():
                chunk = next(chunks, None)
                if chunk is None:
                    break
                keys = (-rows.priority[chunk]).tolist()  # before purchases change them
                for candidate, key in zip(chunk.tolist(), keys, strict=True):
                    self._serve(rows, (stage, key, candidate))
                    if self._full():
                        return
                    if not rows.closed[self.rows[candidate]] and candidate not in rows.bought:
                        rows.consider(candidate)
            self._serve(rows, (stage, math.inf, 0))

    def _serve(self, rows: _Rows, until: tuple[bool, float, int]) -> None:
        """Consider what lies on the heap before ``until``."""
        while rows.heap and rows.heap[0][:3] < until and not self._full():
            _, _, candidate, taken = heapq.heappop(rows.heap)
            if taken == rows.taken[int(self.rows[candidate])]:
                rows.consider(candidate)


class _Rows:
    """What was bought row by row, and the heap of the cells whose priority or price that changed."""

    def __init__(self, walk: Walk, priority: Array, again: Again | None, tier: Mask) -> None:
        self.walk = walk
        self.priority = priority.copy()  # it changes
        self.again = again
        self.tier = tier
        self.taken: dict[int, int] = {}
        self.closed = np.zeros(walk.offer.scores.shape[0], dtype=bool)  # their first entries no longer count
        self.bought: set[int] = set()
        self.heap: list[tuple[bool, float, int, int]] = []
        self.bill = walk.offer.prices.bill(walk.offer.before)
        self.coupled = again is not None or not walk.offer.prices.additive

    def as_at_first(self, candidates: Places) -> Mask:
        """Tell which of the candidates still have their first priority, and a price that can be paid."""
        walk = self.walk
        return ~self.closed[walk.rows[candidates]] & (walk.prices[candidates] <= walk._left())

    def consider(self, candidate: int) -> None:
        """Buy a candidate if it fits."""
        walk = self.walk
        row, column = divmod(int(walk.places[candidate]), walk.offer.scores.shape[1])
        if walk._spent + self.bill.price(row, column) > walk.budget:
            return
        walk._spent += self.bill.add(row, column)
        walk._chosen.append(candidate)
        self.bought.add(candidate)
        self.taken[row] = taken = self.taken.get(row, 0) + 1
        full = taken >= walk.spread.most
        self.closed[row] = self.coupled or full
        if self.coupled and not full:
            self._push_row(row, candidate)

    def _push_row(self, row: int, last: int) -> None:
        """Put the open cells of a row on the heap anew."""
        walk, width = self.walk, self.walk.offer.scores.shape[1]
        first, end = np.searchsorted(walk.rows, [row, row + 1])
        cells = np.array([c for c in range(first, end) if c not in self.bought], dtype=np.intp)
        if not cells.size:
            return
        prices = np.array([self.bill.price(row, int(place) % width) for place in walk.places[cells]])
        if self.again is not None:
            self.priority[cells] = self.again(cells, prices, self.taken[row], last)
        for c, price in zip(cells.tolist(), prices.tolist(), strict=True):
            if price <= walk._left() and self.priority[c] > -math.inf:
                entry = (bool(self.tier[c]), -float(self.priority[c]), c, self.taken[row])
                heapq.heappush(self.heap, entry)


def descending(
    priority: Array, candidates: Places, size: int, keep: Callable[[Places], Mask]
) -> Iterator[Places]:
    """Yield candidates (numbers, increasing) in chunks, from high priority to low, ties by number.

    Nothing is sorted before it is asked for: the first chunk of about ``size`` takes O(N + size log size),
    each further one is four times as long. ``keep`` drops candidates that have become pointless.
    """
    rest = candidates
    while True:
        rest = rest[keep(rest)]
        if not rest.size:
            return
        chunk, rest = _split(priority, rest, size)
        yield chunk[np.argsort(-priority[chunk], kind="stable")]
        size *= 4


def _split(priority: Array, rest: Places, size: int) -> tuple[Places, Places]:
    """Return the ``size`` candidates of highest priority, with all that tie with the last, and the others."""
    if 2 * size >= len(rest):
        return rest, rest[:0]
    values = priority[rest]
    above = values >= np.partition(values, len(rest) - size)[len(rest) - size]
    return rest[above], rest[~above]
