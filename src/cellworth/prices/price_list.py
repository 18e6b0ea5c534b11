"""Prices of the cells of one table: what a batch costs, and what one more cell would add.

`CellsLeft` works out on a sample of its rows what all cells that are left of a larger table cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.errors import DataError
from cellworth.prices.money import Money, add_up, decimals_of


@dataclass(frozen=True, eq=False)
class PriceList:
    """The prices of the n x p cells of a table, in money. Created by ``Prices.on(table)``.

    If labels have a price, they are the last of the p columns.

    A cell costs its own price. The first cell of a group in a row adds a fee (one blood draw), and the first
    cell of a batch in a row adds the visit. If fees within a group differ, a batch pays the largest fee among
    its cells, in any order, so the bill never exceeds what was announced. The cost of a set therefore grows
    with the set, and what a cell adds never grows with it.

    Attributes
    ----------
    own : (n, p) array, read-only
        Positive and finite: the price of a cell whose group is open and whose row is visited.
    group_of : (p,) array of int, read-only
        The group of each column, -1 for none.
    fee : (p,) array, read-only
        What a column adds when it opens its group; 0 without a group.
    lasting : (n_groups,) array of bool, read-only
        Whether a group stays open in a row once one of its cells is known there (the blood is kept); if not,
        each batch opens it again.
    visit : float
        The price of visiting a row, once per batch; 0 for none.
    labels : bool
        Whether the last column is that of the labels.

    Examples
    --------
    Two tests share a fee of 2, and visiting a row costs 5:

    >>> prices = PriceList(np.array([[1.0, 3.0, 4.0]]), [-1, 0, 0], [0.0, 2.0, 2.0], [False], visit=5.0)
    >>> before = np.array([[False, False, False]])
    >>> prices.marginal(before)
    array([[ 6., 10., 11.]])
    >>> prices.cost([(0, 1), (0, 2)], before)
    14.0
    """

    own: Float64Array
    group_of: IntArray
    fee: Float64Array
    lasting: BoolArray
    visit: float = 0.0
    labels: bool = False

    def __post_init__(self) -> None:
        kinds = {"own": np.float64, "group_of": np.intp, "fee": np.float64, "lasting": np.bool_}
        for name, kind in kinds.items():
            object.__setattr__(self, name, _read_only(getattr(self, name), kind))
        if self.own.ndim != 2 or not self.group_of.shape == self.fee.shape == self.own.shape[1:]:
            raise DataError(
                "own must be (n, p), group_of and fee (p,); got shapes "
                f"{self.own.shape}, {self.group_of.shape} and {self.fee.shape}."
            )
        if not (self.own.min(initial=math.inf) > 0 and self.own.max(initial=0.0) < math.inf):
            raise DataError("own prices must be positive and finite.")
        in_range = (self.group_of >= -1) & (self.group_of < len(self.lasting))
        fair = np.isfinite(self.fee) & (self.fee >= 0) & ((self.group_of >= 0) | (self.fee == 0))
        if not (in_range.all() and fair.all() and 0 <= self.visit < math.inf):
            raise DataError(
                "group_of must be -1 or the index of a group, fees finite, not negative and 0 outside "
                "groups, and the visit finite and not negative."
            )

    @property
    def additive(self) -> bool:
        """Whether the cost of a set is the sum of its cells' own prices."""
        return self.visit == 0 and not self.fee.any()

    @property
    def alone(self) -> Float64Array:
        """(n, p), what each cell costs as the first of its group, without the visit."""
        return self.own + self.fee

    @cached_property
    def decimals(self) -> int | None:
        """How many decimals all prices need; None if they have no common unit (see `decimals_of`)."""
        return decimals_of(self.own, self.fee, np.array([self.visit]))

    def of_rows(self, rows: IntArray) -> PriceList:
        """Return the prices of some rows (m,) of the table, given by index, in that order."""
        return replace(self, own=self.own[rows])

    def of_cells(self) -> PriceList:
        """Return the prices without those of labels."""
        if not self.labels:
            return self
        own, group_of, fee = self.own[:, :-1], self.group_of[:-1], self.fee[:-1]
        return PriceList(own, group_of, fee, self.lasting, self.visit)

    def bill(self, before: BoolArray) -> Bill:
        """Return an empty bill for one batch, given the cells (n, p) known before it; O(n p)."""
        return Bill(self, before)

    def marginal(self, before: BoolArray) -> Float64Array:
        """Return what each cell (n, p) would cost as the only cell of a batch; O(n p)."""
        return self.bill(before).prices()

    def cost(self, cells: ArrayLike, before: BoolArray) -> float:
        """Return the cost of a batch: the exact sum, rounded once, so that order does not matter.

        Vectorised; O(k p) time and memory for k cells.

        Parameters
        ----------
        cells : (k, 2) array-like of int
            Row and column indices, without duplicates.
        before : (n, p) array of bool
            The cells known before the batch, which may have opened lasting groups.
        """
        self._check_before(before)
        rows, columns = self._places(cells)
        visited, row_of = np.unique(rows, return_inverse=True)
        fees = np.zeros((len(visited), len(self.lasting)))
        grouped = self.group_of[columns] >= 0
        members = columns[grouped]
        np.maximum.at(fees, (row_of[grouped], self.group_of[members]), self.fee[members])
        fees[self.opened(before, visited)] = 0.0
        cells_and_fees = add_up(np.concatenate([self.own[rows, columns], fees[fees > 0]]))
        return float(cells_and_fees + Money(self.visit) * len(visited))

    def opened(self, before: BoolArray, rows: IntArray | None = None) -> BoolArray:
        """Return which groups were open before the batch, (m, n_groups), in these rows or in all."""
        self._check_before(before)
        rows = np.arange(len(before)) if rows is None else rows
        opened = np.zeros((len(rows), len(self.lasting)), dtype=bool)
        for group in np.flatnonzero(self.lasting):
            members = np.flatnonzero(self.group_of == group)
            opened[:, group] = before[np.ix_(rows, members)].any(axis=1)
        return opened

    def _check_before(self, before: BoolArray) -> None:
        if before.shape != self.own.shape:
            raise DataError(f"before must have the shape {self.own.shape} of the prices; got {before.shape}.")

    def _places(self, cells: ArrayLike) -> tuple[IntArray, IntArray]:
        """Return row and column indices, (k,) each, after checking that they are distinct cells."""
        places = np.asarray(cells)
        if places.size == 0:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        if places.ndim != 2 or places.shape[1] != 2 or places.dtype.kind not in "iu":
            raise DataError(
                "cells must be a (k, 2) array of row and column numbers; got shape "
                f"{places.shape} of {places.dtype}."
            )
        outside = ((places < 0) | (places >= self.own.shape)).any(axis=1)
        if outside.any():
            raise DataError(
                f"cells must be within the {self.own.shape[0]} rows and {self.own.shape[1]} columns; got "
                f"{tuple(places[outside][0].tolist())}."
            )
        flat = np.sort(np.ravel_multi_index((places[:, 0], places[:, 1]), self.own.shape))
        twice = flat[1:][flat[1:] == flat[:-1]]
        if twice.size:
            cell = divmod(int(twice[0]), self.own.shape[1])
            raise DataError(f"each cell must appear once; got {cell} more than once.")
        return places[:, 0], places[:, 1]


