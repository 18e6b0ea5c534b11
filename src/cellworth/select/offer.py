"""What a selector is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import DataError
from cellworth.prices import PriceList

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Offer:
    """The cells on offer, with their worths and prices.

    Attributes
    ----------
    scores : (n, p) array
        The worth of each cell; finite and not negative where available, not looked at elsewhere.
    available : (n, p) array of bool
        The holes that can be had. No selector takes any other cell.
    prices : PriceList
        Of the same n x p cells.
    before : (n, p) array of bool
        The cells known before this batch: they may have opened groups of prices.
    """

    scores: Array
    available: Mask
    prices: PriceList
    before: Mask

    def __post_init__(self) -> None:
        shape = self.prices.own.shape
        for name in ("scores", "available", "before"):
            if getattr(self, name).shape != shape:
                raise DataError(
                    f"{name} must have the shape {shape} of the prices; got {getattr(self, name).shape}"
                )
        bad = self.available & ~(np.isfinite(self.scores) & (self.scores >= 0))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise DataError(
                "the scores of available cells must be finite and not negative; got "
                f"{self.scores[row, column]} in row number {row}, column number {column}, "
                f"and {int(bad.sum())} such cells in all"
            )
        both = self.available & self.before
        if both.any():
            row, column = np.argwhere(both)[0]
            raise DataError(
                f"a cell that is known cannot be bought; row number {row}, column number {column} is both"
            )


@dataclass(frozen=True, eq=False)
class Front:
    """Batches of which none is both cheaper and worth more than another, from cheap to dear.

    Attributes
    ----------
    costs : (m,) array, increasing
    scores : (m,) array, increasing
    """

    costs: Array
    scores: Array


@dataclass(frozen=True, eq=False)
class Selection:
    """The batch to buy.

    Attributes
    ----------
    cells : (k, 2) array of int
        Row and column numbers, in the order in which they were chosen; no cell twice.
    prices : (k,) array
        What each adds to the bill when added in that order; their sum is the bill.
    scores : (k,) array
        Their worths as offered.
    front : Front or None
        The trade-off of worth against money, where the selector finds it.
    """

    cells: Places
    prices: Array
    scores: Array
    front: Front | None = None

    @property
    def cost(self) -> float:
        """The bill."""
        return float(self.prices.sum())

    @property
    def score(self) -> float:
        """The sum of the worths."""
        return float(self.scores.sum())


class Selector(Protocol):
    """Spends a budget on scored cells."""

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose cells that together cost at most ``budget`` money and are at most ``count`` in number.

        At least one of the two is given. The bill is never above the budget, by as much as rounding.
        """
        ...
