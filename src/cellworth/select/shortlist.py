"""What selecting from a part of a table takes: what is in reach of the money, and its random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.errors import ParameterError
from cellworth.select.selector import SLACK

FIRST_CHUNK = 1024
SAMPLED, MARGIN = 4096, 32  # values that tell which others are too low, and how many more of them to let pass
FIRST_STEP = 32  # items that are kept at once, at first: each may bring a row of many columns with it


class Reach:
    """Finds the items that can be bought; items are given by decreasing priority, in as many calls as wanted.

    Parameters
    ----------
    prices : (N,) array
        What each item costs if it is the first of its row.
    costs : (N,) array
        What a purchase because of this item adds to the bill at least; 0 or more.
    counts : (N,) array
        How many cells it adds at least.
    budget, count : float
        Infinite for no limit.
    """

    def __init__(
        self, prices: Float64Array, costs: Float64Array, counts: Float64Array, budget: float, count: float
    ) -> None:
        self.prices, self.costs, self.counts = prices, costs, counts
        self.budget, self.count = budget * (1 + SLACK), count * (1 - SLACK)
        self.kept = np.zeros(0, dtype=np.intp)
        self._sorted = np.zeros(0)
        self._spent, self._bought = np.zeros(1), np.zeros(1)
        first = float(prices[0]) if len(prices) else 0.0
        self._same = first if (prices == first).all() else None  # of all items, as in most wide tables

    def affordable(self, items: IntArray) -> BoolArray:
        """Return which items could be bought after all kept ones of no higher price."""
        if self._same is not None:
            left = self._spent[-1] <= self.budget and self._bought[-1] < self.count
            return np.full(len(items), bool(left and self._same <= self.budget))
        before = np.searchsorted(self._sorted, self.prices[items], side="right")
        possible: BoolArray = (self._spent[before] <= self.budget) & (self._bought[before] < self.count)
        return possible & (self.prices[items] <= self.budget)

    def take(self, priority: Float64Array, items: IntArray) -> None:
        """Keep the affordable items among these, which come after all kept ones; O(N log N) at most."""
        for chunk in descending(priority, items, FIRST_CHUNK, self.affordable):
            while len(chunk):
                step = max(FIRST_STEP, len(self.kept) // 4)
                self._keep(chunk[:step])
                chunk = chunk[step:]
                chunk = chunk[self.affordable(chunk)]

    def _keep(self, items: IntArray) -> None:
        new = items[self.affordable(items)]
        if len(new):
            self.kept = np.concatenate([self.kept, new])
            order = np.argsort(self.prices[self.kept], kind="stable")
            self._sorted = self.prices[self.kept][order]
            self._spent = np.concatenate([[0.0], np.cumsum(self.costs[self.kept][order])])
            self._bought = np.concatenate([[0.0], np.cumsum(self.counts[self.kept][order])])


def descending(
    priority: Float64Array, candidates: IntArray, size: int, keep: Callable[[IntArray], BoolArray]
) -> Iterator[IntArray]:
    """Yield candidates (numbers, increasing) in chunks, from high priority to low, ties by number.

    Sorting is lazy: the first chunk of about ``size`` takes O(N + size log size), and each further one is
    four times as long. ``keep`` drops candidates that can no longer be bought.
    """
    rest = candidates
    left = keep(rest)
    while left.any():
        if not left.all():
            rest = rest[left]
        above = _highest(priority[rest], size)
        chunk = rest[above]
        yield chunk[np.argsort(-priority[chunk], kind="stable")]
        left = keep(rest) & ~above
        size *= 4


def _highest(values: Float64Array, size: int) -> BoolArray:
    """Return which are the ``size`` highest values (N,), with all ties of the last; all if not many more.

    Some of them tell which are certainly too low, which is much faster than to partition them all.
    """
    if 2 * size >= len(values):
        return np.ones(len(values), dtype=bool)
    some = values[:: max(1, len(values) // SAMPLED)]
    wanted = min(len(some), MARGIN + 2 * size * len(some) // len(values))
    above: BoolArray = values >= np.partition(some, len(some) - wanted)[len(some) - wanted]
    high = values[above]
    if len(high) < size:
        high = values
    least = np.partition(high, len(high) - size)[len(high) - size]
    return np.asarray(values >= least)


def bundles_in_reach(ratios: Float64Array, costs: Float64Array, budget: float) -> IntArray:
    """Return which rows could have their bundle bought, or be the first whose bundle does not fit.

    ``ratios`` and ``costs`` (r,) are those of the first bundle of each row; bundles are bought by decreasing
    ratio.
    """
    reach = Reach(costs, costs, np.zeros(len(costs)), budget, np.inf)
    reach.budget = max(reach.budget, 0.0)
    reach.take(ratios, np.arange(len(ratios)))
    first = up_to_the_first_that_does_not_fit(ratios, costs, budget)
    return np.union1d(reach.kept, first).astype(np.intp)


def up_to_the_first_that_does_not_fit(priority: Float64Array, costs: Float64Array, budget: float) -> IntArray:
    """Return the items up to and including the first, by decreasing priority, at which the money runs out."""
    order = np.argsort(-priority, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(costs[order])])[: len(order)]
    items: IntArray = order[before <= budget * (1 + SLACK)]
    return items


class TableNumbers:
    """The random numbers of a table, of which some rows take their own.

    The numbers of all rows are one stream, so what a row gets does not depend on how the table is cut.

    Parameters
    ----------
    rng : Generator
        At the start of the stream. Advanced for the whole table, not modified for a part of it.
    available : (m, p) array of bool
        The cells on offer in these rows.
    start, n_rows : int, optional
        The number of the first of these rows, and of all rows of the table.
    before, n_cells : int, optional
        How many cells are on offer in the rows before these, and in the whole table.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        available: BoolArray,
        *,
        start: int = 0,
        n_rows: int | None = None,
        before: int = 0,
        n_cells: int | None = None,
    ) -> None:
        self._is_part = n_rows is not None
        self._rng: Any = deepcopy(rng) if self._is_part else rng
        if self._is_part and not hasattr(self._rng.bit_generator, "advance"):
            raise ParameterError(
                "over row blocks random numbers must come from PCG64 or Philox; got "
                f"{type(self._rng.bit_generator).__name__}"
            )
        self._here = len(available), int(available.sum())
        self._first = start, before
        self._all = (n_rows or len(available), self._here[1] if n_cells is None else n_cells)

    def for_rows(self, how: str, width: int = 1) -> Float64Array:
        """Return ``width`` numbers for each row, (m, width); ``how`` is "random" or "gumbel"."""
        return self._draw(how, 0, width).reshape(-1, width)

    def for_cells(self, how: str) -> Float64Array:
        """Return a number for each cell on offer, in the order of the table."""
        return self._draw(how, 1, 1)

    def _draw(self, how: str, unit: int, width: int) -> Float64Array:
        here, first, total = self._here[unit], self._first[unit], self._all[unit]
        if self._is_part:
            self._rng.bit_generator.advance(first * width)
        # Each takes one number from the stream: a Gumbel variable another with probability 2**-53.
        drawn: Float64Array = getattr(self._rng, how)(size=here * width)
        if self._is_part:
            self._rng.bit_generator.advance((total - first - here) * width)
        return drawn
