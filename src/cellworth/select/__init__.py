"""Selectors: each spends a budget on scored cells."""

from cellworth.select.draw import Draw
from cellworth.select.knapsack import Knapsack
from cellworth.select.offer import Front, Offer, Selection, Selector
from cellworth.select.poss import Poss
from cellworth.select.ratio import Ratio
from cellworth.select.top import Top

__all__ = ["Draw", "Front", "Knapsack", "Offer", "Poss", "Ratio", "Selection", "Selector", "Top"]
