"""Prices: what it costs to learn the true values of cells.

`Prices` holds the user's prices by name; ``Prices.on(table)`` is the `PriceList` of one table's cells.
Sums of prices are exact; see `money`.
"""

from cellworth.prices.group import Group
from cellworth.prices.price_list import Bill, PriceList
from cellworth.prices.prices import AnyPrices, Prices

__all__ = ["AnyPrices", "Bill", "Group", "PriceList", "Prices"]
