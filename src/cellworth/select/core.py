"""The exact knapsack: which items to take at a total cost within a budget, for the largest total score.

Arrays only. Prices are whole numbers, so that costs are exact; scores are added as floating-point numbers.

Items in the order of falling score per price are taken up to the first that no longer fits, the break. The
optimum differs from this prefix in few items near the break: a set of changes is a state (cost, score)
relative to the prefix, and items enter in turn, the next one after the break (to be added) and the next one
before it (to be removed). A state goes when another is no dearer and no worse, or when even the relaxation,
in which the money left is spent at the ratio of the next item, does not beat the best batch known. When no
state is left, that batch is optimal. After D. Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
Operations Research 45 (1997).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.select.units import affordable

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

MOST_PRICES = 64  # distinct prices up to which items of equal price are looked at together


@dataclass(frozen=True)
class Packing:
    """The items taken (k,), in the order of falling ratio, and by how much a better packing could beat them.

    ``excess`` is 0 if they are optimal; it is positive only if the search was cut short. ``prefix`` is the
    number of items before the break, in ``order`` (N,), which is that of falling ratio.
    """

    items: Places
    excess: float
    prefix: int
    order: Places


def pack(prices: Integers, scores: Array, budget: int, effort: int) -> Packing:
    """Return the items that cost at most the budget and are worth most.

    Parameters
    ----------
    prices : (N,) array of int
        Positive.
    scores : (N,) array
        Positive.
    budget : int
    effort : int
        The most states to keep, over the whole search.

    Notes
    -----
    O(N log N) for the order, and the search: for whole prices up to D it takes O(D) items of each price and
    O(D^2) states at a time, whatever N and the budget are.
    """
    order = np.argsort(-(scores / prices), kind="stable")
    prefix = affordable(prices[order], budget)
    if prefix == len(order):
        return Packing(order, 0.0, prefix, order)
    left = budget - int(prices[order[:prefix]].sum())
    before, after = order[:prefix][::-1], order[prefix:]
    before, after = (near_break(prices, scores, side) for side in (before, after))
    search = _Search(left, effort)
    search.start(prices[after], scores[after], after)
    excess = search.run(
        _Side(after, prices[after], scores[after]), _Side(before, -prices[before], -scores[before])
    )
    changed = np.array(search.changes(), dtype=np.intp)
    taken = np.zeros(len(order), dtype=bool)
    taken[order[:prefix]] = True
    taken[changed] ^= True
    return Packing(order[taken[order]], excess, prefix, order)


def near_break(prices: Integers, scores: Array, side: Places) -> Places:
    """Return the items on one side of the break, nearest first, that an optimum may have to change.

    Among items of equal price the best are taken. And let prices be whole multiples of g, at most D g. An
    optimum that is as close to the prefix as possible has no changes of equal total price in opposite
    directions: undoing them would not lower the score, for what was removed has the better ratio. Put the
    changes in an order in which the partial sums of their prices, added less removed, stay above -D g and at
    most D g: these sums must all differ, so there are fewer than 2 D changes. Hence the nearest 2 D - 1
    items of each price do.
    """
    distinct = np.unique(prices[side]) if len(side) else prices[side]
    if len(distinct) == 0 or len(distinct) > MOST_PRICES:
        return side
    every = np.unique(prices)
    most = 2 * int(every[-1]) // int(np.gcd.reduce(every)) - 1
    keep = [np.flatnonzero(prices[side] == price)[:most] for price in distinct]
    return side[np.sort(np.concatenate(keep))]


class _Side:
    """Changes on one side of the break, nearest first, with what they add to cost and score.

    Change k concerns the items ``items[begin[k] : end[k]]``, which are alike.
    """

    def __init__(self, items: Places, costs: Integers, scores: Array) -> None:
        self.items, self.costs, self.scores = items, costs, scores
        self.begin, self.end = np.arange(len(items)), np.arange(1, len(items) + 1)
        self.next = 0

    def __len__(self) -> int:
        return len(self.costs) - self.next

    def ratio(self, default: float) -> float:
        """Return the score per cost of the next change."""
        return float(self.scores[self.next] / self.costs[self.next]) if len(self) else default

    def shorten(self, ratio: float, most: float) -> None:
        """Drop the changes that are a loss of ``most`` or more when money is worth ``ratio``."""
        rest = slice(self.next, None)
        self._keep(self.next + np.flatnonzero(ratio * self.costs[rest] - self.scores[rest] < most))

    def bundle(self) -> None:
        """Put neighbours that are alike together, by 1, 2, 4, ...: any number of them can be changed."""
        alike = (np.diff(self.costs) == 0) & (np.diff(self.scores) == 0) & (self.end[:-1] == self.begin[1:])
        if not alike.any():
            return
        first = np.concatenate([[True], ~alike])
        rank = np.arange(len(first)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        heads = np.flatnonzero((rank + 1 & rank) == 0)  # ranks 0, 1, 3, 7, ...
        sizes = np.diff(np.append(heads, len(rank)))
        # No batch changes more than the budget; such a bundle is left out before its cost overflows.
        small = np.abs(self.costs[heads]) * sizes.astype(float) < 2.0**60
        heads, sizes = heads[small], sizes[small]
        self._keep(heads)
        self.costs, self.scores, self.end = self.costs * sizes, self.scores * sizes, self.begin + sizes

    def _keep(self, which: Places) -> None:
        self.begin, self.end = self.begin[which], self.end[which]
        self.costs, self.scores = self.costs[which], self.scores[which]
        self.next = 0


class _Search:
    """States relative to the prefix, by increasing cost and score, and how each came about."""

    def __init__(self, left: int, effort: int) -> None:
        self.left = left
        self.effort = effort
        self.costs: Integers = np.zeros(1, dtype=np.int64)
        self.scores: Array = np.zeros(1)
        self.nodes: Integers = np.full(1, -1)
        self.best = 0.0
        self._best_node = -1
        self._filled: list[int] = []  # items that the first greedy batch adds
        # Node k changed the items of its block after the changes of its parent: one block for each change.
        self._blocks: list[tuple[int, Places]] = []  # first node, items
        self._parents: list[Integers] = []
        self._kept = 0

    def start(self, prices: Integers, scores: Array, items: Places) -> None:
        """Fill the money left greedily, for a first batch to beat."""
        left = self.left
        rest = np.arange(len(items))
        while True:
            rest = rest[prices[rest] <= left]
            if not rest.size:
                return
            take = affordable(prices[rest], left)
            self._filled.extend(items[rest[:take]].tolist())
            self.best += float(scores[rest[:take]].sum())
            left -= int(prices[rest[:take]].sum())
            rest = rest[take:]

    def run(self, after: _Side, before: _Side) -> float:
        """Let changes enter in turn until no state can beat the best; return by how much one still could."""
        ratio = after.ratio(0.0)
        relaxed, best = self.left * ratio, self.best
        for side in (after, before):
            side.shorten(ratio, relaxed - best)
            side.bundle()
        while len(self.costs) and (len(after) or len(before)):
            if self._kept > self.effort:
                return max(0.0, float(self._bounds(after, before).max()) - self.best)
            if self.best > best:
                # Those changes cost more than lies between the best and the relaxation.
                best = self.best
                after.shorten(ratio, relaxed - best)
                before.shorten(ratio, relaxed - best)
            for side in (after, before):
                if len(side) and len(self.costs):
                    self._enter(side)
                    self._prune(self._bounds(after, before))
        return 0.0

    def _bounds(self, after: _Side, before: _Side) -> Array:
        """Return how much at most each state may still come to, with the changes that have not entered."""
        gap = self.left - self.costs
        # Money left is spent at the next ratio after the break; what is missing is got back at the one
        # before. Without an item to remove, a state that is too dear is lost.
        spend, recover = after.ratio(0.0), before.ratio(np.inf)
        with np.errstate(invalid="ignore"):  # 0 times infinity, where nothing is missing
            return self.scores + np.where(gap >= 0, gap * spend, gap * recover)

    def _enter(self, side: _Side) -> None:
        """Let each state be, or make the next change; drop dominated states."""
        i = side.next
        side.next += 1
        costs = np.concatenate([self.costs, self.costs + side.costs[i]])
        scores = np.concatenate([self.scores, self.scores + side.scores[i]])
        order = np.lexsort((-scores, costs))
        scores = scores[order]
        highest = np.maximum.accumulate(scores)
        keep = np.concatenate([[True], scores[1:] > highest[:-1]])
        order, self.scores = order[keep], scores[keep]
        self.costs = costs[order]
        old = len(self.nodes)
        new = order >= old
        nodes = self.nodes[np.where(new, order - old, order)]
        self._blocks.append((self._kept, side.items[side.begin[i] : side.end[i]]))
        self._parents.append(nodes[new])
        nodes[new] = self._kept + np.arange(int(new.sum()))
        self._kept += int(new.sum())
        self.nodes = nodes
        affordable = int(np.searchsorted(self.costs, self.left, side="right"))
        if affordable and self.scores[affordable - 1] > self.best:
            self.best = float(self.scores[affordable - 1])
            self._best_node = int(self.nodes[affordable - 1])
            self._filled = []

    def _prune(self, bounds: Array) -> None:
        keep = bounds > self.best
        self.costs, self.scores, self.nodes = self.costs[keep], self.scores[keep], self.nodes[keep]

    def changes(self) -> list[int]:
        """Return the items in which the best batch differs from the prefix."""
        items, node, block = list(self._filled), self._best_node, len(self._blocks)
        while node >= 0:
            block -= 1
            first, changed = self._blocks[block]
            if node >= first:
                items.extend(changed.tolist())
                node = int(self._parents[block][node - first])
        return items
