"""Prices by name, as the user gives them, before they are applied to a table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cellworth.errors import CellworthError, DataError, ParameterError
from cellworth.messages import shorten
from cellworth.prices.cell_prices import (
    ByCell,
    ByColumn,
    ByFunction,
    ByMatrix,
    PriceFunction,
    PriceRule,
    check_known,
    check_price,
    check_visit,
    price_of_the_rest,
    rule_from_dict,
)
from cellworth.prices.currency import check_currency, check_digits, digits_of
from cellworth.prices.group import Group
from cellworth.prices.money import difference
from cellworth.prices.price_file import read_prices, write_prices
from cellworth.prices.price_list import PriceList
from cellworth.setting_names import named
from cellworth.table import Table
from cellworth.table.files import AnyFile, FileBytes, file_of

AnyShape = Any
"""A `Table`, or what has its ``target`` and its ``shape``, as a table in row blocks."""
AnyPrices = Any
"""`Prices`, a number, a mapping of column names or of (row id, column name) to prices, or a path."""


@dataclass(frozen=True, repr=False)
class Prices:
    """What cells cost, by name; `on` applies the prices to a table.

    Create prices with `same`, `per_column`, `per_cell` or `read`. All of them support ``groups``, columns
    that are cheaper together, and ``visit``, the price of visiting a row. A column gets its price either from
    a group or from the prices of its cells, not from both.

    Prices are positive, finite amounts of money, all in one currency.

    A label is a cell of the target's column, and can be bought if that column is named: with a price of its
    own, in a group, or cell by cell. A price for all other columns does not include it.

    Attributes
    ----------
    cells : ByColumn, ByCell, ByMatrix or ByFunction
        The prices of the cells outside groups.
    groups : tuple of Group
    visit : float
        Paid once per row of a batch; 0 for none.
    currency : str or None
        Its ISO 4217 code, such as "EUR". Prices then have at most its digits after the point, which is
        checked by `on`, and amounts are shown with it.

    Examples
    --------
    >>> from cellworth import Table
    >>> table = Table.from_arrays([[61, 233, 1], [47, None, None]], columns=["age", "chol", "fbs"])
    >>> blood = Group("blood", ["chol", "fbs"], first=7.25, then=5.00)
    >>> prices = Prices.per_column({"age": 1.0}, groups=[blood], visit=10.0)
    >>> prices.on(table).cost([(1, 1), (1, 2)], before=~table.holes)  # 10.00 + 7.25 + 5.00
    22.25
    """

    cells: PriceRule
    groups: tuple[Group, ...] = ()
    visit: float = 0.0
    currency: str | None = None

    def __post_init__(self) -> None:
        if self.currency is not None:
            check_currency(self.currency)
        object.__setattr__(self, "groups", _check_groups(self.groups, self.cells))
        object.__setattr__(self, "visit", check_visit(self.visit))

    @classmethod
    def same(
        cls,
        price: float,
        *,
        groups: Iterable[Group] = (),
        visit: float = 0.0,
        currency: str | None = None,
    ) -> Prices:
        """Price every cell the same.

        Examples
        --------
        >>> Prices.same(1, visit=5)
        Prices.same(1.0, visit=5.0)
        """
        return cls(ByColumn({}, check_price(price, "the price")), tuple(groups), visit, currency)

    @classmethod
    def per_column(
        cls,
        prices: Mapping[str, float],
        *,
        default: float | None = None,
        groups: Iterable[Group] = (),
        visit: float = 0.0,
        currency: str | None = None,
    ) -> Prices:
        """Price each column; ``default`` applies to columns neither named nor in a group.

        Examples
        --------
        >>> Prices.per_column({"age": 1, "mri": 350.0}, default=20)
        Prices.per_column({'age': 1.0, 'mri': 350.0}, default=20.0)
        """
        return cls(ByColumn(prices, default), tuple(groups), visit, currency)

    @classmethod
    def per_cell(
        cls,
        prices: ArrayLike | Mapping[tuple[object, str], float] | PriceFunction,
        *,
        default: float | Mapping[str, float] | None = None,
        labels: bool = False,
        groups: Iterable[Group] = (),
        visit: float = 0.0,
        currency: str | None = None,
    ) -> Prices:
        """Price each cell.

        Parameters
        ----------
        prices : (n, p) array-like, mapping or function
            A matrix in the order of the table's rows and columns, NaN in the columns of groups; one more
            column, the last, prices the labels. A mapping of (row id, column name) to price. Or a function of
            row id and column name, both strings, that returns a price.
        default : float or mapping of column name to float, optional
            Only with a mapping: the price of cells that it does not name.
        labels : bool, default=False
            Only with a function: whether it prices the cells of the target's column, too.

        Examples
        --------
        >>> Prices.per_cell({("p1", "mri"): 500}, default={"age": 1, "mri": 350})
        Prices.per_cell({('p1', 'mri'): 500.0}, default={'age': 1.0, 'mri': 350.0})
        """
        if labels and not callable(prices):
            raise ParameterError(
                "labels=True is only for a function; in a mapping, name the target's column, and "
                "give a matrix one more column."
            )
        if isinstance(prices, Mapping):
            rest = ByColumn(default) if isinstance(default, Mapping) else ByColumn({}, default)
            return cls(ByCell.of(prices, rest), tuple(groups), visit, currency)
        if default is not None:
            raise ParameterError(
                "default is only for a mapping; a matrix or function already prices every cell."
            )
        cells = ByFunction(prices, labels) if callable(prices) else ByMatrix.of(prices)
        return cls(cells, tuple(groups), visit, currency)

    @classmethod
    def of(cls, prices: AnyPrices | None) -> Prices:
        """Return the prices that the user means.

        Parameters
        ----------
        prices : Prices, float, mapping, path or None
            A number prices every cell; a mapping prices columns by name, or cells by (row id, column name); a
            path is read. None stands for 1 per cell.

        Examples
        --------
        >>> Prices.of(2.5), Prices.of({"age": 1, "mri": 350})
        (Prices.same(2.5), Prices.per_column({'age': 1.0, 'mri': 350.0}))
        """
        if isinstance(prices, Prices):
            return prices
        if prices is None:
            return cls.same(1.0)
        if isinstance(prices, Mapping):
            if any(isinstance(key, tuple) for key in prices):
                return cls.per_cell(prices)
            return cls.per_column(  # pandas may number its columns
                {str(key) if isinstance(key, Integral) else key: price for key, price in prices.items()}
            )
        if isinstance(prices, str | os.PathLike | FileBytes):
            return cls.read(prices)
        if isinstance(prices, Real | Decimal) and not isinstance(prices, bool | np.bool_):
            return cls.same(float(prices))
        raise ParameterError(
            f"{named('prices')} must be a number, a mapping of column names to prices, such as "
            f"{{'age': 1.0}}, the path of a price list, or Prices; got {shorten(prices)}."
        )

    def sells_labels(self, table: AnyShape) -> bool:
        """Return whether labels of the table have a price."""
        if table.target is None:
            return False
        grouped = any(table.target.name in group.columns for group in self.groups)
        return grouped or self.cells.prices_labels(table)

    def purchasable(self, table: Table) -> Table:
        """Return the table whose holes can be bought: with the target as last column if labels have a price.

        Examples
        --------
        >>> from cellworth import Table
        >>> table = Table.from_arrays([[61], [47], [None]], ["ill", None, "well"], columns=["age"])
        >>> Prices.same(1.0).purchasable(table).column_names
        ('age',)
        >>> Prices.per_column({"age": 1.0, "target": 300.0}).purchasable(table).column_names
        ('age', 'target')
        """
        return with_target_column(table) if self.sells_labels(table) else table

    def on(self, table: Table) -> PriceList:
        """Apply the prices to the cells of a table, and to its labels if they have a price.

        The labels are the last column, as in `purchasable`. Takes O(p) for prices by column, otherwise
        O(n p).

        Raises
        ------
        DataError
            If a name is not in the table, or a cell has no price; the message names it.
        """
        labels = self.sells_labels(table)
        if labels:
            table = with_target_column(table)
        names = table.column_names
        place = {name: number for number, name in enumerate(names)}
        places = self.cells.places if isinstance(self.cells, ByColumn) else {}
        for group in self.groups:
            check_known(group.columns, names, f"group {shorten(group.name)}", places)
        grouped = {column for group in self.groups for column in group.columns}
        own = self.cells.lay(table, grouped)
        group_of, fee = np.full(len(names), -1), np.zeros(len(names))
        for number, group in enumerate(self.groups):
            members = [place[column] for column in group.columns]
            group_of[members] = number
            own[..., members] = group.then
            fee[members] = list(map(difference, group.first, group.then))
        lasting = np.array([group.lasting for group in self.groups], dtype=bool)
        own = np.broadcast_to(own, table.shape)
        listed = PriceList(own, group_of, fee, lasting, self.visit, labels)
        self._check_digits(listed, names)
        return listed

    def _check_digits(self, listed: PriceList, names: tuple[str, ...]) -> None:
        """Raise DataError if a price has more digits than the currency; O(distinct prices) if one has."""
        if self.currency is None:
            return
        if listed.decimals is not None and listed.decimals <= digits_of(self.currency):
            return
        for j, name in enumerate(names):
            for price in np.unique(listed.own[:, j]).tolist():
                check_digits(price, self.currency, f"prices of column {shorten(name)}", DataError)
        for group in self.groups:
            for name, first in zip(group.columns, group.first, strict=True):
                check_digits(first, self.currency, f"the first price of column {shorten(name)}", DataError)
        check_digits(self.visit, self.currency, "the price of a visit", DataError)

    @classmethod
    def read(cls, path: AnyFile, *, encoding: str | None = None, delimiter: str | None = None) -> Prices:
        r"""Read prices by column from a CSV file or an Excel workbook, as saved by a spreadsheet.

        The header is ``column,price``; with groups, ``column,price,group,price_after_first``; and with
        lasting groups, also ``lasting`` (yes or no). The line ``(other columns)`` gives the price of columns
        without a line, ``(visit)`` the price of a visit, and ``(currency)`` the code of the currency. Fields
        may come in any order.

        Raises
        ------
        DataError
            If the file cannot be used as is; the message names the line and column.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "prices.csv"
        >>> _ = path.write_text("column,price\nage,1.00\nmri,350\n(visit),5\n")
        >>> Prices.read(path)
        Prices.per_column({'age': 1.0, 'mri': 350.0}, visit=5.0)
        """
        return cls(*read_prices(file_of(path), encoding, delimiter))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write prices by column, atomically, to a CSV file that `read` reads back exactly."""
        write_prices(Path(path), self.cells, self.groups, self.visit, self.currency)

    def to_dict(self) -> dict[str, Any]:
        """Return the prices as JSON-compatible data; ParameterError if they are a function.

        Examples
        --------
        >>> Prices.same(2.0).to_dict()
        {'cells': {'by': 'column', 'prices': {}, 'default': 2.0}, 'groups': [], 'visit': 0.0}
        """
        groups = [group.to_dict() for group in self.groups]
        currency = {} if self.currency is None else {"currency": self.currency}
        return {"cells": self.cells.to_dict(), "groups": groups, "visit": self.visit, **currency}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Prices:
        """Restore prices from `to_dict`."""
        try:
            groups = tuple(Group.from_dict(group) for group in stored["groups"])
            currency = stored.get("currency")  # older versions had none
            return cls(rule_from_dict(stored["cells"]), groups, stored["visit"], currency)
        except CellworthError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataError(
                f"expected the output of Prices.to_dict; got {shorten(stored)} "
                f"({type(error).__name__}: {error})."
            ) from None

    def __repr__(self) -> str:
        constructor, arguments = self.cells.spelled()
        if self.groups:
            arguments.append(f"groups={list(self.groups)}")
        if self.visit:
            arguments.append(f"visit={self.visit}")
        if self.currency is not None:
            arguments.append(f"currency={self.currency!r}")
        return f"Prices.{constructor}({', '.join(arguments)})"


