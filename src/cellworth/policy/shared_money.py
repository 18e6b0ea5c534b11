"""Share money among rows: what a unit of it must bring, so that a mean per row is not exceeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.policy.purchase_plan import Plan

ROWS = 150
"""How many simulated rows show what is spent."""

PlansFor = Callable[[BoolArray, Float64Array], list[Plan]]
"""The plans of rows, given which of their cells (m, p) are known, and their encoded values (m, d)."""
StepPrice = Callable[[Plan, BoolArray], float]
"""What the first step of a plan costs, given the known cells (p,) of its row."""


MOST_UNSPENT = 0.5
"""If rows that share money would leave more of it than this, they are too alike to share it."""


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
