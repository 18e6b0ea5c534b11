"""What all cells that are left of a table cost, worked out on a sample of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.prices.price_list import PriceList


@dataclass(frozen=True, eq=False)
class CellsLeft:
    """The table that a sample of rows stands for.

    Attributes
    ----------
    wanted : (p,) int array
        How many cells can still be bought in each column of the table; with labels last, if it has a target.
    rows : int
        Of the table.
    """

    wanted: IntArray
    rows: int

    def cost(self, prices: PriceList, wanted: BoolArray, before: BoolArray) -> float:
        """Return what the cells left cost, given the prices (m, p) of the sampled rows.

        ``wanted`` and ``before`` (m, p) say which of their cells can be bought, and which are known. Cells of
        a column that all cost the same count exactly. For others the mean price in the sample is taken, and
        for fees and visits what they come to in the sample, for each of its rows.

        >>> none = [-1], [0.0], []
        >>> sample = PriceList(np.array([[2.5], [2.5]]), *none)
        >>> CellsLeft(np.array([7]), 20).cost(sample, np.array([[True], [False]]), np.ones((2, 1)) < 0)
        17.5
        """
        own = float(self.wanted[: prices.own.shape[1]] @ _typical(prices.own, wanted))
        if prices.additive or not wanted.any():
            return own
        fees = prices.cost(np.argwhere(wanted), before) - float(prices.own[wanted].sum())
        return own + fees * self.rows / len(wanted)


def _typical(own: Float64Array, wanted: BoolArray) -> Float64Array:
    """Return the price (p,) of a cell of each column: that of all cells, or the mean of the wanted ones."""
    low, high = own.min(axis=0), own.max(axis=0)
    some = np.where(wanted.any(axis=0), wanted, True)
    means = np.where(some, own, 0.0).sum(axis=0) / some.sum(axis=0)
    return np.where(low == high, low, means)
