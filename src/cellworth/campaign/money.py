"""Sums of money without drift: what was spent and reserved does not depend on the order of events."""

from __future__ import annotations

import math
from collections.abc import Iterable

_ONE = 1 << 1074
"""A price of 1 in units of the smallest float: every float is a whole number of them, so sums are exact."""


class Money:
    """What was spent and what is reserved, as exact sums of prices.

    Examples
    --------
    >>> money = Money()
    >>> for _ in range(10):
    ...     money.spend(0.1)
    >>> money.spent, sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """

    def __init__(self) -> None:
        self._spent = 0
        self._reserved = 0

    @property
    def spent(self) -> float:
        """What the answers cost, rounded once."""
        return self._spent / _ONE

    def reserve(self, price: float) -> None:
        """Set money aside."""
        self._reserved += _units(price)

    def release(self, price: float) -> None:
        """Give back what was set aside."""
        self._reserved -= _units(price)

    def spend(self, price: float) -> None:
        """Pay."""
        self._spent += _units(price)

    def reserved(self, released: Iterable[float] = ()) -> float:
        """Return what the cells that are asked for will cost, without some of their prices; rounded once."""
        return (self._reserved - sum(map(_units, released))) / _ONE

    def left(self, budget: float, released: Iterable[float] = ()) -> float:
        """Return what is left of a budget once some reserved prices are released; rounded once."""
        return self._left(budget, released) / _ONE

    def spendable(self, budget: float, released: Iterable[float] = ()) -> float:
        """Return what is left, but 0 where that is negative, and never rounded up: it can be spent whole."""
        left = max(0, self._left(budget, released))
        rounded = left / _ONE
        return math.nextafter(rounded, 0.0) if _units(rounded) > left else rounded

    def _left(self, budget: float, released: Iterable[float]) -> int:
        return _units(budget) - self._spent - self._reserved + sum(map(_units, released))


def _units(price: float) -> int:
    numerator, denominator = float(price).as_integer_ratio()
    return numerator << (1075 - denominator.bit_length())
