"""Prices as plain data that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cellworth.errors import DataError, ParameterError
from cellworth.prices.cell_prices import ByCell, ByColumn, ByFunction, ByMatrix, CellPrices
from cellworth.prices.group import Group
from cellworth.wording import shorten

Plain = dict[str, Any]


def cells_to_plain(cells: CellPrices) -> Plain:
    """Return prices of cells as dicts, lists, texts and numbers; a function cannot be stored."""
    if isinstance(cells, ByFunction):
        raise ParameterError(
            "prices that are a function cannot be stored. Call it for each cell and state its prices as a "
            "matrix: Prices.per_cell([[price(row, column) for column in table.column_names] for row in "
            "table.row_ids])."
        )
    if isinstance(cells, ByColumn):
        return {"by": "column", "prices": dict(cells.prices), "default": cells.default}
    if isinstance(cells, ByCell):
        prices = [[row, column, price] for (row, column), price in cells.prices.items()]
        return {"by": "cell", "prices": prices, "default": cells_to_plain(cells.default)}
    rows = [[None if price != price else price for price in row] for row in cells.prices.tolist()]
    return {"by": "matrix", "prices": rows}


def cells_from_plain(plain: Mapping[str, Any]) -> CellPrices:
    """Return the prices of cells that `cells_to_plain` turned into plain data."""
    by = plain["by"]
    if by == "column":
        return ByColumn(plain["prices"], plain["default"])
    if by == "cell":
        default = cells_from_plain(plain["default"])
        if isinstance(default, ByColumn):
            return ByCell.of({(row, column): price for row, column, price in plain["prices"]}, default)
    if by == "matrix":
        return ByMatrix.of([[np.nan if price is None else price for price in row] for row in plain["prices"]])
    raise DataError(f"stored prices are by 'column', 'cell' or 'matrix'; got {shorten(by)}.")


def group_to_plain(group: Group) -> Plain:
    """Return a group as plain data."""
    return {
        "name": group.name,
        "columns": list(group.columns),
        "first": list(group.first),
        "then": list(group.then),
        "lasting": group.lasting,
    }


def group_from_plain(plain: Mapping[str, Any]) -> Group:
    """Return the group that `group_to_plain` turned into plain data."""
    columns = plain["columns"]
    first, then = (dict(zip(columns, plain[which], strict=True)) for which in ("first", "then"))
    return Group(plain["name"], columns, first=first, then=then, lasting=plain["lasting"])
