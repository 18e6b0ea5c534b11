"""Plan what to measure next in each row: sets of cells, what they are worth together, and what they cost.

Rows may share money (`share_money`): what a unit of it must bring, so that a mean per row is not exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.policy.decision_costs import BeliefLoss
from cellworth.policy.information import GrowingFit, Information
from cellworth.prices import PriceList

MOST_AHEAD = 4
"""Cells in a plan at most."""
ROWS = 150
"""How many simulated rows show what is spent."""
MOST_UNSPENT = 0.5
"""If rows that share money would leave more of it than this, they are too alike to share it."""


@dataclass(frozen=True)
class Plan:
    """Cells of one row to measure now, as the start of a plan that pays.

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


class Planner:
    """Plans for rows; each is planned on its own, all at the same time.

    A plan grows by the cell that explains most of what is left per unit of money. It is begun with the best
    cell per unit of money, and once more for each fee that cells share, as if that fee were paid: so cells
    that pay only together are found. Of all beginnings of these plans, the best counts.

    - If the loss is money, the one whose worth exceeds its price by most, if any does. Only cells that tell
      something beyond doubt take part, unless there is none.
    - If not, the one with the highest worth per unit of money, if that is above ``least_ratio``.
    - If not, and there is a budget to use up (``use_up``), the one of the highest worth that the budget buys,
      so that cheap cells do not use up the money for a dear one that tells more. Plans are then begun with
      the cell of the highest worth, too.

    Parameters
    ----------
    information : Information
        Of m rows and p cells.
    loss : BeliefLoss
    prices : PriceList
        Of one row.
    before : (m, p) array of bool
        The known cells.
    allowed : (m, p) array of bool
        The cells that can be bought.
    budgets : (m,) array
        The most that each plan may cost.
    trust : (p,) array
        By which gains are multiplied; see `cellworth.policy.information`.
    least_ratio : (m,) array or float
    first_most : (m,) array, optional
        The most that the first cell of each plan may cost.
    use_up : bool

    Attributes
    ----------
    worths : (m, p) array
        What knowing each cell alone is expected to save; 0 for cells that tell nothing, beyond doubt, if the
        loss is money.
    alone : (m, p) array
        What each would cost alone.
    """

    def __init__(
        self,
        information: Information,
        loss: BeliefLoss,
        prices: PriceList,
        before: BoolArray,
        *,
        allowed: BoolArray,
        budgets: Float64Array,
        trust: Float64Array,
        least_ratio: Float64Array | float = -np.inf,
        first_most: Float64Array | None = None,
        use_up: bool = False,
    ) -> None:
        self._information, self._loss, self._trust = information, loss, trust
        self._prices = prices.of_rows(np.zeros(len(before), dtype=np.intp))
        self._before, self._budgets = before, budgets
        self._least_ratio, self._use_up = least_ratio, use_up
        self._first_most = None if first_most is None else first_most[:, np.newaxis]
        self.alone: Float64Array = self._prices.marginal(before)
        self.worths = information.worths(loss) * trust
        self._share, chance = information.told()
        self._sure = information.significant(chance)
        if loss.in_money:
            self.worths = np.where(self._sure, self.worths, 0.0)
        self._open = allowed & (information.sizes > 0) & (self.alone <= budgets[:, np.newaxis])
        nothing = information.perfect(loss) <= 1e-12 * np.maximum(1.0, np.abs(information.outputs).max()) ** 2
        self._open[nothing] = False
        if loss.in_money:  # what tells nothing takes part only if there is nothing else
            surely = self._open & self._sure
            self._open = np.where(surely.any(axis=1, keepdims=True), surely, self._open)

    def plans(self) -> list[Plan]:
        """Return the best plan of each row; empty if nothing can be bought, or nothing pays."""
        best, found = np.full(len(self._before), -1.0), [Plan()] * len(self._before)
        for orders in self._beginnings():
            for worth, price, cells, rows in self._grown(*orders):
                goodness = self._goodness(worth, price)
                # By more than rounding, which depends on how many rows are planned together.
                better = goodness > best * (1 + 1e-9)
                for row in np.flatnonzero(rows & better).tolist():
                    best[row] = goodness[row]
                    ahead = tuple(int(cell[row]) for cell in cells)
                    found[row] = Plan(self._with_first(ahead), float(worth[row]), float(price[row]), ahead)
        return found

    def _goodness(self, worth: Float64Array, price: Float64Array) -> Float64Array:
        """Return by what plans are compared, (m,): not negative, or minus infinity if they do not pay."""
        if self._loss.in_money:
            return np.where(worth > price, worth - price, -np.inf)
        ratio = worth / np.where(price > 0, price, 1.0)
        pays = ratio > self._least_ratio
        return np.where(pays, worth if self._use_up else ratio, -np.inf)

    def _beginnings(self) -> Iterator[tuple[Float64Array, PriceList]]:
        """Yield values (m, p) to choose the first cell by, and the prices by which plans grow."""
        first = self._open if self._first_most is None else self._open & (self.alone <= self._first_most)
        value = np.where(first, self.worths, 0.0)
        none = ~(value > 0).any(axis=1)  # no cell changes a decision alone: start with what explains most
        value[none] = np.where(first[none], self._share[none] + 1e-12, 0.0)
        yield value / self.alone, self._prices
        if self._use_up:
            yield value, self._prices
        if self._prices.additive:
            return
        for group in np.unique(self._prices.group_of[self._prices.group_of >= 0]):
            members = self._prices.group_of == group
            if members.sum() > 1 and self._prices.fee[members].any():
                free = replace(self._prices, fee=np.where(members, 0.0, self._prices.fee))
                yield np.where(members, value, 0.0) / free.marginal(self._before), free
        if self._prices.visit > 0:
            free = replace(self._prices, visit=0.0)
            yield value / free.marginal(self._before), free

    def _grown(
        self, first: Float64Array, order_by: PriceList
    ) -> Iterator[tuple[Float64Array, Float64Array, list[IntArray], BoolArray]]:
        """Yield the worth and price (m,) of beginnings of plans, their cells, and the rows that have them."""
        m = len(self._before)
        fit, every = GrowingFit(self._information), np.arange(m)
        bill, order_bill = self._prices.bill(self._before), order_by.bill(self._before)
        price, worth, before = np.zeros(m), np.zeros(m), np.zeros(m)
        left, rows, value = self._open.copy(), np.ones(m, dtype=bool), first
        cells: list[IntArray] = []
        for _ in range(MOST_AHEAD):
            value = np.where(left, value, 0.0)
            chosen = value.argmax(axis=1)
            rows = rows & (value[every, chosen] > 0)
            if not rows.any():
                return
            for row in np.flatnonzero(rows).tolist():
                price[row] += bill.add(row, int(chosen[row]))
                order_bill.add(row, int(chosen[row]))
            left[every, chosen] = False
            cells = [*cells, chosen]
            fit.add(chosen, rows)
            now = self._information.worth_of(fit.beliefs(), self._loss)
            worth = worth + np.maximum(now - before, 0.0) * self._trust[chosen]
            before = np.maximum(now, before)
            if len(cells) == 1:
                worth = self.worths[every, chosen]  # the same figure as in the list of cells
                before = worth / self._trust[chosen]
            yield worth, price.copy(), cells, rows
            share, chance = self._information.told(fit.residual)
            if self._loss.in_money:
                sure = self._information.significant(chance) | ~self._sure.any(axis=1, keepdims=True)
                share = np.where(sure, share, 0.0)
            left &= price[:, np.newaxis] + bill.prices() <= self._budgets[:, np.newaxis] + 1e-9
            value = share * self._trust / order_bill.prices()

    def _with_first(self, cells: tuple[int, ...]) -> tuple[int, ...]:
        """Return the cells to measure with the first: those that would pay a fee again another time."""
        if self._prices.visit > 0:
            return cells
        group = self._prices.group_of[cells[0]]
        if group < 0 or self._prices.lasting[group]:
            return cells[:1]
        return tuple(cell for cell in cells if self._prices.group_of[cell] == group)


