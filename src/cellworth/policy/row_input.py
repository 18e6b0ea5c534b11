"""Read what the user states of new rows: their known values, column names, and prices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import DataError
from cellworth.messages import not_there, shorten
from cellworth.prices import AnyPrices, PriceList, Prices
from cellworth.setting_names import by_door, spoken
from cellworth.table import Table
from cellworth.table.build_table import check_row_ids
from cellworth.table.column import Column
from cellworth.table.frames import index_column, library_of
from cellworth.table.raw_cells import Origin, as_texts, is_null
from cellworth.table.seen_values import Seen

MOST_NAMED = 3
"""How many strange values a warning names."""
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
    return value is None or is_null(value) or (isinstance(value, str) and not value)


def parse_rows(rows: Any, columns: tuple[Column, ...], target: str) -> tuple[Float64Array, list[str]]:
    """Return the stored values (m, p) and the ids of many rows.

    ``rows`` is a table with these columns, a mapping of row ids to rows, or a frame, whose index names its
    rows. A frame may lack columns; its labels, if it has any, are not looked at.
    """
    if isinstance(rows, Table):
        if rows.columns != columns:
            how = by_door(
                python=": read it with Table.read(path, **trained_table.keywords())", command_line=""
            )
            raise DataError(
                "the table must have the columns of the training table, with the same kinds and "
                f"categories{how}."
            )
        return rows.values, list(rows.row_ids)
    if library_of(rows) is not None:
        rows = _rows_of_frame(rows, target)
    if not isinstance(rows, Mapping):
        raise DataError(
            "rows must be a Table, a DataFrame, or a mapping of row ids to values, such as "
            f"{{'p9': {{'age': 61}}}}; got {shorten(rows)}."
        )
    found = []
    for row, values in rows.items():
        try:
            found.append(parse_row(values, columns, target))
        except DataError as error:
            raise DataError(f"row {shorten(str(row))}: {error}") from None
    return np.array(found).reshape(len(found), len(columns)), [str(row) for row in rows]


def _rows_of_frame(frame: Any, target: str) -> dict[str, AnyRow]:
    import narwhals as nw

    index = index_column(frame, None)
    ids = [str(row) for row in range(len(frame))] if index is None else as_texts(index.cells).texts
    if ids:
        check_row_ids(ids, None, Origin(f"the {type(frame).__name__}", ids, ids_from="index"))
    lines = nw.from_native(frame, eager_only=True).iter_rows(named=True)
    return {
        row: {name: value for name, value in line.items() if name != target}
        for row, line in zip(ids, lines, strict=True)
    }


def warn_of_strange_values(
    values: Float64Array, ids: Sequence[str], columns: Sequence[Column], seen: Sequence[Seen | None]
) -> None:
    """Warn of values (m, p) that are far outside what was seen in their columns; name some of them.

    Not on a server: its pages and programs question values themselves, and a warning would only write what a
    person typed into its log.
    """
    if spoken() in ("pages", "rest"):
        return
    strange = []
    for place, (column, known) in enumerate(zip(columns, seen, strict=True)):
        if known is None:
            continue
        outside = (values[:, place] < known.least) | (values[:, place] > known.most)
        for row in np.flatnonzero(outside).tolist():
            got, low, high = column.shown(values[row, place], *known.ends(column))
            strange.append(
                f"row {shorten(ids[row])}, column {shorten(column.name)}: {got} is far outside the {known.n} "
                f"values known there, from {low} to {high}"
            )
    if strange:
        more = f"; and {len(strange) - MOST_NAMED} more" if len(strange) > MOST_NAMED else ""
        told = "; ".join(strange[:MOST_NAMED])
        warnings.warn(f"{told}{more}. If it is a slip, the prediction is wrong, too.", stacklevel=4)


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
