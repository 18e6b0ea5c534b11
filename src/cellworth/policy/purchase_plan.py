"""Plan what to measure next in one row: sets of cells, what they are worth together, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.policy.decision_costs import BeliefLoss
from cellworth.policy.information import RowInformation
from cellworth.prices import PriceList

MOST_AHEAD = 6
"""Cells in a plan at most."""
PAIRED = 6
"""Pairs are made of this many of the best cells, and of the best cells of each group."""


@dataclass(frozen=True)
class Plan:
    """Cells to measure now, as the start of a plan that pays.

    Attributes
    ----------
    now : tuple of int
        Columns: one, or several that share a visit or a fee; empty if nothing is worth its price.
    worth : float
        What the whole plan is expected to save.
    price : float
        Of the whole plan, bought at once.
    ahead : tuple of int
        Columns of the whole plan, in order.
    """

    now: tuple[int, ...] = ()
    worth: float = 0.0
    price: float = 0.0
    ahead: tuple[int, ...] = ()


class RowPlanner:
    """Plans for one row.

    If the loss is money, a plan is a set of cells whose worth exceeds its price by most: cells that pay only
    together are found, and so is a cell whose fee pays once others share it. Only cells that tell something
    beyond doubt take part, unless there is none. If it is not, a plan is the cell with the highest worth per
    unit of money or, where cells share fees, such a set; with a budget, it is the set of the highest worth
    that the budget buys, so that cheap cells do not use up the money for a dear one that tells more. Plans
    start with the best cell or pair, per unit of money or, with a budget, at all, and grow by the cell that
    explains most of what is left per unit of money.

    Parameters
    ----------
    information : RowInformation
        Of the row's open cells.
    places : (q,) array of int
        Their columns.
    loss : BeliefLoss
    prices : PriceList
        Of this row alone, (1, p).
    before : (1, p) array of bool
        The cells that are known.
    allowed : (q,) array of bool
        The open cells that can be bought at all.
    budget : float
        The most that may be spent now; infinite without a limit.

    Attributes
    ----------
    worths : (q,) array
        What knowing each cell alone is expected to save; 0 for cells that tell nothing, beyond doubt, if the
        loss is money.
    alone : (q,) array
        What each would cost alone.
    """

    def __init__(
        self,
        information: RowInformation,
        places: IntArray,
        loss: BeliefLoss,
        prices: PriceList,
        before: BoolArray,
        *,
        allowed: BoolArray,
        budget: float = math.inf,
    ) -> None:
        self._information, self._places, self._loss = information, places, loss
        self._prices, self._before, self._budget = prices, before, budget
        self.alone: Float64Array = prices.marginal(before)[0, places]
        self.worths = information.worths(loss)
        self._share, chance = information.told()
        self._chance = chance
        self._sure = np.asarray(information.significant(chance), dtype=bool)
        if loss.in_money:
            self.worths = np.where(self._sure, self.worths, 0.0)
        self._open = allowed & (self.alone <= budget)

    def plan(self) -> Plan:
        """Return the best plan found; empty if nothing can be bought, or nothing pays."""
        candidates = np.flatnonzero(self._open & (self._information.sizes > 0))
        if not len(candidates) or self._information.perfect(self._loss) <= 1e-12 * self._unit():
            return Plan()
        if not self._loss.in_money and not math.isinf(self._budget):
            return self._best_within(candidates)
        if not self._loss.in_money and self._prices.additive:
            return self._made([self._best_alone(candidates)])
        if self._loss.in_money and self._sure[candidates].any():
            candidates = candidates[self._sure[candidates]]
        return self._best_prefix(self._grown(self._start(candidates), candidates))

    def _best_within(self, candidates: IntArray) -> Plan:
        """Return the plan of the highest worth among those that spend the budget from different starts."""
        if self._cost(candidates.tolist()) <= self._budget:  # there is money for all: the best comes first
            return self._made([self._best_alone(candidates)])
        most = int(candidates[self.worths[candidates].argmax()])
        starts = [[self._best_alone(candidates)], [most]]
        starts += [pair for pair in self._pairs(candidates) if self._cost(pair) <= self._budget][:PAIRED]
        plans = [self._made(self._grown(start, candidates)[-1]) for start in _distinct(starts)]
        return max(plans, key=lambda plan: (plan.worth, -plan.price))

    def _unit(self) -> float:
        """Return the scale of the loss, to tell nothing from rounding."""
        return max(1.0, float(np.abs(self._information.outputs).max()) ** 2)

    def _best_alone(self, candidates: IntArray) -> int:
        ratios = self.worths[candidates] / self.alone[candidates]
        if ratios.max() > 0:
            return int(candidates[ratios.argmax()])
        return int(candidates[self._chance[candidates].argmin()])  # nothing stands out of the noise

    def _start(self, candidates: IntArray) -> list[int]:
        """Return the cell, or pair that shares a fee, with the highest worth per unit of money."""
        value = self.worths[candidates]
        if not value.max() > 0:  # no cell changes a decision alone: start with what explains most
            value = self._share[candidates]
            return [int(candidates[(value / self.alone[candidates]).argmax()])]
        ratios = value / self.alone[candidates]
        best, start = float(ratios.max()), [int(candidates[ratios.argmax()])]
        for pair in self._pairs(candidates):
            price = self._cost(pair)
            if price <= self._budget:
                ratio = self._information.worth(pair, self._loss) / price
                if ratio > best * (1 + 1e-9):
                    best, start = ratio, pair
        return start

    def _pairs(self, candidates: IntArray) -> list[list[int]]:
        """Return pairs of cells that are cheaper together."""
        if self._prices.additive:
            return []
        order = candidates[np.argsort(-self._share[candidates] / self.alone[candidates], kind="stable")]
        group = self._prices.group_of[self._places]
        best = set(order[:PAIRED].tolist())
        for number in np.unique(group[candidates]):
            best |= set([each for each in order.tolist() if group[each] == number][:2])
        pairs = []
        for first in sorted(best):
            for second in sorted(best):
                same = group[first] >= 0 and group[first] == group[second]
                if first < second and (same or self._prices.visit > 0):
                    pairs.append([first, second])
        return pairs

    def _grown(self, start: list[int], candidates: IntArray) -> list[list[int]]:
        """Return the start, and sets that each have one cell more."""
        chosen, prefixes = list(start), [list(start)]
        outputs = self._information.outputs
        while len(chosen) < min(MOST_AHEAD, len(candidates)):
            left = outputs - self._information.fitted(chosen)
            share, chance = self._information.told(left)
            bill = self._prices.bill(self._before)
            for cell in chosen:
                bill.add(0, int(self._places[cell]))
            more = bill.prices()[0, self._places]
            free = [each for each in candidates.tolist() if each not in chosen and share[each] > 0]
            if self._loss.in_money and self._sure.any():
                free = [each for each in free if self._information.significant(chance)[each]]
            free = [each for each in free if self._cost([*chosen, each]) <= self._budget]
            if not free:
                break
            chosen.append(max(free, key=lambda each: (share[each] / more[each], -each)))
            prefixes.append(list(chosen))
        return prefixes

    def _best_prefix(self, prefixes: list[list[int]]) -> Plan:
        plans = [self._made(prefix) for prefix in prefixes]
        if self._loss.in_money:
            best = max(plans, key=lambda plan: plan.worth - plan.price)
            return best if best.worth > best.price else Plan()
        return max(plans, key=lambda plan: plan.worth / plan.price)

    def _made(self, cells: list[int]) -> Plan:
        worth = self._information.worth(cells, self._loss) if len(cells) > 1 else float(self.worths[cells[0]])
        return Plan(
            tuple(int(self._places[cell]) for cell in self._with_first(cells)),
            worth,
            self._cost(cells),
            tuple(int(self._places[cell]) for cell in cells),
        )

    def _with_first(self, cells: list[int]) -> list[int]:
        """Return the cells to measure with the first: those that would pay a fee again another time."""
        prices = self._prices
        if prices.visit > 0:
            return cells
        group = prices.group_of[self._places[cells[0]]]
        if group < 0 or prices.lasting[group]:
            return cells[:1]
        return [cell for cell in cells if prices.group_of[self._places[cell]] == group]

    def _cost(self, cells: Sequence[int]) -> float:
        bill = self._prices.bill(self._before)
        return float(sum(bill.add(0, int(self._places[cell])) for cell in cells))


def _distinct(starts: list[list[int]]) -> list[list[int]]:
    """Return sets of cells without repetitions."""
    found: list[list[int]] = []
    for start in starts:
        if all(set(start) != set(other) for other in found):
            found.append(start)
    return found
