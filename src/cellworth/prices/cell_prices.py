"""Rules that set the prices of cells by name, independent of any table.

A label is a cell of the target's column: it has a price if the rule ``prices_labels``, and the table that is
laid out then has the target as its last column.

Each rule has ``lay(table, grouped)``, which returns the prices of a table's cells: (p,) if all rows cost the
same, otherwise (n, p). It need not price the columns in ``grouped``: their prices come from groups, and what
it returns for them is overwritten. ``to_dict`` and ``from_dict`` convert a rule to and from JSON-compatible
data, tagged by ``by``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cellworth.arrays import AnyArray, Float64Array
from cellworth.errors import CellworthError, DataError, ParameterError
from cellworth.messages import listing, not_there, shorten
from cellworth.prices.money import is_exact
from cellworth.setting_names import by_door
from cellworth.shown_numbers import reworded
from cellworth.table import Table
from cellworth.table.parse_values import label

PriceFunction = Callable[[str, str], float]

MOST_SHOWN = 8
"""Show at most this many entries of a mapping."""


@dataclass(frozen=True)
class ByColumn:
    """One price per column name, and optionally one for all other columns.

    ``places`` says for messages where a column is named, such as a line of a file.
    """

    prices: Mapping[str, float]
    default: float | None = None
    places: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    by: ClassVar[str] = "column"

    def __post_init__(self) -> None:
        object.__setattr__(self, "prices", check_prices(self.prices, "the price"))
        if self.default is not None:
            object.__setattr__(self, "default", check_price(self.default, "the default price"))

    @property
    def named_columns(self) -> Collection[str]:
        """The columns priced by name."""
        return self.prices.keys()

    def prices_labels(self, table: Any) -> bool:
        """Return whether the target is priced by name; a default alone does not put labels up for sale."""
        return table.target is not None and table.target.name in self.named_columns

    def lay(self, table: Table, grouped: Collection[str]) -> Float64Array:
        """Return the prices (p,); O(p)."""
        names = table.column_names
        check_known(self.prices, names, "the prices", self.places)
        without = [name for name in names if name not in self.prices and name not in grouped]
        if without and self.default is None:
            raise DataError(
                f"every column needs a price; got none for {listing(without, most=10)}. Add prices, or give "
                f"{price_of_the_rest()} for the rest."
            )
        known = {**dict.fromkeys(without, self.default), **self.prices}
        return np.array([known.get(name, np.nan) for name in names], dtype=np.float64)

    def spelled(self) -> tuple[str, list[str]]:
        """Return the `Prices` constructor for this rule and its arguments, for display."""
        if not self.prices and self.default is not None:
            return "same", [str(self.default)]
        default = [] if self.default is None else [f"default={self.default}"]
        return "per_column", [_shown_mapping(self.prices), *default]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return {"by": self.by, "prices": dict(self.prices), "default": self.default}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ByColumn:
        """Restore the rule from `to_dict`."""
        return cls(stored["prices"], stored["default"])


@dataclass(frozen=True)
class ByCell:
    """Prices of individual cells by (row id, column name); prices by column for the others."""

    prices: Mapping[tuple[str, str], float]
    default: ByColumn
    by: ClassVar[str] = "cell"

    @classmethod
    def of(cls, prices: Mapping[Any, Any], default: ByColumn) -> ByCell:
        """Build the rule from a mapping of (row id, column name) to prices, after checking it."""
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
        """The columns priced by name."""
        return {*self.default.named_columns, *(column for _, column in self.prices)}

    def prices_labels(self, table: Any) -> bool:
        """Return whether the target is priced by name; a default alone does not put labels up for sale."""
        return table.target is not None and table.target.name in self.named_columns

    def lay(self, table: Table, grouped: Collection[str]) -> Float64Array:
        """Return the prices (n, p); O(n p + k) for k named cells."""
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
        """Return the `Prices` constructor for this rule and its arguments, for display."""
        rest = _shown_mapping(self.default.prices) if self.default.prices else self.default.default
        default = [] if rest is None else [f"default={rest}"]
        return "per_cell", [_shown_mapping(self.prices), *default]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        prices = [[row, column, price] for (row, column), price in self.prices.items()]
        return {"by": self.by, "prices": prices, "default": self.default.to_dict()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ByCell:
        """Restore the rule from `to_dict`."""
        default = rule_from_dict(stored["default"])
        if not isinstance(default, ByColumn):
            raise DataError(f"stored prices by cell have a default by 'column'; got {default.by!r}.")
        return cls.of({(row, column): price for row, column, price in stored["prices"]}, default)


@dataclass(frozen=True, eq=False)
class ByMatrix:
    """Prices (n, p) in the order of a table's rows and columns; NaN in the columns of groups."""

    prices: Float64Array
    by: ClassVar[str] = "matrix"

    @classmethod
    def of(cls, prices: object) -> ByMatrix:
        """Build the rule from a matrix of numbers; entries are checked later, against a table."""
        return cls(_matrix(prices))

    @property
    def named_columns(self) -> Collection[str]:
        """The columns priced by name: none, since a matrix has no names."""
        return ()

    def prices_labels(self, table: Any) -> bool:
        """Return whether the matrix has one more column than the table, for its target."""
        return self.prices.shape[1] == table.shape[1] + 1

    def lay(self, table: Table, grouped: Collection[str]) -> Float64Array:
        """Return the prices (n, p); O(n p)."""
        if self.prices.shape != table.shape:
            raise DataError(
                f"the matrix of prices must have the shape {table.shape} of the table's rows and columns; "
                f"got {self.prices.shape}. One more column prices the labels, if the table has a target."
            )
        in_group = np.array([name in grouped for name in table.column_names])
        good = np.where(in_group, np.isnan(self.prices), np.isfinite(self.prices) & (self.prices > 0))
        if not good.all():
            i, j = np.argwhere(~good)[0]
            where = in_words(table.row_ids[i], table.column_names[j])
            if not in_group[j]:
                check_price(float(self.prices[i, j]), f"the price of {where}", DataError)
            raise DataError(
                f"the matrix must be NaN in the columns of groups, which set their own prices; got "
                f"{self.prices[i, j]} in {where}."
            )
        return self.prices.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByMatrix) and np.array_equal(self.prices, other.prices, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def spelled(self) -> tuple[str, list[str]]:
        """Return the `Prices` constructor for this rule and its arguments, for display."""
        n, p = self.prices.shape
        return "per_cell", [f"<matrix of {n} x {p} prices>"]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data, with None for NaN."""
        rows = [[None if math.isnan(price) else price for price in row] for row in self.prices.tolist()]
        return {"by": self.by, "prices": rows}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ByMatrix:
        """Restore the rule from `to_dict`."""
        return cls.of([[math.nan if price is None else price for price in row] for row in stored["prices"]])


@dataclass(frozen=True)
class ByFunction:
    """Prices given by a function of row id and column name; with ``labels``, of the target's cells, too."""

    function: PriceFunction
    labels: bool = False
    by: ClassVar[str] = "function"

    def prices_labels(self, table: Any) -> bool:
        """Return whether the function is to be asked for the prices of labels."""
        return self.labels

    @property
    def named_columns(self) -> Collection[str]:
        """The columns priced by name: none."""
        return ()

    def lay(self, table: Table, grouped: Collection[str]) -> Float64Array:
        """Return the prices (n, p); calls the function once for each cell outside groups."""
        prices = np.full(table.shape, np.nan)
        for j, column in enumerate(table.column_names):
            if column in grouped:
                continue
            for i, row in enumerate(table.row_ids):
                price = self.function(row, column)
                if type(price) is not float or not 0 < price < math.inf:  # build the message only if needed
                    what = f"the price that the function gives for {in_words(row, column)}"
                    price = check_price(price, what, DataError)
                prices[i, j] = price
        return prices

    def spelled(self) -> tuple[str, list[str]]:
        """Return the `Prices` constructor for this rule and its arguments, for display."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "per_cell", [f"<function {name}>", *(["labels=True"] if self.labels else [])]

    def to_dict(self) -> dict[str, Any]:
        """Raise ParameterError: a function cannot be stored."""
        raise ParameterError(
            "prices that are a function cannot be stored. Call it for each cell and state its prices as a "
            "matrix: Prices.per_cell([[price(row, column) for column in table.column_names] for row in "
            "table.row_ids])."
        )


PriceRule = ByColumn | ByCell | ByMatrix | ByFunction
_STORED: dict[str, type[ByColumn | ByCell | ByMatrix]] = {
    rule.by: rule for rule in (ByColumn, ByCell, ByMatrix)
}


def rule_from_dict(stored: Mapping[str, Any]) -> PriceRule:
    """Restore a rule from its ``to_dict``."""
    by = stored["by"]
    if by not in _STORED:
        raise DataError(f"stored prices are by 'column', 'cell' or 'matrix'; got {shorten(by)}.")
    return _STORED[by].from_dict(stored)


def check_price(value: object, what: str, problem: type[CellworthError] = ParameterError) -> float:
    """Return a price as a float if it is positive and finite; otherwise raise ``problem``, naming ``what``.

    >>> check_price(2, "the price of 'age'")
    2.0
    """
    amount = _number(value)
    if amount is None or not (math.isfinite(amount) and amount > 0):
        raise problem(f"{what} must be a positive, finite number; got {_shown(value)}.{_remedy(amount)}")
    return amount


def check_visit(
    value: object, problem: type[CellworthError] = ParameterError, what: str = "the price of a visit"
) -> float:
    """Return the price of a visit as a float if finite and not negative; otherwise raise ``problem``."""
    amount = _number(value)
    if amount is None or not (math.isfinite(amount) and amount >= 0):
        raise problem(f"{what} must be a finite number, 0 or more; got {_shown(value)}.")
    return amount


def check_prices(prices: Mapping[str, object], what: str) -> dict[str, float]:
    """Return a checked mapping of column names to prices; messages start with ``what``."""
    if not isinstance(prices, Mapping):
        raise ParameterError(
            f"expected a mapping of column names to prices, such as {{'age': 1.0}}; got {_shown(prices)}."
        )
    return {
        check_name(name): check_price(price, f"{what} of column {shorten(name)}")
        for name, price in prices.items()
    }


def check_name(name: object, noun: str = "column") -> str:
    """Return the name of a column or group if it is a non-blank string."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"the name of a {noun} must be non-blank text; got {_shown(name)}.")
    return name


def check_known(
    columns: Collection[str], names: tuple[str, ...], who: str, places: Mapping[str, str] | None = None
) -> None:
    """Raise DataError, suggesting the closest name, if the table lacks one of the columns.

    The message starts with the place where the column is named, if it is known, or else with ``who``.
    """
    known = set(names)
    for column in columns:
        if column not in known:
            raise DataError(f"{(places or {}).get(column, who)}: {not_there('column', column, names)}")


def in_words(row: str, column: str) -> str:
    """Name one cell, as in "row 'p17', column 'age'"."""
    return f"row {shorten(row)}, column {shorten(column)}"


def _shown_mapping(prices: Mapping[Any, float]) -> str:
    """Return a mapping as Python would write it, truncated to `MOST_SHOWN` entries."""
    entries = [f"{key!r}: {price}" for key, price in list(prices.items())[:MOST_SHOWN]]
    rest = [f"... {len(prices) - MOST_SHOWN} more"] if len(prices) > MOST_SHOWN else []
    return "{" + ", ".join(entries + rest) + "}"


def _matrix(prices: object) -> Float64Array:
    try:
        matrix: AnyArray = np.array(prices)
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


def _number(value: object) -> float | None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return math.inf
    exact = not isinstance(value, Decimal) or is_exact(value, number)
    return number if exact else None


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return reworded(repr(value)) if isinstance(value, float) else shorten(value)


def _remedy(amount: float | None) -> str:
    return " A cell that costs nothing needs no choice: ask for it at once." if amount == 0 else ""


def price_of_the_rest() -> str:
    """Name the price of columns that are not named."""
    return by_door(
        python="Prices.per_column({...}, default=1.0)", command_line='a line for the column "(other columns)"'
    )
