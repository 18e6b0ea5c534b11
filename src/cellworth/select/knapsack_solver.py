"""The exact knapsack: the items with the largest total score whose total cost is within a budget.

Works on arrays only. Prices are integers, so costs are exact; scores are added in floating point.

Items are taken by decreasing score per price up to the first that no longer fits, the break. The optimum
differs from this prefix in a few items near the break. A set of changes is a state (cost, score) relative to
the prefix. Items enter in turn: the next one after the break (to add), then the next one before it (to
remove). A state is dropped if another costs no more and scores no less, or if even the relaxation, which
spends the remaining money at the ratio of the next item, does not beat the best batch found. When no state is
left, that batch is optimal. Based on D. Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
Operations Research 45 (1997).

With a second limit, on the number of items, mixed-integer programming decides the few items in question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from cellworth.arrays import BoolArray, Float64Array, Int64Array, IntArray

MOST_PRICES = 64  # distinct prices up to which items of equal price are considered together
FIRST_DECIDED = 150  # items the solver decides first, if a count also limits the batch
TOLERANCE = 1e-6  # by which the solver may exceed a limit


@dataclass(frozen=True)
class Packing:
    """The items taken (k,), by decreasing ratio, and how much better another packing could be.

    ``excess`` is 0 if they are optimal; it is positive only if the search was cut short. ``prefix`` is the
    number of items before the break in ``order`` (N,), which sorts items by decreasing ratio.
    """

    items: IntArray
    excess: float
    prefix: int
    order: IntArray


def pack(prices: Int64Array, scores: Float64Array, budget: int, effort: int) -> Packing:
    """Return the items with the largest total score that cost at most the budget.

    Parameters
    ----------
    prices : (N,) array of int
        Positive.
    scores : (N,) array
        Positive.
    budget : int
    effort : int
        Maximum number of states to keep over the whole search.

    Notes
    -----
    O(N log N) to sort, plus the search: for integer prices up to D it uses O(D) items of each price and
    O(D^2) states at a time, for any N and budget.
    """
    order = np.argsort(-(scores / prices), kind="stable")
    prefix = affordable(prices[order], budget)
    if prefix == len(order):
        return Packing(order, 0.0, prefix, order)
    left = budget - int(prices[order[:prefix]].sum())
    before, after = order[:prefix][::-1], order[prefix:]
    before, after = (near_break(prices, side) for side in (before, after))
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


def near_break(prices: Int64Array, side: IntArray) -> IntArray:
    """Return the items on one side of the break, nearest first, that an optimum may have to change.

    Among items of equal price the best are taken. Let prices be integer multiples of g, at most D g. An
    optimum as close to the prefix as possible has no changes of equal total price in opposite directions:
    undoing them would not lower the score, since what was removed has the better ratio. Order the changes so
    that the partial sums of their prices, added minus removed, stay above -D g and at most D g. These sums
    must all differ, so there are fewer than 2 D changes. Hence the nearest 2 D - 1 items of each price
    suffice.
    """
    distinct = np.unique(prices[side]) if len(side) else prices[side]
    if len(distinct) == 0 or len(distinct) > MOST_PRICES:
        return side
    every = np.unique(prices)
    most = 2 * int(every[-1]) // int(np.gcd.reduce(every)) - 1
    keep = [np.flatnonzero(prices[side] == price)[:most] for price in distinct]
    return side[np.sort(np.concatenate(keep))]


class _Side:
    """Changes on one side of the break, nearest first, with their effect on cost and score.

    Change k concerns the items ``items[begin[k] : end[k]]``, which are identical.
    """

    def __init__(self, items: IntArray, costs: Int64Array, scores: Float64Array) -> None:
        self.items, self.costs, self.scores = items, costs, scores
        self.begin, self.end = np.arange(len(items)), np.arange(1, len(items) + 1)
        self.next = 0

    def __len__(self) -> int:
        return len(self.costs) - self.next

    def ratio(self, default: float) -> float:
        """Return the score per cost of the next change."""
        return float(self.scores[self.next] / self.costs[self.next]) if len(self) else default

    def shorten(self, ratio: float, most: float) -> None:
        """Drop the changes that lose ``most`` or more when money is worth ``ratio``."""
        rest = slice(self.next, None)
        self._keep(self.next + np.flatnonzero(ratio * self.costs[rest] - self.scores[rest] < most))

    def bundle(self) -> None:
        """Group identical neighbours by 1, 2, 4, ..., so that any number of them can be changed."""
        alike = (np.diff(self.costs) == 0) & (np.diff(self.scores) == 0) & (self.end[:-1] == self.begin[1:])
        if not alike.any():
            return
        first = np.concatenate([[True], ~alike])
        rank = np.arange(len(first)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        heads = np.flatnonzero((rank + 1 & rank) == 0)  # ranks 0, 1, 3, 7, ...
        sizes = np.diff(np.append(heads, len(rank)))
        # No batch changes by more than the budget; leave out such a bundle before its cost overflows.
        small = np.abs(self.costs[heads]) * sizes.astype(float) < 2.0**60
        heads, sizes = heads[small], sizes[small]
        self._keep(heads)
        self.costs, self.scores, self.end = self.costs * sizes, self.scores * sizes, self.begin + sizes

    def _keep(self, which: IntArray) -> None:
        self.begin, self.end = self.begin[which], self.end[which]
        self.costs, self.scores = self.costs[which], self.scores[which]
        self.next = 0


class _Search:
    """States relative to the prefix, by increasing cost and score, and how each was reached."""

    def __init__(self, left: int, effort: int) -> None:
        self.left = left
        self.effort = effort
        self.costs: Int64Array = np.zeros(1, dtype=np.int64)
        self.scores: Float64Array = np.zeros(1)
        self.nodes: Int64Array = np.full(1, -1)
        self.best = 0.0
        self._best_node = -1
        self._filled: list[int] = []  # items added by the first greedy batch
        # Node k changed the items of its block after the changes of its parent: one block for each change.
        self._blocks: list[tuple[int, IntArray]] = []  # first node, items
        self._parents: list[Int64Array] = []
        self._kept = 0

    def start(self, prices: Int64Array, scores: Float64Array, items: IntArray) -> None:
        """Spend the remaining money greedily, for a first batch to beat."""
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
        """Enter changes in turn until no state can beat the best; return by how much one still could."""
        ratio = after.ratio(0.0)
        relaxed, best = self.left * ratio, self.best
        for side in (after, before):
            side.shorten(ratio, relaxed - best)
            side.bundle()
        while len(self.costs) and (len(after) or len(before)):
            if self._kept > self.effort:
                return max(0.0, float(self._bounds(after, before).max()) - self.best)
            if self.best > best:
                # Drop changes that lose more than the gap between the best and the relaxation.
                best = self.best
                after.shorten(ratio, relaxed - best)
                before.shorten(ratio, relaxed - best)
            for side in (after, before):
                if len(side) and len(self.costs):
                    self._enter(side)
                    self._prune(self._bounds(after, before))
        return 0.0

    def _bounds(self, after: _Side, before: _Side) -> Float64Array:
        """Return an upper bound on what each state can reach with the changes not yet entered."""
        gap = self.left - self.costs
        # Remaining money is spent at the next ratio after the break; a deficit is recovered at the one
        # before. Without an item to remove, a state over budget is lost.
        spend, recover = after.ratio(0.0), before.ratio(np.inf)
        with np.errstate(invalid="ignore"):  # 0 times infinity, if there is no deficit
            return self.scores + np.where(gap >= 0, gap * spend, gap * recover)

    def _enter(self, side: _Side) -> None:
        """Branch each state, without and with the next change; drop dominated states."""
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

    def _prune(self, bounds: Float64Array) -> None:
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


def pack_counted(
    prices: Int64Array, scores: Float64Array, budget: int, count: int, nodes: int
) -> tuple[IntArray, float]:
    """Return up to ``count`` items within the budget, and by how much a better packing could beat them.

    The dual prices of money and of a place in the batch, from the linear relaxation, give what each item
    loses if it is decided against them. First the items that lose least are decided exactly, with the others
    fixed; then all that lose less than the gap between this batch and the relaxation. The optimum is among
    these.

    The score is the largest up to the solver's tolerance, a millionth; the second number is then 0. It is
    positive only if a search ended after ``nodes`` nodes. Returns no items if nothing was found.
    """
    items = _best_of_each_price(prices, scores, count)
    price, score = prices[items], scores[items]
    rows = np.vstack([price / budget, np.full(len(items), 1 / count)])
    relaxed = linprog(-score / score.max(), A_ub=rows, b_ub=[1, 1], bounds=(0, 1), method="highs")
    duals = np.maximum(0.0, -relaxed.ineqlin.marginals) * score.max()
    gain = score - duals @ rows
    bound = duals.sum() + np.maximum(gain, 0.0).sum()
    free = np.zeros(len(items), dtype=bool)
    free[np.argsort(np.abs(gain), kind="stable")[:FIRST_DECIDED]] = True
    taken, excess = _decide(price, score, budget, count, free, gain > 0, nodes)
    open_items = free | (np.abs(gain) < bound - score[taken].sum())
    if not np.array_equal(open_items, free) or excess > 0:
        better, excess = _decide(price, score, budget, count, open_items, gain > 0, nodes)
        taken = better if score[better].sum() >= score[taken].sum() else taken
    return items[taken], excess


def _decide(
    price: Int64Array,
    score: Float64Array,
    budget: int,
    count: int,
    free: BoolArray,
    usual: BoolArray,
    nodes: int,
) -> tuple[BoolArray, float]:
    """Return which items to take, the free ones decided optimally and the others fixed, and the gap."""
    fixed = usual & ~free
    money, places = budget - int(price[fixed].sum()), count - int(fixed.sum())
    nothing = np.zeros(len(price), dtype=bool)
    if money < 0 or places < 0 or not free.any():
        return nothing, np.inf
    rows = np.vstack([price[free] / max(money, 1), np.ones(int(free.sum()))])
    unit = score[free].max()
    for highest in (1.0, 1 - 2 * TOLERANCE):  # retry if the solver exceeds the budget
        found = milp(
            -score[free] / unit,
            integrality=np.ones(rows.shape[1]),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(rows, ub=[highest if money else 0.0, places]),
            options={"mip_rel_gap": 0.0, "node_limit": nodes},
        )
        if found.x is None:
            break
        taken = fixed.copy()
        taken[free] = found.x > 0.5
        if int(price[taken].sum()) <= budget and taken.sum() <= count:
            missing = -found.mip_dual_bound * unit - score[taken & free].sum()
            return taken, 0.0 if found.status == 0 else max(0.0, float(missing))
    return nothing, np.inf


def _best_of_each_price(prices: Int64Array, scores: Float64Array, count: int) -> IntArray:
    """Return items that include a best packing: of items of equal price, the best are taken."""
    distinct = np.unique(prices)
    if len(distinct) > MOST_PRICES:
        return np.arange(len(prices))
    kept = []
    for price in distinct:
        items = np.flatnonzero(prices == price)
        kept.append(items[np.argsort(-scores[items], kind="stable")[:count]])
    return np.sort(np.concatenate(kept))


def affordable(prices: Int64Array, budget: int) -> int:
    """Return the largest number of leading prices (N,) whose sum is at most the budget.

    The sum of all may overflow 64 bits; only those up to twice the budget are added exactly.
    """
    some = int(np.searchsorted(np.cumsum(prices, dtype=np.float64), 2.0 * budget, side="right"))
    return int(np.searchsorted(np.cumsum(prices[: some + 1]), budget, side="right"))
