"""Read what the user states of new rows: their known values, column names, and prices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cellworth.errors import DataError
from cellworth.messages import not_there, shorten
from cellworth.prices import AnyPrices, PriceList, Prices
from cellworth.table import Table
from cellworth.table.column import Column

AnyRow = Mapping[str, object]
"""Values by column name, as the user writes them; columns left out, and None, are missing."""


def parse_row(row: AnyRow, columns: Sequence[Column], target: str) -> list[float]:
    """Return the stored values of a row, NaN where missing."""
    if not isinstance(row, Mapping):
        raise DataError(f"a row must be a mapping of column names to values; got {shorten(row)}.")
    names = tuple(column.name for column in columns)
    for name in row:
        if name == target:
            raise DataError(f"column {shorten(name)} is the target, which is predicted; leave it out.")
        if name not in names:
            raise DataError(not_there("column", str(name), names))
    return [
        math.nan if _is_missing(row.get(column.name)) else column.parse(row[column.name])
        for column in columns
    ]


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def existing_names(columns: Iterable[str], names: tuple[str, ...]) -> set[str]:
    """Return column names, after checking that they exist."""
    if isinstance(columns, str):
        columns = [columns]
    given = set(columns)
    for name in given:
        if name not in names:
            raise DataError(not_there("column", str(name), names))
    return given


def with_free_columns(prices: AnyPrices | None, free: Sequence[str]) -> AnyPrices | None:
    """Return prices in which free columns have one; it is not used."""
    if isinstance(prices, Mapping) and not any(isinstance(key, tuple) for key in prices):
        return {**dict.fromkeys([free] if isinstance(free, str) else free, 1.0), **prices}
    return prices


def one_row_prices(prices: Prices, table: Table) -> PriceList:
    """Return the prices of a new row; DataError if rows have prices of their own."""
    listed = prices.on(table).of_cells()
    if table.shape[0] > 1 and not np.array_equal(
        listed.own, np.broadcast_to(listed.own[0], listed.own.shape)
    ):
        raise DataError(
            "the prices differ from row to row, so they do not say what a cell of a new row costs; give "
            "prices by column."
        )
    return listed.of_rows(np.array([0]))
