"""Prices laid over the cells of one table: what a batch costs, and what one more cell would."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from cellworth.errors import DataError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PriceList:
    """The prices of the n x p cells of a table, in money. Made by ``Prices.on(table)``.

    A cell costs its own price; the first cell of a group in a row also costs a fee (one blood draw), and the
    first cell of a batch in a row the visit. Where the fees within a group differ, a batch pays the largest
    of its members', whatever the order: the bill never comes out higher than it was announced. So the cost
    of a set grows with the set, and what a cell adds never grows with it.

    Attributes
    ----------
    own : (n, p) array, read-only
        Positive and finite: the price of a cell whose group is open and whose row is visited.
    group_of : (p,) array of int, read-only
        The group of each column, -1 for none.
    fee : (p,) array, read-only
        What a column adds when it opens its group; 0 without a group.
    lasting : (n_groups,) array of bool, read-only
        Whether a group, once a cell of it is known in a row, stays open there (the blood is kept); if not,
        each batch opens it anew.
    visit : float
        The price of going to a row, once per batch; 0 for none.

    Examples
    --------
    Two tests share a fee of 2, and going to a row costs 5:

    >>> prices = PriceList(np.array([[1.0, 3.0, 4.0]]), [-1, 0, 0], [0.0, 2.0, 2.0], [False], visit=5.0)
    >>> before = np.array([[False, False, False]])
    >>> prices.marginal(before)
    array([[ 6., 10., 11.]])
    >>> prices.cost([(0, 1), (0, 2)], before)
    14.0
    """

    own: Array
    group_of: Places
    fee: Array
    lasting: Mask
    visit: float = 0.0

    def __post_init__(self) -> None:
        kinds = {"own": np.float64, "group_of": np.intp, "fee": np.float64, "lasting": np.bool_}
        for name, kind in kinds.items():
            object.__setattr__(self, name, _read_only(getattr(self, name), kind))
        if self.own.ndim != 2 or not self.group_of.shape == self.fee.shape == self.own.shape[1:]:
            raise DataError(
                "own must be (n, p), group_of and fee (p,); got shapes "
                f"{self.own.shape}, {self.group_of.shape} and {self.fee.shape}."
            )
        if not (np.isfinite(self.own).all() and (self.own > 0).all()):
            raise DataError("own prices must be positive and finite.")
        in_range = (self.group_of >= -1) & (self.group_of < len(self.lasting))
        fair = np.isfinite(self.fee) & (self.fee >= 0) & ((self.group_of >= 0) | (self.fee == 0))
        if not (in_range.all() and fair.all() and 0 <= self.visit < math.inf):
            raise DataError(
                "group_of must be -1 or the number of a group, fees finite, not negative and 0 outside "
                "groups, and the visit finite and not negative."
            )

    @property
    def additive(self) -> bool:
        """Whether the cost of a set is the sum of its cells' own prices."""
        return self.visit == 0 and not self.fee.any()

    def of_rows(self, rows: Places) -> PriceList:
        """Return the prices of some rows (m,) of the table, by their numbers, in that order."""
        return PriceList(self.own[rows], self.group_of, self.fee, self.lasting, self.visit)

    def bill(self, before: Mask) -> Bill:
        """Return an empty bill for one batch, given the cells (n, p) that were known before it; O(n p)."""
        return Bill(self, before)

    def marginal(self, before: Mask) -> Array:
        """Return what each cell (n, p) would cost as the only one of a batch; O(n p)."""
        return self.bill(before).prices()

    def cost(self, cells: ArrayLike, before: Mask) -> float:
        """Return what a batch costs; the order of its cells does not matter, to the last bit.

        Takes O(k p) in time and memory for k cells, and not a loop over them.

        Parameters
        ----------
        cells : (k, 2) array-like of int
            Row and column numbers, no cell twice.
        before : (n, p) array of bool
            The cells known before the batch: they may have opened lasting groups.
        """
        self._check_before(before)
        rows, columns = self._places(cells)
        visited, row_of = np.unique(rows, return_inverse=True)
        fees = np.zeros((len(visited), len(self.lasting)))
        grouped = self.group_of[columns] >= 0
        members = columns[grouped]
        np.maximum.at(fees, (row_of[grouped], self.group_of[members]), self.fee[members])
        fees[self._opened(before, visited)] = 0.0
        # The exact sum, rounded once, is the same in every order.
        amounts = [*self.own[rows, columns].tolist(), *fees[fees > 0].tolist(), self.visit * len(visited)]
        return math.fsum(amounts)

    def _opened(self, before: Mask, rows: Places) -> Mask:
        """Return which groups were open before the batch in these rows (m, n_groups)."""
        opened = np.zeros((len(rows), len(self.lasting)), dtype=bool)
        for group in np.flatnonzero(self.lasting):
            members = np.flatnonzero(self.group_of == group)
            opened[:, group] = before[np.ix_(rows, members)].any(axis=1)
        return opened

    def _check_before(self, before: Mask) -> None:
        if before.shape != self.own.shape:
            raise DataError(f"before must have the shape {self.own.shape} of the prices; got {before.shape}.")

    def _places(self, cells: ArrayLike) -> tuple[Places, Places]:
        """Return row and column numbers (k,) each, after a check that they are cells and differ."""
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
                f"cells must lie within the {self.own.shape[0]} rows and {self.own.shape[1]} columns; got "
                f"{tuple(places[outside][0].tolist())}."
            )
        flat = np.sort(np.ravel_multi_index((places[:, 0], places[:, 1]), self.own.shape))
        twice = flat[1:][flat[1:] == flat[:-1]]
        if twice.size:
            cell = divmod(int(twice[0]), self.own.shape[1])
            raise DataError(f"each cell must be there once; got {cell} twice or more.")
        return places[:, 0], places[:, 1]


