"""Exact money: amounts are the decimals that users see, and sums do not depend on their order.

The rule: **a float means the decimal number that Python prints for it**, its shortest repr. So 0.1 is one
tenth, ten times 0.1 is 1, and 0.57 + 0.47 fits a budget of 1.04. Sums and comparisons are exact under this
rule; only a result returned as a float is rounded, once, to the nearest float. Rounding preserves order: a
cost within a budget is still within it as a float.

=============  ===========================================================================================
`Money`        one amount: adds, subtracts, compares
`add_up`       the exact sum of an array
`within`       whether an array of amounts fits a budget
`MoneyUnits`   prices as integer multiples of a unit, for selectors that do arithmetic on whole arrays
`decimals_of`  the number of decimals at which all amounts in some arrays are whole numbers
=============  ===========================================================================================

Arrays are fast if all amounts have at most `MOST_DECIMALS` decimals and fifteen digits, as typical prices do:
NumPy counts them in whole units. Other amounts, such as computed prices, follow the same rule but take a
Python step each, about a microsecond; for `MoneyUnits`, see its docstring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cellworth.arrays import Float64Array

MOST_DECIMALS = 9
"""NumPy counts arrays of amounts with at most this many decimals."""
_MOST_UNITS = 10.0**15
"""Below this many units, no two decimals share a float, so a float identifies its decimal."""
_MONEY_BITS = 56  # twice the budget stays below 2**56, so 100 such amounts add without overflow
_CLOSE = 2.0**-40  # relative difference between the exact sum and NumPy's is below this


@total_ordering
class Money:
    """An exact amount of money: a whole number of units of ``10**-decimals``.

    Examples
    --------
    >>> Money(0.57) + Money(0.47) <= Money(1.04), 0.1 + 0.1 + 0.1 <= 0.3
    (True, False)
    >>> float(sum([Money(0.1)] * 3, Money()))
    0.3
    """

    __slots__ = ("decimals", "units")

    def __init__(self, amount: float = 0.0) -> None:
        """Interpret a finite float or int as the decimal number that Python prints for it."""
        text = repr(float(amount))
        whole, _, fraction = text.partition(".")
        if fraction == "0":
            fraction = ""
        try:
            self.units, self.decimals = int(whole + fraction), len(fraction)
        except ValueError:  # 1e-07, or infinity
            _, digits, exponent = Decimal(text).as_tuple()
            if not isinstance(exponent, int):
                raise ValueError(f"an amount of money must be finite; got {amount}") from None
            units = int("".join(map(str, digits))) * 10 ** max(0, exponent)
            self.units, self.decimals = (-units if amount < 0 else units), max(0, -exponent)

    @classmethod
    def of_units(cls, units: int, decimals: int) -> Money:
        """Return ``units * 10**-decimals``."""
        money = cls.__new__(cls)
        money.units, money.decimals = units, decimals
        return money

    def in_units(self, decimals: int) -> int:
        """Return the amount in units of ``10**-decimals``; ``decimals`` must be at least its own."""
        return self.units * int(10 ** (decimals - self.decimals))

    def __add__(self, other: Money) -> Money:
        if self.decimals == other.decimals:  # as most amounts in one currency
            return Money.of_units(self.units + other.units, self.decimals)
        decimals = max(self.decimals, other.decimals)
        return Money.of_units(self.in_units(decimals) + other.in_units(decimals), decimals)

    def __neg__(self) -> Money:
        return Money.of_units(-self.units, self.decimals)

    def __sub__(self, other: Money) -> Money:
        if self.decimals == other.decimals:
            return Money.of_units(self.units - other.units, self.decimals)
        return self + -other

    def __mul__(self, times: int) -> Money:
        return Money.of_units(self.units * times, self.decimals)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.as_fraction() == other.as_fraction()

    def __lt__(self, other: Money) -> bool:
        decimals = max(self.decimals, other.decimals)
        return self.in_units(decimals) < other.in_units(decimals)

    def __hash__(self) -> int:
        return hash(self.as_fraction())

    def __float__(self) -> float:
        return self.units / 10**self.decimals  # Python rounds integer division correctly

    def __repr__(self) -> str:
        return f"Money({float(self)!r})"

    def as_fraction(self) -> Fraction:
        """Return the amount as a fraction."""
        return Fraction(self.units, 10**self.decimals)

    def rounded_down(self) -> float:
        """Return the largest float not above the amount, so that it is safe to spend."""
        nearest = float(self)
        return nearest if Money(nearest) <= self else math.nextafter(nearest, -math.inf)


def add_up(amounts: ArrayLike) -> Money:
    """Return the exact sum of an array of finite amounts, of any shape; O(N).

    >>> float(add_up([0.1] * 10)), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """
    array = np.asarray(amounts, dtype=np.float64).ravel()
    decimals = decimals_of(array)
    if decimals is None:
        return sum(map(Money, array.tolist()), Money())
    counts = _counted(array, decimals)
    # Split off the low 30 bits, so that the sums of up to 2**33 counts fit.
    high, low = np.divmod(counts, 1 << 30)
    return Money.of_units((int(high.sum()) << 30) + int(low.sum()), decimals)


def within(amounts: ArrayLike, budget: float) -> bool:
    """Return whether non-negative amounts sum to at most the budget, which may be infinite; O(N).

    >>> within([0.1, 0.1, 0.1], 0.3), within([0.57, 0.47], 1.03)
    (True, False)
    """
    array = np.asarray(amounts, dtype=np.float64).ravel()
    with np.errstate(over="ignore"):
        binary = float(array.sum())
    if binary * (1 - _CLOSE) > budget or binary * (1 + _CLOSE) < budget:
        return binary < budget
    return add_up(array) <= Money(budget)


def difference(first: float, then: float) -> float:
    """Return ``first - then`` as an exact difference of two amounts.

    As floats, 7.27 - 5.17 and 5.20 - 3.10 differ in the last digit, so two tests with the same fee would seem
    to have different fees.

    >>> 7.27 - 5.17 == 5.20 - 3.10, difference(7.27, 5.17) == difference(5.20, 3.10)
    (False, True)
    """
    return float(Money(first) - Money(then))


def is_exact(amount: str | Decimal, number: float) -> bool:
    """Return whether a finite float stands for exactly this decimal, so that no digit of it is lost.

    >>> is_exact("7.27", 7.27), is_exact("0.12345678901234567891", 0.12345678901234567891)
    (True, False)
    """
    return not math.isfinite(number) or Decimal(amount) == Decimal(repr(number))


def decimals_of(*amounts: Float64Array) -> int | None:
    """Return how many decimals arrays of finite amounts need, or None if they have no common unit.

    None means that an amount has more than `MOST_DECIMALS` decimals, or is 10**15 units or more. O(N); rows
    or columns repeated by broadcasting are checked once.

    >>> decimals_of(np.array([0.5, 7.27]), np.array([3.0])), decimals_of(np.array([1 / 3]))
    (2, None)
    """
    arrays = [_once(array) for array in amounts]
    largest = max((float(np.abs(array).max(initial=0.0)) for array in arrays), default=0.0)
    decimals = 0
    for longer in arrays:
        while longer.size:
            scale = 10.0**decimals
            if decimals > MOST_DECIMALS or largest * scale >= _MOST_UNITS:
                return None
            longer = longer[np.rint(longer * scale) / scale != longer]  # division is correctly rounded
            decimals += bool(longer.size)
    return decimals


@dataclass(frozen=True)
class MoneyUnits:
    """A unit of money in which prices are integers, so that selectors can do exact arithmetic on arrays.

    The unit is a decimal one (1, 0.1, ..., 1e-9) if all amounts are multiples of it; then only the budget is
    rounded, down. Otherwise it is a power of two, finer than the last digit of the budget, and amounts are
    rounded up to the next multiple. A tie in the last digit may then be lost; use `within` to check a batch
    that must not exceed its budget.

    Attributes
    ----------
    budget : int
        In units, rounded down.
    double : int
        Twice the budget in units, rounded up.
    scale : float
        Units in an amount of 1.
    exact : bool
        Whether the unit is decimal.

    Examples
    --------
    >>> units = MoneyUnits.of(0.3, np.array([0.1, 0.25]))
    >>> units.budget, units.count(np.array([0.1, 0.25]))
    (30, array([10, 25]))
    """

    budget: int
    double: int
    scale: float
    exact: bool

    @classmethod
    def of(cls, budget: float, *amounts: Float64Array) -> MoneyUnits:
        """Choose the unit for a finite budget and amounts of at most twice the budget."""
        decimals = decimals_of(*amounts)
        if decimals is not None and 2 * budget * 10.0**decimals < _MOST_UNITS:
            units = Money(budget).as_fraction() * 10**decimals
            return cls(math.floor(units), math.ceil(2 * units), 10.0**decimals, True)
        shift = min(_MONEY_BITS - 1 - math.frexp(budget)[1], 1000)  # 2.0**1024 is too large for a float
        binary = math.ldexp(budget, shift)
        return cls(math.floor(binary), math.ceil(2 * binary), 2.0**shift, False)

    def count(self, amounts: Float64Array) -> NDArray[np.int64]:
        """Convert amounts to units, rounded up if the unit is not exact; O(N)."""
        units = amounts * self.scale
        return (np.rint(units) if self.exact else np.ceil(units)).astype(np.int64)

    def money(self, units: NDArray[np.int64]) -> Float64Array:
        """Convert units to amounts of money, rounded to the nearest floats; O(N)."""
        return units / self.scale


def _counted(amounts: Float64Array, decimals: int) -> NDArray[np.int64]:
    return np.rint(amounts * 10.0**decimals).astype(np.int64)


def _once(array: Float64Array) -> Float64Array:
    """Return an array without the repeats made by broadcasting."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]