def with_target_column(table: Table) -> Table:
    """Return a table with the target as its last column, like any other, and without a target; O(n p).

    What can be bought of a table whose labels have a price is a hole of this one.
    """
    if table.target is None:
        return table
    cells = np.column_stack([table.values, table.target.cells])
    return Table((*table.columns, table.target.column), cells, table.row_ids, None, table.row_id)


def _check_groups(groups: Iterable[Group], cells: PriceRule) -> tuple[Group, ...]:
    checked = tuple(groups)
    if not checked and isinstance(cells, ByColumn) and not cells.prices and cells.default is None:
        raise ParameterError(
            f"expected at least one price, got none. Name columns, or give {price_of_the_rest()}."
        )
    names: set[str] = set()
    owner: dict[str, str] = {}
    for group in checked:
        if not isinstance(group, Group):
            raise ParameterError(f"groups must be a list of Group; got {shorten(group)} in it.")
        if group.name in names:
            raise ParameterError(f"groups must have different names; got {shorten(group.name)} twice.")
        names.add(group.name)
        for column in group.columns:
            if column in owner:
                raise ParameterError(
                    f"a column can be in one group; got {shorten(column)} in the groups "
                    f"{shorten(owner[column])} and {shorten(group.name)}."
                )
            owner[column] = group.name
    for column in cells.named_columns:
        if column in owner:
            raise ParameterError(
                f"column {shorten(column)} has its own price but is also in the group "
                f"{shorten(owner[column])}, which sets its prices. Remove one of the two."
            )
    return checked