class Bill:
    """What one batch costs so far, and what each further cell would add. Cells are added one at a time.

    What a cell adds is exact if the prices have a common unit (``PriceList.decimals`` is not None): the
    amounts added so far then sum to ``PriceList.cost``. Otherwise they are sums of floats, accurate to the
    last digit or two.

    Examples
    --------
    >>> prices = PriceList(np.array([[3.0, 4.0]]), [0, 0], [2.0, 2.0], [False])
    >>> bill = prices.bill(np.array([[False, False]]))
    >>> bill.add(0, 1), bill.price(0, 0)
    (6.0, 3.0)
    """

    def __init__(self, prices: PriceList, before: BoolArray) -> None:
        self._list = prices
        # Whole units as floats: each is below 10**15, so their sums are exact.
        self._scale = 1.0 if prices.decimals is None else 10.0**prices.decimals
        self._fee = self._counted(prices.fee)
        self._visit = float(self._counted(prices.visit))
        # Fee paid so far, by row and group. Nothing is due for a group that was already open.
        largest = np.zeros(len(prices.lasting))
        grouped = prices.group_of >= 0
        np.maximum.at(largest, prices.group_of[grouped], self._fee[grouped])
        self._paid = np.where(prices.opened(before), largest, 0.0)
        self._visited = np.zeros(len(prices.own), dtype=bool)

    def prices(self) -> Float64Array:
        """Return what each cell (n, p) would add to the bill now, even cells already on it; O(n p)."""
        prices = self._list
        if prices.additive:
            return prices.own.copy()
        units: Float64Array = self._counted(prices.own)
        grouped = np.flatnonzero(prices.group_of >= 0)
        if grouped.size:
            paid = self._paid[:, prices.group_of[grouped]]
            units[:, grouped] += np.maximum(0.0, self._fee[grouped] - paid)
        # Last, as in `price`, so that the two agree bit for bit.
        units[~self._visited] += self._visit
        return units / self._scale

    def price(self, row: int, column: int) -> float:
        """Return what one cell would add now; O(1)."""
        prices = self._list
        units = float(prices.own[row, column]) * self._scale
        if prices.decimals is not None:
            units = round(units)
        group = prices.group_of[column]
        if group >= 0:
            units += max(0.0, float(self._fee[column] - self._paid[row, group]))
        return (units if self._visited[row] else units + self._visit) / self._scale

    def add(self, row: int, column: int) -> float:
        """Add a cell to the bill and return what it added; only prices in its row change. O(1)."""
        price = self.price(row, column)
        group = self._list.group_of[column]
        if group >= 0:
            self._paid[row, group] = max(self._paid[row, group], self._fee[column])
        self._visited[row] = True
        return price

    def _counted(self, amounts: ArrayLike) -> Float64Array:
        """Return a copy of the amounts, in units."""
        units = np.asarray(amounts, dtype=np.float64) * self._scale
        return units if self._list.decimals is None else np.rint(units)


def _read_only(values: ArrayLike, kind: DTypeLike) -> NDArray[np.generic]:
    array = np.asarray(values, dtype=kind).view()
    array.setflags(write=False)
    return array


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
