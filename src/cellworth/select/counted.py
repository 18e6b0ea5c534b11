"""The knapsack with a second limit, on the number of items, by mixed-integer programming on few items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

MOST_PRICES = 64  # distinct prices up to which items of equal price are looked at together
CORE = 150  # items that are decided first
TOLERANCE = 1e-6  # by which the solver may overstep a limit


def pack_counted(
    prices: Integers, scores: Array, budget: int, count: int, nodes: int
) -> tuple[Places, float]:
    """Return up to ``count`` items within the budget, and by how much a better packing could beat them.

    Prices of money and of a place in the batch, from the linear relaxation, say of each item what taking or
    leaving it against them loses. The items that lose least are decided exactly, the others left as they
    are; then all that lose less than what this batch is short of the relaxation: the optimum is among these.

    The score is the largest up to the solver's tolerance, a millionth: then the second number is 0. It is
    more only if a search ended after ``nodes`` nodes. No items if nothing was found.
    """
    items = _best_of_each_price(prices, scores, count)
    price, score = prices[items], scores[items]
    rows = np.vstack([price / budget, np.full(len(items), 1 / count)])
    relaxed = linprog(-score / score.max(), A_ub=rows, b_ub=[1, 1], bounds=(0, 1), method="highs")
    duals = np.maximum(0.0, -relaxed.ineqlin.marginals) * score.max()
    gain = score - duals @ rows
    bound = duals.sum() + np.maximum(gain, 0.0).sum()
    free = np.zeros(len(items), dtype=bool)
    free[np.argsort(np.abs(gain), kind="stable")[:CORE]] = True
    taken, excess = _decide(price, score, budget, count, free, gain > 0, nodes)
    open_items = free | (np.abs(gain) < bound - score[taken].sum())
    if not np.array_equal(open_items, free) or excess > 0:
        better, excess = _decide(price, score, budget, count, open_items, gain > 0, nodes)
        taken = better if score[better].sum() >= score[taken].sum() else taken
    return items[taken], excess


def _decide(
    price: Integers, score: Array, budget: int, count: int, free: Mask, usual: Mask, nodes: int
) -> tuple[Mask, float]:
    """Return which items to take, the free ones at best and the others as usual, and what may be missing."""
    fixed = usual & ~free
    money, places = budget - int(price[fixed].sum()), count - int(fixed.sum())
    nothing = np.zeros(len(price), dtype=bool)
    if money < 0 or places < 0 or not free.any():
        return nothing, np.inf
    rows = np.vstack([price[free] / max(money, 1), np.ones(int(free.sum()))])
    unit = score[free].max()
    for highest in (1.0, 1 - 2 * TOLERANCE):  # again, if the solver oversteps the budget
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


def _best_of_each_price(prices: Integers, scores: Array, count: int) -> Places:
    """Return the items among which a best packing lies: of items of equal price the best are taken."""
    distinct = np.unique(prices)
    if len(distinct) > MOST_PRICES:
        return np.arange(len(prices))
    kept = []
    for price in distinct:
        items = np.flatnonzero(prices == price)
        kept.append(items[np.argsort(-scores[items], kind="stable")[:count]])
    return np.sort(np.concatenate(kept))
