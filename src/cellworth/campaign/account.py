"""The money of a campaign: what was spent and what is reserved, whatever the order of events."""

from __future__ import annotations

from collections.abc import Iterable

from cellworth.prices.money import Money


class Account:
    """What was spent and what is reserved, as exact sums of prices.

    Examples
    --------
    >>> account = Account()
    >>> for _ in range(10):
    ...     account.spend(0.1)
    >>> account.spent, sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """

    def __init__(self) -> None:
        self._spent = Money()
        self._reserved = Money()

    @property
    def spent(self) -> float:
        """What the answers cost, rounded once."""
        return float(self._spent)

    def reserve(self, price: float) -> None:
        """Set money aside."""
        self._reserved += Money(price)

    def release(self, price: float) -> None:
        """Give back what was set aside."""
        self._reserved -= Money(price)

    def spend(self, price: float) -> None:
        """Pay."""
        self._spent += Money(price)

    def reserved(self, released: Iterable[float] = ()) -> float:
        """Return what the cells that are asked for will cost, without some of their prices; rounded once."""
        return float(self._reserved - _sum(released))

    def left(self, budget: float, released: Iterable[float] = ()) -> float:
        """Return what is left of a budget once some reserved prices are released; rounded once."""
        return float(self._left(budget, released))

    def spendable(self, budget: float, released: Iterable[float] = ()) -> float:
        """Return what is left, but 0 where that is negative, and never rounded up: it can be spent whole."""
        return max(self._left(budget, released), Money()).rounded_down()

    def _left(self, budget: float, released: Iterable[float]) -> Money:
        return Money(budget) - self._spent - self._reserved + _sum(released)


def _sum(prices: Iterable[float]) -> Money:
    return sum(map(Money, prices), Money())
