"""The table as a grid: values and faint guesses, sorted and filtered here, sent in windows of rows.

A table in row blocks is shown in the order of its files. Its rows are searched from one of them on, until a
window is full or enough rows were looked at; readers go on from there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from cellworth.arrays import AnyArray, Float64Array
from cellworth.campaign import Campaign, CellRecord, RowRecord
from cellworth.campaign.current_cells import StatusWord
from cellworth.errors import CellworthError
from cellworth.report.row_summaries import row_guesses, written
from cellworth.table import Column, Table, as_table
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, require_role
from cellworth.web.pages.forms import page_number
from cellworth.web.pages.language import shown_value
from cellworth.web.pages.page_layout import Head, guess_words, head_of, language_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 50
"""Rows of the page without a script, and of one window."""
MOST_ROWS = 200
"""Most rows in a window."""
MOST_ORDERS = 16
"""Filters and sorts of one table whose rows are remembered."""
WITHOUT_VALUE: tuple[StatusWord, ...] = ("missing", "out", "refused")
_orders: WeakKeyDictionary[Table, dict[GridFilter, AnyArray | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class GridFilter:
    """Which rows, and in what order: by text in their id, by a column whose value is missing.

    In a table in row blocks they are searched from the row number ``after`` on.
    """

    find: str = ""
    missing: str = ""
    sort: str = ""
    down: str = ""
    after: int = 0

    def query(self, **other: object) -> str:
        """Return it as a URL query, with other fields added or replaced."""
        fields = {**asdict(self), **other}
        return urlencode({name: value for name, value in fields.items() if value not in ("", None, 0)})


async def _filter(
    find: str = "",
    missing: str = "",
    sort: str = "",
    down: str = "",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> GridFilter:
    return GridFilter(find.strip()[:200], missing[:200], sort[:200], "1" if down else "", after)


GridDep = Annotated[GridFilter, Depends(_filter)]


@dataclass(frozen=True)
class LookedAt:
    """The rows that a search has looked at.

    Attributes
    ----------
    first, last : int
        The numbers of the first and the last one, from 1.
    rows : int
        How many rows the table has.
    after : int or None
        Where to go on; None if all were looked at.
    """

    first: int
    last: int
    rows: int
    after: int | None


@dataclass(frozen=True)
class GridWindow:
    """Some rows of the grid.

    Attributes
    ----------
    head : Head
    columns : list of (str, str)
        Names and units.
    total : int
        Rows that fit the filter; if they were searched for, those found.
    first : int
        The position of the first row sent among them.
    rows : list of dict
        ``place`` in the table, ``id``, and for each column its status and text.
    looked : LookedAt or None
        How far rows were searched for; None if all rows that fit are known.
    sortable : bool
        Whether the table can be sorted: if it is in memory.
    """

    head: Head
    columns: list[tuple[str, str]]
    total: int
    first: int
    rows: list[dict[str, Any]]
    looked: LookedAt | None = None
    sortable: bool = True


def window_of(view: Campaign, chosen: GridFilter, first: int, count: int, language: str = "en") -> GridWindow:
    """Return a window of the grid; O(rows sent), and once O(n log n) for a sort and O(n) for a filter.

    On row blocks a filter costs `Campaign.search_rows`, and ``first`` does not count: see `GridFilter`.
    """
    table, count = view.table, min(count, MOST_ROWS)
    sortable = isinstance(table, Table)
    if not sortable and not (chosen.sort or chosen.down) and (chosen.find or chosen.missing):
        return _searched(view, chosen, count, language)
    places = None if chosen == GridFilter(after=chosen.after) else _places(as_table(table), chosen)
    total = table.shape[0] if places is None else len(places)
    first = min(first, max(0, total - 1))
    stop = min(total, first + count)
    shown = range(first, stop) if places is None else places[first:stop].tolist()
    columns, rows = _contents(view, view.rows_at(shown), language)
    return GridWindow(head_of(view), columns, total, first, rows, sortable=sortable)


def _searched(view: Campaign, chosen: GridFilter, count: int, language: str) -> GridWindow:
    """Return the next rows of a table in row blocks that fit."""
    column = chosen.missing if chosen.missing in {each.name for each in view.columns} else None
    status = () if column is None else WITHOUT_VALUE
    n = view.table.shape[0]
    after = min(chosen.after, max(0, n - 1))
    found = view.search_rows(after, count, row_contains=chosen.find, column=column, status=status)
    columns, rows = _contents(view, found.rows, language)
    looked = LookedAt(after + 1, found.looked_at, n, found.after)
    return GridWindow(head_of(view), columns, len(rows), 0, rows, looked, sortable=False)


def _contents(
    view: Campaign, records: list[RowRecord], language: str
) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """Return the columns and rows of a window."""
    labels = view.counts_labels
    shown_columns = view.columns if labels else view.table.columns
    rows = [
        {
            "place": record.place,
            "id": record.row,
            "cells": [
                [cell.status, _text(cell.value, column, language)]
                for cell, column in zip(_shown_cells(record, labels), shown_columns, strict=True)
            ],
        }
        for record in records
    ]
    return [(column.name, column.unit or "") for column in shown_columns], rows


def _shown_cells(record: RowRecord, labels: bool) -> list[CellRecord]:
    """Return the cells of a row, with its label last if labels are bought like cells."""
    return [*record.cells, record.label] if labels and record.label is not None else record.cells


def _text(value: object, column: Column, language: str) -> str:
    return "" if value is None else shown_value(written(value), column, language)


def _places(table: Table, chosen: GridFilter) -> AnyArray | None:
    """Return the places of the rows to show, in order, as found before; None for all rows as they are."""
    found = _orders.setdefault(table, {})
    if chosen not in found:
        while len(found) >= MOST_ORDERS:
            found.pop(next(iter(found)))
        found[chosen] = _ordered(table, chosen)
    return found[chosen]


def _ordered(table: Table, chosen: GridFilter) -> AnyArray | None:
    missing, sort = _cells_of(table, chosen.missing), _cells_of(table, chosen.sort)
    places = np.arange(table.shape[0])
    if chosen.find:
        wanted = chosen.find.casefold()
        places = places[[wanted in row.casefold() for row in table.row_ids]]
    if missing is not None:
        places = places[np.isnan(missing[places])]
    if sort is not None:
        values = sort[places]
        places = places[np.argsort(-values if chosen.down else values, kind="stable")]  # NaN comes last
    elif chosen.down:
        places = places[::-1]
    elif len(places) == table.shape[0]:
        return None
    return places


def _cells_of(table: Table, name: str) -> Float64Array | None:
    """Return the values (n,) of a column or of the labels, NaN in the holes; None if there is no such one."""
    if name in table.column_names:
        return table.values[:, table.column_names.index(name)]
    return table.target.cells if table.target is not None and name == table.target.name else None


@router.get("/campaigns/{name}/table", dependencies=[require_role("read")], name="table")
async def table(
    request: Request, name: CampaignName, pool: PoolDep, chosen: GridDep, page: str = "1"
) -> Response:
    """Show the table; without a script in pages."""
    at, language = page_number(page), language_of(request)
    found = await pool.read(name, lambda view: window_of(view, chosen, (at - 1) * A_PAGE, A_PAGE, language))
    pages = max(1, -(-found.total // A_PAGE))
    return show(
        request,
        "table.html",
        found.head,
        tab="table",
        grid=found,
        filter=chosen,
        page=min(at, pages),
        pages=pages,
    )


@router.get("/campaigns/{name}/table/rows.json", dependencies=[require_role("read")], name="grid_rows")
async def grid_rows(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    chosen: GridDep,
    first: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=1, le=MOST_ROWS)] = A_PAGE,
) -> Response:
    """Send a window of rows."""
    language = language_of(request)
    found = await pool.read(name, lambda view: window_of(view, chosen, first, count, language))
    looked = None if found.looked is None else asdict(found.looked)
    return JSONResponse({"total": found.total, "first": found.first, "rows": found.rows, "looked": looked})


@router.get("/campaigns/{name}/table/guesses.json", dependencies=[require_role("read")], name="grid_guesses")
async def grid_guesses(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    place: Annotated[list[int], Query(max_length=MOST_ROWS)],
) -> Response:
    """Send our guesses of the missing values of some rows, by their places, without and with intervals."""
    try:
        found = await jobs.run(name, row_guesses, place)
    except (CellworthError, IndexError):
        return JSONResponse({})
    columns = await pool.read(name, lambda view: view.columns)
    language = language_of(request)
    texts = [
        [
            None
            if guess is None
            else [shown_value(guess.estimate, column, language), guess_words(request, guess, column)]
            for guess, column in zip(row, columns, strict=False)  # labels are not guessed
        ]
        for row in found
    ]
    return JSONResponse(dict(zip(map(str, place), texts, strict=True)))
