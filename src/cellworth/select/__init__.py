"""Selectors, which spend a budget on scored cells."""

from cellworth.select.draw import Draw
from cellworth.select.greedy import Ratio, Top
from cellworth.select.knapsack import Knapsack
from cellworth.select.poss import Poss
from cellworth.select.selector import Offer, Selection, Selector

__all__ = ["Draw", "Knapsack", "Offer", "Poss", "Ratio", "Selection", "Selector", "Top"]