class Bill:
    """What one batch costs so far, and what each further cell would add. Cells are added one by one.

    Examples
    --------
    >>> prices = PriceList(np.array([[3.0, 4.0]]), [0, 0], [2.0, 2.0], [False])
    >>> bill = prices.bill(np.array([[False, False]]))
    >>> bill.add(0, 1), bill.price(0, 0)
    (6.0, 3.0)
    """

    def __init__(self, prices: PriceList, before: Mask) -> None:
        prices._check_before(before)
        self._list = prices
        n = prices.own.shape[0]
        # The fee paid so far in each row for each group; what a group that was open before is owed: nothing.
        self._paid = np.where(prices._opened(before, np.arange(n)), np.inf, 0.0)
        self._visited = np.zeros(n, dtype=bool)

    def prices(self) -> Array:
        """Return what each cell (n, p) would add to the bill now, whether or not it is on it; O(n p)."""
        prices = self._list
        marginal = prices.own.copy()
        grouped = np.flatnonzero(prices.group_of >= 0)
        if grouped.size:
            paid = self._paid[:, prices.group_of[grouped]]
            marginal[:, grouped] += np.maximum(0.0, prices.fee[grouped] - paid)
        # Last, as in `price`: the two agree to the last bit.
        marginal[~self._visited] += prices.visit
        return marginal

    def price(self, row: int, column: int) -> float:
        """Return what one cell would add now; O(1)."""
        prices = self._list
        price = float(prices.own[row, column])
        group = prices.group_of[column]
        if group >= 0:
            price += max(0.0, float(prices.fee[column] - self._paid[row, group]))
        return price if self._visited[row] else price + prices.visit

    def add(self, row: int, column: int) -> float:
        """Put a cell on the bill and return what it added; after that only prices of its row change. O(1)."""
        price = self.price(row, column)
        prices = self._list
        group = prices.group_of[column]
        if group >= 0:
            self._paid[row, group] = max(self._paid[row, group], prices.fee[column])
        self._visited[row] = True
        return price


def _read_only(values: ArrayLike, kind: DTypeLike) -> NDArray[np.generic]:
    array = np.asarray(values, dtype=kind).view()
    array.setflags(write=False)
    return array
