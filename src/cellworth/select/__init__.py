"""Selectors, which spend a budget on scored cells."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.select.draw import Draw
    from cellworth.select.greedy import Ratio, Top
    from cellworth.select.knapsack import Knapsack
    from cellworth.select.poss import Poss
    from cellworth.select.selector import Offer, Selection

__all__ = [
    "Draw",
    "Knapsack",
    "Offer",
    "Poss",
    "Ratio",
    "Selection",
    "Top",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "draw": ["Draw"],
        "greedy": ["Ratio", "Top"],
        "knapsack": ["Knapsack"],
        "poss": ["Poss"],
        "selector": ["Offer", "Selection"],
    },
)
