"""The input and output of a selector, and the limits it must keep."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Protocol

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.prices import PriceList
from cellworth.prices.money import add_up, within
from cellworth.setting_names import named

SLACK = 1e-9  # relative, in how many times a price fits a budget: one cell too many does no harm


@dataclass(frozen=True, eq=False)
class Offer:
    """The cells on offer, with their scores and prices.

    Attributes
    ----------
    scores : (n, p) array
        The score of each cell; finite and nonnegative where available, ignored elsewhere.
    available : (n, p) array of bool
        The holes that can be bought. Selectors take no other cells.
    prices : PriceList
        Prices of the same n x p cells.
    before : (n, p) array of bool
        The cells known before this batch, which may have opened price groups.

    Notes
    -----
    If ``prices.labels``, the last column is that of the labels.
    """

    scores: Float64Array
    available: BoolArray
    prices: PriceList
    before: BoolArray

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
                "the scores of available cells must be finite and nonnegative; got "
                f"{self.scores[row, column]} in row number {row}, column number {column}, "
                f"and {int(bad.sum())} such cells in all"
            )
        both = self.available & self.before
        if both.any():
            row, column = np.argwhere(both)[0]
            raise DataError(
                f"a known cell cannot be available; row number {row}, column number {column} is both"
            )

    @property
    def awaited(self) -> BoolArray:
        """(n,) bool, the rows whose label is on offer and worth buying: their cells pay only with it."""
        if not self.prices.labels:
            return np.zeros(len(self.scores), dtype=bool)
        return self.available[:, -1] & (self.scores[:, -1] > 0)

    def opening_fees(self) -> Float64Array:
        """Return the fee (n, p) that each cell would add as the first of its group in a batch; O(n p).

        0 without a group, and if the group is open because one of its cells is known.
        """
        fees = np.tile(self.prices.fee, (len(self.before), 1))
        opened = self.prices.opened(self.before)
        grouped = np.flatnonzero(self.prices.group_of >= 0)
        fees[:, grouped] = np.where(opened[:, self.prices.group_of[grouped]], 0.0, fees[:, grouped])
        return fees


@dataclass(frozen=True, eq=False)
class Front:
    """Batches of which none is both cheaper and worth more than another, by increasing cost.

    Attributes
    ----------
    costs : (m,) array, increasing
    scores : (m,) array, increasing
    """

    costs: Float64Array
    scores: Float64Array


@dataclass(frozen=True, eq=False)
class Selection:
    """The batch to buy.

    Attributes
    ----------
    cells : (k, 2) array of int
        Row and column numbers, in the order chosen; no cell appears twice.
    prices : (k,) array
        What each cell adds to the cost in that order; their sum is the cost.
    scores : (k,) array
        Their scores as offered.
    front : Front or None
        The trade-off between score and cost, if the selector computes it.
    """

    cells: IntArray
    prices: Float64Array
    scores: Float64Array
    front: Front | None = None

    @property
    def cost(self) -> float:
        """The total cost: the exact sum of the prices as decimals, rounded once."""
        return float(add_up(self.prices))

    @property
    def score(self) -> float:
        """The sum of the scores."""
        return float(self.scores.sum())


class Selector(Protocol):
    """Spends a budget on scored cells."""

    def select(
        self, offer: Offer, *, budget: float | None = None, count: int | None = None, rng: np.random.Generator
    ) -> Selection:
        """Choose at most ``count`` cells that together cost at most ``budget``.

        At least one of the two is given. The cost never exceeds the budget: prices are added as decimals (see
        `cellworth.prices.money`).
        """
        ...


class BlockSelector(Selector, Protocol):
    """A selector that also works on row blocks, where the scores are not all in one place.

    Each block sends its shortlist, and the batch is selected from the shortlists. Prices must be additive and
    per column. The cells of several shortlists are offered as a single column, (k, 1), in the order of the
    table: by row, then by column.
    """

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the cells (k, 2) of a part of a table that a batch from the whole table could include.

        `select` must choose the same cells from the combined shortlists of all parts as from the whole table.
        A selector whose settings do not allow that raises a ParameterError.
        """
        ...


