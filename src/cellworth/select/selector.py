"""The input and output of a selector, and the limits it must keep."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Literal, Protocol

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.prices import PriceList
from cellworth.prices.money import add_up, within
from cellworth.setting_names import named

SLACK = 1e-9  # relative, in sums of prices: one row too many in a shortlist does no harm


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
    noise : (n, p) array or None
        What a selector that draws has drawn for these cells, if they are some of a larger table; by default
        it draws when it selects.
    whole : OfferTotals or None
        What is on offer in the larger table; by default these cells are all.

    Notes
    -----
    If ``prices.labels``, the last column is that of the labels.
    """

    scores: Float64Array
    available: BoolArray
    prices: PriceList
    before: BoolArray
    noise: Float64Array | None = None
    whole: OfferTotals | None = None

    def __post_init__(self) -> None:
        shape = self.prices.own.shape
        for name in ("scores", "available", "before"):
            if getattr(self, name).shape != shape:
                raise DataError(
                    f"{name} must have the shape {shape} of the prices; got {getattr(self, name).shape}"
                )
        if not (self.scores.min(initial=0.0) >= 0 and self.scores.max(initial=0.0) < np.inf):
            self._refuse_bad_scores()
        both = self.available & self.before
        if both.any():
            row, column = np.argwhere(both)[0]
            raise DataError(
                f"a known cell cannot be available; row number {row}, column number {column} is both"
            )

    def _refuse_bad_scores(self) -> None:
        """Raise DataError unless all bad scores are those of cells that are not available."""
        bad = self.available & ~(np.isfinite(self.scores) & (self.scores >= 0))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise DataError(
                "the scores of available cells must be finite and nonnegative; got "
                f"{self.scores[row, column]} in row number {row}, column number {column}, "
                f"and {int(bad.sum())} such cells in all"
            )

    @property
    def totals(self) -> OfferTotals:
        """What is on offer in the whole table; O(n p) unless these are some of its rows."""
        return OfferTotals.of(self) if self.whole is None else self.whole

    def of_rows(self, rows: IntArray) -> Offer:
        """Return what is on offer in some rows (m,), given by number."""
        noise = None if self.noise is None else self.noise[rows]
        cells = (self.scores[rows], self.available[rows], self.prices.of_rows(rows), self.before[rows])
        return Offer(*cells, noise, self.whole)

    def followed_by(self, other: Offer) -> Offer:
        """Return the cells of two parts of a table, these first."""
        noise = None
        if self.noise is not None and other.noise is not None:
            noise = np.vstack([self.noise, other.noise])
        return Offer(
            np.vstack([self.scores, other.scores]),
            np.vstack([self.available, other.available]),
            replace(self.prices, own=np.vstack([self.prices.own, other.prices.own])),
            np.vstack([self.before, other.before]),
            noise,
            self.whole,
        )

    @property
    def awaiting(self) -> BoolArray:
        """(n, p) bool, the cells on offer that pay only together with the label of their row.

        That label is on offer, too, and brings at least as much for its price.
        """
        if not self.prices.labels:
            return np.zeros(self.scores.shape, dtype=bool)
        slopes = self.scores / self.prices.own
        found = self.available & (slopes <= slopes[:, -1:]) & self.available[:, -1:] & (slopes[:, -1:] > 0)
        found[:, -1] = False
        return found

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
class OfferTotals:
    """What is on offer in a table; totals of two parts can be added.

    Attributes
    ----------
    rows : int
        Rows of the table.
    cells : (p,) int array
        Cells on offer in each column.
    worth : (p,) array
        The sum of their scores.
    beside_labels : (float, float) or None
        If labels may be on offer, which are the last column then: the worth of the other cells that do not
        wait for one (see `Offer.awaiting`), and what these cost alone.
    """

    rows: int
    cells: IntArray
    worth: Float64Array
    beside_labels: tuple[float, float] | None = None

    @classmethod
    def of(cls, offer: Offer) -> OfferTotals:
        """Return the totals of an offer; O(n p)."""
        worth = np.where(offer.available, offer.scores, 0.0)
        beside = None
        if offer.prices.labels:
            free = offer.available & (offer.scores > 0) & ~offer.awaiting
            free[:, -1] = False
            beside = float(offer.scores[free].sum()), float(offer.prices.marginal(offer.before)[free].sum())
        return cls(len(offer.scores), offer.available.sum(axis=0), worth.sum(axis=0), beside)

    def added(self, other: OfferTotals) -> OfferTotals:
        """Return the totals of both parts."""
        beside = None
        if self.beside_labels is not None and other.beside_labels is not None:
            (worth, money), (more, cost) = self.beside_labels, other.beside_labels
            beside = worth + more, money + cost
        return OfferTotals(self.rows + other.rows, self.cells + other.cells, self.worth + other.worth, beside)


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
    drawn : {"cell", "row"} or None
        What chance struck: each cell on its own, or rows; None if there was no chance.
    """

    cells: IntArray
    prices: Float64Array
    scores: Float64Array
    front: Front | None = None
    drawn: Literal["cell", "row"] | None = None

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

    Each block sends the rows of its shortlist, and the batch is selected from all of them together. A
    selector that does not look at ``offer.totals`` also has ``alternatives()``, which returns itself in a
    tuple: then one pass is enough. If it looks at them only to become one of several selectors that do not,
    these are its alternatives, and ``chosen(totals)`` returns the place of the right one.

    A selector that draws also has ``noise(offer, numbers)``, which returns what it draws for the cells (n, p)
    of some rows, with the numbers of a `TableNumbers`; `select` uses ``offer.noise`` if it is there.
    """

    def shortlist(self, offer: Offer, *, budget: float | None = None, count: int | None = None) -> IntArray:
        """Return the rows (k,), increasing, of a part of a table that a batch from the whole could touch.

        `select` must choose the same cells from these rows of all parts as from the whole table. What it
        needs to know of the whole is in ``offer.totals``.
        """
        ...


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
