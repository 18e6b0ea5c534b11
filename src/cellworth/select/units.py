"""Money and scores as whole numbers, so that sums are exact and do not depend on their order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

DECIMALS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
MONEY_BITS = 56  # twice the budget stays below 2**56, so that 100 such amounts can be added
SCORE_BITS = 60  # the sum of all scores stays below 2**60


@dataclass(frozen=True)
class Units:
    """A unit of money in which prices are whole numbers.

    The unit is a decimal one (1, 0.1, ..., 0.0001) if all amounts are whole multiples of it: then nothing is
    rounded. Else it is a power of two, and amounts are rounded up to the next multiple: still finer than
    the spacing of floating-point numbers at the budget.

    Attributes
    ----------
    budget : int
        In units, rounded down.
    double : int
        Twice the budget in units, rounded up.
    scale : float
        Units per money.
    exact : bool
        Whether the unit is a decimal one.
    """

    budget: int
    double: int
    scale: float
    exact: bool

    @classmethod
    def of(cls, budget: float, *amounts: Array) -> Units:
        """Choose the unit for a finite budget and for amounts, none of them above twice the budget."""
        for scale in DECIMALS:
            if 2 * budget * scale < 2.0**50 and all(_multiples(amount, scale) for amount in amounts):
                whole = round(budget * scale)
                if whole / scale == budget:  # 0.29 * 100 is a little less than 29; the decimal one is meant
                    return cls(whole, 2 * whole, scale, True)
                return cls(math.floor(budget * scale), math.ceil(2 * budget * scale), scale, True)
        shift = min(MONEY_BITS - 1 - math.frexp(budget)[1], 1000)  # 2.0**1024 is too large for a float
        units = math.ldexp(budget, shift)
        return cls(math.floor(units), math.ceil(2 * units), 2.0**shift, False)

    def count(self, amounts: Array) -> Integers:
        """Return amounts in units, rounded up where the unit is not exact."""
        units = amounts * self.scale
        return (np.rint(units) if self.exact else np.ceil(units)).astype(np.int64)

    def money(self, units: Integers) -> Array:
        """Return what so many units are worth."""
        return units / self.scale


def affordable(prices: Integers, budget: int) -> int:
    """Return how many of the prices (N,), from the first on, add up to at most the budget.

    The sum of all may be too large for 64 bits; only those up to twice the budget are added exactly.
    """
    some = int(np.searchsorted(np.cumsum(prices, dtype=np.float64), 2.0 * budget, side="right"))
    return int(np.searchsorted(np.cumsum(prices[: some + 1]), budget, side="right"))


def _multiples(amounts: Array, scale: float) -> bool:
    """Tell whether all amounts are the nearest floating-point numbers to multiples of 1 / scale."""
    return bool(np.array_equal(np.rint(amounts * scale) / scale, amounts))


def whole_scores(scores: Array) -> tuple[Integers, int]:
    """Return scores (N,) as whole numbers of :math:`2^{-s}` that add up to less than 2**60, and s.

    Digits beyond that are rounded: none of a score that is at least 2**(-6) / N of the largest.
    """
    shift = SCORE_BITS - math.frexp(float(scores.max(initial=0.0)))[1] - len(scores).bit_length()
    return np.rint(np.ldexp(scores, shift)).astype(np.int64), shift