def best_of_each_price(offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
    """Return the best cells (k, 2) of each price, as many as the limits allow, ties by position.

    A shortlist for any selector that takes the better of two cells of equal price. O(N) for N cells and few
    prices, O(N log N) if prices differ from row to row.
    """
    money, most = check_limits(budget, count)
    own, flat = offer.prices.own, np.flatnonzero(offer.available)
    scores = offer.scores.ravel()[flat]
    if own.strides[0] == 0:  # the same prices in all rows
        distinct, column_kind = np.unique(own[:1].ravel(), return_inverse=True)
        kind = column_kind[flat % own.shape[1]]
    else:
        distinct, kind = np.unique(own.ravel()[flat], return_inverse=True)
    kept = [np.zeros(0, dtype=np.intp)]
    for number, price in enumerate(distinct.tolist()):
        of_price = np.flatnonzero(kind == number)
        limit = min(most, money / price * (1 + SLACK), len(of_price))
        kept.append(of_price[_highest(scores[of_price], int(limit))])
    chosen = flat[np.sort(np.concatenate(kept))]
    return np.column_stack(np.unravel_index(chosen, offer.scores.shape)).astype(np.intp)


def _highest(scores: Float64Array, k: int) -> IntArray:
    """Return the positions of the k highest scores in increasing order, ties by position; O(N)."""
    if k >= len(scores):
        return np.arange(len(scores))
    if k == 0:
        return np.zeros(0, dtype=np.intp)
    limit = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, level = np.flatnonzero(scores > limit), np.flatnonzero(scores == limit)
    return np.sort(np.concatenate([above, level[: k - len(above)]]))


def check_limits(budget: float | None, count: int | None) -> tuple[float, float]:
    """Return budget and count as numbers, infinite if None; raise ParameterError if they are invalid."""
    if budget is None and count is None:
        raise ParameterError("a batch needs a limit: give a budget, a count, or both; got neither")
    return _check_budget(budget), _check_count(count)


def _check_budget(budget: float | None) -> float:
    if budget is None:
        return math.inf
    money = math.nan if isinstance(budget, str | bool) else as_number(budget)
    if not money >= 0:
        got = shorten(budget)
        raise ParameterError(f"{named('budget')} must be an amount of money, 0 or more; got {got}")
    return money


def _check_count(count: int | None) -> float:
    if count is None:
        return math.inf
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if number < 0:
        raise ParameterError(f"{named('count')} must be a whole number of cells, 0 or more; got {count!r}")
    return number


def as_number(value: object) -> float:
    """Return a parameter as a float, or NaN if it is not a number."""
    try:
        return float(value) if isinstance(value, Real | Decimal) else math.nan
    except OverflowError:  # a whole number larger than any float
        return math.nan


def positive_integer(name: str, value: int) -> int:
    """Return a parameter that counts something; raise unless it is an integer of at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ParameterError(f"{name} must be a whole number, 1 or more; got {value!r}")
    return number


def settle(offer: Offer, places: IntArray, budget: float, *, front: Front | None = None) -> Selection:
    """Return the batch of flat cell numbers (k,), in this order, with its prices.

    Prices are recomputed. Cells are dropped from the end until the batch fits the budget; one chosen with
    exact prices fits at once. O(k).
    """
    while len(places) and not fits(offer, places, budget):
        places = places[:-1]
    cells, prices = _bill(offer, places)
    return Selection(cells, prices, offer.scores[cells[:, 0], cells[:, 1]], front)


def fits(offer: Offer, places: IntArray, budget: float) -> bool:
    """Return whether the batch of flat cell numbers (k,), bought in order, costs at most the budget; O(k).

    Exact. Group fees without a common decimal unit are added in two ways, and both sums must fit.
    """
    cells, prices = _bill(offer, places)
    if not within(prices, budget):
        return False
    return offer.prices.additive or offer.prices.cost(cells, offer.before) <= budget


def _bill(offer: Offer, places: IntArray) -> tuple[IntArray, Float64Array]:
    """Return cells (k, 2), and what each adds to the cost (k,), bought in this order."""
    cells = np.column_stack(np.unravel_index(places, offer.scores.shape)).astype(np.intp)
    if offer.prices.additive:
        return cells, offer.prices.own[cells[:, 0], cells[:, 1]]
    bill = offer.prices.bill(offer.before)
    return cells, np.array([bill.add(row, column) for row, column in cells.tolist()], dtype=float)