PlansFor = Callable[[BoolArray, Float64Array], list[Plan]]
"""The plans of rows, given which of their cells (m, p) are known, and their encoded values (m, d)."""
StepPrice = Callable[[Plan, BoolArray], float]
"""What the first step of a plan costs, given the known cells (p,) of its row."""


class SharedMoney(NamedTuple):
    """How rows share money.

    Attributes
    ----------
    least_ratio : float
        What a plan must bring per unit of money.
    spent : float
        What rows then spend on average.
    """

    least_ratio: float
    spent: float

    def is_used(self, mean: float) -> bool:
        """Return whether enough of the mean is spent, or all that tells anything is bought."""
        return self.least_ratio == 0 or self.spent >= (1 - MOST_UNSPENT) * mean


def share_money(
    mean: float, X: Float64Array, known: BoolArray, plans_for: PlansFor, step_price: StepPrice
) -> SharedMoney:
    """Return the smallest ratio at which rows spend at most ``mean`` on average.

    Rows buy step by step. Those of which nothing is known are all alike, and only what they buy tells them
    apart: they take their first step whatever it brings. Then a row that stops at the first plan that brings
    no more than r takes the same steps as with a smaller r, only fewer; so one pass finds all steps that
    matter, and the smallest r follows.

    Parameters
    ----------
    mean : float
    X : (m, d) array
        Complete encoded rows.
    known : (m, p) array of bool
        What is known of them at first.
    plans_for, step_price : callables

    Returns
    -------
    SharedMoney
        With the ratio 0 if there is money for all that tells anything. Rows that are alike buy the same: if
        there is money for some of them only, none buys. So plans for rows of which nothing is known should
        fit the mean.
    """
    money, known = mean * len(X), known.copy()
    worst, steps = np.full(len(X), np.inf), np.zeros((0, 2))
    rows = np.arange(len(X))
    pending: dict[int, tuple[Plan, float]] = {}
    while True:
        for row, plan in zip(rows.tolist(), plans_for(known[rows], X[rows]), strict=True):
            if plan.now and plan.worth > 0:
                if known[row].any():
                    worst[row] = min(worst[row], plan.worth / plan.price)
                pending[row] = plan, step_price(plan, known[row])
        waiting = np.array([[worst[row], price] for row, (_, price) in pending.items()]).reshape(-1, 2)
        level = _level(np.vstack([steps, waiting]), money)
        rows = np.array([row for row in pending if worst[row] > level], dtype=np.intp)
        if not len(rows):
            return SharedMoney(level, float(steps[steps[:, 0] > level, 1].sum()) / len(X))
        for row in rows.tolist():
            plan, price = pending.pop(row)
            steps = np.vstack([steps, [worst[row], price]])
            known[row, list(plan.now)] = True


def _level(steps: Float64Array, money: float) -> float:
    """Return the smallest ratio so that steps (k, 2) of a higher ratio cost no more than the money."""
    ordered = steps[np.argsort(-steps[:, 0], kind="stable")]
    beyond = np.flatnonzero(np.cumsum(ordered[:, 1]) > money * (1 + 1e-9))
    return float(ordered[beyond[0], 0]) if len(beyond) else 0.0
