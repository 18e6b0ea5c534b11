"""What the cells of a table are worth and cost in all, column by column; totals of its parts can be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from cellworth.arrays import Float64Array, Int64Array, IntArray
from cellworth.campaign.current_cells import CellArrays

MANTISSA_BITS = 52
COLUMN_BITS = 11
"""Leading bits of the worths in a column that are told apart, besides the exponent: 0.05 %."""
RANK_BITS = 17
"""The same for worth per unit of money, by which cells are ranked: 0.0008 %."""
SUMS = ("known", "bought", "refused", "asked", "available", "worth", "price")
"""Attributes of `WorthTotals` that add up."""


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How many numbers, 0 or above, have the same leading bits; numbers of parts can be added.

    Memory is bounded by the different leading bits, however many numbers there are.

    Attributes
    ----------
    bits : int
        Leading bits of the mantissa that are kept.
    keys, counts : (k,) int arrays
        The leading bits, increasing, and how many numbers have them.

    Examples
    --------
    >>> counts = NumberCounts.of(np.array([1.0, 2.0, 2.0, 5.0]), 17)
    >>> counts.above(2.0), counts.n, counts.quantile(0.5)
    (1, 4, 2.0)
    """

    bits: int
    keys: Int64Array
    counts: Int64Array

    @classmethod
    def of(cls, numbers: Float64Array, bits: int) -> Self:
        """Count numbers (n,)."""
        keys, counts = np.unique(_keys(numbers, bits), return_counts=True)
        return cls(bits, keys, counts.astype(np.int64))

    @property
    def n(self) -> int:
        """How many numbers there are."""
        return int(self.counts.sum())

    def added(self, other: NumberCounts) -> NumberCounts:
        """Return the counts of both."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return NumberCounts(self.bits, keys, counts)

    def above(self, number: float) -> int:
        """Return how many are above a number and differ from it in their leading bits."""
        key = _keys(np.array([number]), self.bits)[0]
        return int(self.counts[np.searchsorted(self.keys, key, side="right") :].sum())

    def quantile(self, share: float) -> float:
        """Return a quantile with its leading bits, rounded down; NaN if there are no numbers."""
        if not len(self.keys):
            return float(np.nan)
        at = np.searchsorted(np.cumsum(self.counts), share * (self.n - 1), side="right")
        key = self.keys[min(int(at), len(self.keys) - 1)]
        return float((np.array([key]) << (MANTISSA_BITS - self.bits)).view(np.float64)[0])


def _keys(numbers: Float64Array, bits: int) -> Int64Array:
    """Return the exponent and the leading bits: in the order of the numbers, which are 0 or above."""
    whole = np.ascontiguousarray(numbers, dtype=np.float64) + 0.0  # not -0
    found: Int64Array = whole.view(np.int64) >> (MANTISSA_BITS - bits)
    return found


@dataclass(frozen=True, eq=False)
class WorthTotals:
    """The cells of some rows, column by column; if labels have a price, they are the last of the p columns.

    Attributes
    ----------
    rows : int
    known, bought, refused, asked, available : (p,) int arrays
        Numbers of cells; see `CellArrays`.
    worth, price : (p,) arrays
        Sums over the cells that are available.
    most : (p,) array
        The largest worth of one; 0 if there is none.
    price_low, price_high : (p,) arrays
        Of all cells, each bought alone.
    worths : tuple of NumberCounts, length p
        Of the cells that are available.
    per_money : tuple of NumberCounts, length p
        Likewise, of worth divided by price.
    """

    rows: int
    known: IntArray
    bought: IntArray
    refused: IntArray
    asked: IntArray
    available: IntArray
    worth: Float64Array
    price: Float64Array
    most: Float64Array
    price_low: Float64Array
    price_high: Float64Array
    worths: tuple[NumberCounts, ...]
    per_money: tuple[NumberCounts, ...]

    @classmethod
    def of(cls, cells: CellArrays) -> Self:
        """Add up the cells of some rows, at least one; O(n p log n)."""
        here = cells.available
        columns = [here[:, j] for j in range(here.shape[1])]
        worth, ratio = cells.worth, np.divide(cells.worth, cells.price, where=here, out=np.zeros(here.shape))
        return cls(
            rows=len(here),
            known=cells.known.sum(axis=0),
            bought=cells.bought.sum(axis=0),
            refused=cells.refused.sum(axis=0),
            asked=cells.asked.sum(axis=0),
            available=here.sum(axis=0),
            worth=np.where(here, worth, 0.0).sum(axis=0),
            price=np.where(here, cells.price, 0.0).sum(axis=0),
            most=np.where(here, worth, 0.0).max(axis=0),
            price_low=cells.price.min(axis=0),
            price_high=cells.price.max(axis=0),
            worths=tuple(NumberCounts.of(worth[at, j], COLUMN_BITS) for j, at in enumerate(columns)),
            per_money=tuple(NumberCounts.of(ratio[at, j], RANK_BITS) for j, at in enumerate(columns)),
        )

    def added(self, other: WorthTotals) -> WorthTotals:
        """Return the totals of both."""
        mine, its = vars(self), vars(other)
        found = {name: mine[name] + its[name] for name in ("rows", *SUMS)}
        for name in ("worths", "per_money"):
            found[name] = tuple(a.added(b) for a, b in zip(mine[name], its[name], strict=True))
        return WorthTotals(
            **found,
            most=np.maximum(self.most, other.most),
            price_low=np.minimum(self.price_low, other.price_low),
            price_high=np.maximum(self.price_high, other.price_high),
        )

    @property
    def average_worth(self) -> float:
        """The mean worth of what is available; 1 if that is 0."""
        return float(self.worth.sum() / max(1, self.available.sum())) or 1.0

    def rank(self, per_money: float, columns: int) -> tuple[int, int]:
        """Return a cell's rank by worth per unit of money in the first columns, and the number of cells.

        Cells that agree in `RANK_BITS` have the same rank.
        """
        counts = self.per_money[:columns]
        return 1 + sum(each.above(per_money) for each in counts), sum(each.n for each in counts)
