"""The ways to state the price of each cell on its own, by names, before there is a table.

Each has ``lay(table, grouped)``: the prices over a table's cells, (p,) where all rows are alike, else (n, p).
They say nothing of the columns ``grouped``, whose prices groups state; what stands there is written over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.errors import DataError, ParameterError
from cellworth.prices.amount import check_name, check_price, check_prices
from cellworth.table import Table
from cellworth.table.values import label
from cellworth.wording import listing, not_there, shorten

Array = NDArray[np.float64]
PriceFunction = Callable[[str, str], float]

MOST_SHOWN = 8
"""A mapping is cut after this many entries where it is shown."""


@dataclass(frozen=True)
class ByColumn:
    """One price per column name, and one for all columns that are not named, if there is one."""

    prices: Mapping[str, float]
    default: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prices", check_prices(self.prices, "the price"))
        if self.default is not None:
            object.__setattr__(self, "default", check_price(self.default, "the default price"))

    @property
    def named_columns(self) -> Collection[str]:
        """The columns that have a price by name."""
        return self.prices.keys()

    def lay(self, table: Table, grouped: Collection[str]) -> Array:
        """Return the prices (p,); O(p)."""
        names = table.column_names
        check_known(self.prices, names, "the prices")
        without = [name for name in names if name not in self.prices and name not in grouped]
        if without and self.default is None:
            raise DataError(
                f"every column needs a price; got none for {listing(without, most=10)}. Add prices, or give "
                "default= for the rest."
            )
        known = {**dict.fromkeys(without, self.default), **self.prices}
        return np.array([known.get(name, np.nan) for name in names], dtype=np.float64)

    def spelled(self) -> tuple[str, list[str]]:
        """Return the constructor of `Prices` that makes them, and its arguments."""
        if not self.prices and self.default is not None:
            return "same", [str(self.default)]
        default = [] if self.default is None else [f"default={self.default}"]
        return "per_column", [shown(self.prices), *default]


@dataclass(frozen=True)
class ByCell:
    """Prices of single cells by (row id, column name); prices by column for the others."""

    prices: Mapping[tuple[str, str], float]
    default: ByColumn

    @classmethod
    def of(cls, prices: Mapping[Any, Any], default: ByColumn) -> ByCell:
        """Take a mapping of (row id, column name) to prices, after a check of both."""
        checked: dict[tuple[str, str], float] = {}
        for key, price in prices.items():
            if not isinstance(key, tuple) or len(key) != 2:
                raise ParameterError(
                    "expected a mapping of (row id, column name) to prices, such as {('p1', 'age'): 1.0}; "
                    f"got the key {shorten(key)}."
                )
            row, column = label(key[0]), check_name(key[1])
            checked[row, column] = check_price(price, f"the price of {in_words(row, column)}")
        return cls(checked, default)

    @property
    def named_columns(self) -> Collection[str]:
        """The columns that have a price by name."""
        return {*self.default.named_columns, *(column for _, column in self.prices)}

    def lay(self, table: Table, grouped: Collection[str]) -> Array:
        """Return the prices (n, p); O(n p + k) for k cells by name."""
        n, p = table.shape
        stated = np.full((n, p), np.nan)
        check_known({column for _, column in self.prices}, table.column_names, "the prices")
        place = {name: number for number, name in enumerate(table.column_names)}
        try:
            for (row, column), price in self.prices.items():
                stated[table.row_index(row), place[column]] = price
        except DataError as error:
            raise DataError(f"the prices: {error}") from None
        full = {name for name, j in place.items() if not np.isnan(stated[:, j]).any()}
        rest = self.default.lay(table, full | set(grouped))
        return np.where(np.isnan(stated), rest, stated)

    def spelled(self) -> tuple[str, list[str]]:
        """Return the constructor of `Prices` that makes them, and its arguments."""
        rest = shown(self.default.prices) if self.default.prices else self.default.default
        default = [] if rest is None else [f"default={rest}"]
        return "per_cell", [shown(self.prices), *default]


@dataclass(frozen=True, eq=False)
class ByMatrix:
    """Prices (n, p) in the order of a table's rows and columns; NaN in the columns of groups."""

    prices: Array

    @classmethod
    def of(cls, prices: object) -> ByMatrix:
        """Take a matrix of numbers; its entries are checked when there are names for them."""
        return cls(_matrix(prices))

    @property
    def named_columns(self) -> Collection[str]:
        """The columns that have a price by name: none, for a matrix has no names."""
        return ()

    def lay(self, table: Table, grouped: Collection[str]) -> Array:
        """Return the prices (n, p); O(n p)."""
        if self.prices.shape != table.shape:
            raise DataError(
                f"the matrix of prices must have the shape {table.shape} of the table's rows and columns; "
                f"got {self.prices.shape}."
            )
        in_group = np.array([name in grouped for name in table.column_names])
        good = np.where(in_group, np.isnan(self.prices), np.isfinite(self.prices) & (self.prices > 0))
        if not good.all():
            i, j = np.argwhere(~good)[0]
            where = in_words(table.row_ids[i], table.column_names[j])
            if not in_group[j]:
                check_price(float(self.prices[i, j]), f"the price of {where}", DataError)
            raise DataError(
                f"the matrix must be NaN in the columns of groups, which state their prices; got "
                f"{self.prices[i, j]} in {where}."
            )
        return self.prices.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByMatrix) and np.array_equal(self.prices, other.prices, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def spelled(self) -> tuple[str, list[str]]:
        """Return the constructor of `Prices` that makes them, and its arguments."""
        n, p = self.prices.shape
        return "per_cell", [f"<matrix of {n} x {p} prices>"]


@dataclass(frozen=True)
class ByFunction:
    """The price of a cell as a function of its row id and column name."""

    function: PriceFunction

    @property
    def named_columns(self) -> Collection[str]:
        """The columns that have a price by name: none."""
        return ()

    def lay(self, table: Table, grouped: Collection[str]) -> Array:
        """Return the prices (n, p), from as many calls as there are cells outside groups."""
        prices = np.full(table.shape, np.nan)
        for j, column in enumerate(table.column_names):
            if column in grouped:
                continue
            for i, row in enumerate(table.row_ids):
                price = self.function(row, column)
                if type(price) is not float or not 0 < price < math.inf:  # words are made only if needed
                    what = f"the price that the function gives for {in_words(row, column)}"
                    price = check_price(price, what, DataError)
                prices[i, j] = price
        return prices

    def spelled(self) -> tuple[str, list[str]]:
        """Return the constructor of `Prices` that makes them, and its arguments."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "per_cell", [f"<function {name}>"]


CellPrices = ByColumn | ByCell | ByMatrix | ByFunction


def check_known(columns: Collection[str], names: tuple[str, ...], who: str) -> None:
    """Raise DataError with the closest name if the table has no such column."""
    known = set(names)
    for column in columns:
        if column not in known:
            raise DataError(f"{who}: {not_there('column', column, names)}")


def in_words(row: str, column: str) -> str:
    """Name one cell, as in "row 'p17', column 'age'"."""
    return f"row {shorten(row)}, column {shorten(column)}"


def shown(prices: Mapping[Any, float]) -> str:
    """Write a mapping as Python does, cut after `MOST_SHOWN` entries."""
    entries = [f"{key!r}: {price}" for key, price in list(prices.items())[:MOST_SHOWN]]
    rest = [f"... {len(prices) - MOST_SHOWN} more"] if len(prices) > MOST_SHOWN else []
    return "{" + ", ".join(entries + rest) + "}"


def _matrix(prices: object) -> Array:
    try:
        matrix: NDArray[Any] = np.array(prices)
    except ValueError:
        matrix = np.array(None)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise ParameterError(
            "prices per cell must be a matrix of numbers with one price for each row and column, a mapping "
            f"of (row id, column name) to prices, or a function of the two; got {shorten(prices)}."
        )
    matrix = matrix.astype(np.float64)
    matrix.setflags(write=False)
    return matrix
