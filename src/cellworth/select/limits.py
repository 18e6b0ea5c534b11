"""The limits of a batch, and the bill that shows that they are kept."""

from __future__ import annotations

import math
import operator
from numbers import Real

import numpy as np

from cellworth.errors import ParameterError
from cellworth.select.offer import Array, Front, Offer, Places, Selection


def check_limits(budget: float | None, count: int | None) -> tuple[float, float]:
    """Return budget and count as numbers, infinite where None; refuse what is no limit."""
    if budget is None and count is None:
        raise ParameterError("a batch needs a limit: give a budget, a count, or both; got neither")
    return _check_budget(budget), _check_count(count)


def _check_budget(budget: float | None) -> float:
    if budget is None:
        return math.inf
    try:
        money = float(budget)
    except (TypeError, ValueError):
        money = math.nan
    if not money >= 0:
        raise ParameterError(f"budget must be an amount of money, 0 or more; got {budget!r}")
    return money


def _check_count(count: int | None) -> float:
    if count is None:
        return math.inf
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if number < 0:
        raise ParameterError(f"count must be a whole number of cells, 0 or more; got {count!r}")
    return number


def as_number(value: object) -> float:
    """Return a parameter as a float, NaN if it is no number."""
    return float(value) if isinstance(value, Real) else math.nan


def positive_integer(name: str, value: int) -> int:
    """Return a parameter that counts something; refuse what is not a whole number of 1 or more."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ParameterError(f"{name} must be a whole number, 1 or more; got {value!r}")
    return number


def settle(offer: Offer, places: Places, budget: float, *, front: Front | None = None) -> Selection:
    """Return the batch of flat cell numbers (k,), in this order, with its bill.

    The bill is drawn up anew. Cells at the end are dropped if rounding put the sum above the budget, so that
    ``Selection.cost <= budget`` holds as the floating-point numbers are. O(k).
    """
    cells = np.column_stack(np.unravel_index(places, offer.scores.shape)).astype(np.intp)
    prices = bill(offer, cells)
    while len(prices) and not (within(prices, budget) and _announced(offer, cells) <= budget):
        prices, cells = prices[:-1], cells[:-1]
    return Selection(cells, prices, offer.scores[cells[:, 0], cells[:, 1]], front)


def bill(offer: Offer, cells: Places) -> Array:
    """Return what each of the cells (k, 2) adds to the bill (k,), bought in this order."""
    if offer.prices.additive:
        return offer.prices.own[cells[:, 0], cells[:, 1]]
    open_bill = offer.prices.bill(offer.before)
    return np.array([open_bill.add(row, column) for row, column in cells.tolist()], dtype=float)


def _announced(offer: Offer, cells: Places) -> float:
    """Return what the price list says that cells (k, 2) cost; additive prices are those of the bill."""
    return 0.0 if offer.prices.additive else offer.prices.cost(cells, offer.before)


def within(prices: Array, budget: float) -> bool:
    """Tell whether prices (k,) add up to at most the budget, added pairwise, one by one and exactly."""
    if not len(prices):
        return True
    return max(float(prices.sum()), float(np.cumsum(prices)[-1]), math.fsum(prices)) <= budget
