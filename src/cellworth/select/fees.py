"""What opening a group of prices costs, cell by cell."""

from __future__ import annotations

import numpy as np

from cellworth.prices import PriceList
from cellworth.select.offer import Array, Mask


def opening_fees(prices: PriceList, before: Mask) -> Array:
    """Return the fee (n, p) that each cell would add as the first of its group in a batch.

    0 without a group, and where the group is open since a cell of it is known. O(n p).
    """
    fees = np.tile(prices.fee, (len(before), 1))
    for group in np.flatnonzero(prices.lasting):
        columns = np.flatnonzero(prices.group_of == group)
        fees[np.ix_(before[:, columns].any(axis=1), columns)] = 0.0
    return fees
