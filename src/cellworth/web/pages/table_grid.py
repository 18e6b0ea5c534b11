"""The table as a grid: values and faint guesses, sorted and filtered here, sent in windows of rows.

Rows of a table in row blocks are searched from one of them on, until a window is full or enough rows were
looked at; readers go on from there. Sorted by a column, there are the first rows in this order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from cellworth.arrays import IntArray
from cellworth.campaign import Campaign, CellRecord, RowRecord
from cellworth.campaign.current_cells import StatusWord
from cellworth.campaign.row_search import MOST_SORTED, RowFilter, RowOrder
from cellworth.errors import CellworthError
from cellworth.report.row_summaries import row_guesses, written
from cellworth.table import Column, Table
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
SHOWN_STATUS: tuple[StatusWord, ...] = ("bought", "out", "refused")
_orders: WeakKeyDictionary[Any, dict[GridFilter, IntArray]] = WeakKeyDictionary()


@dataclass(frozen=True)
class GridFilter:
    """Which rows, and in what order: by text in their id, by a column whose value is missing, by status.

    In a table in row blocks they are searched from the row number ``after`` on, unless they are sorted.
    """

    find: str = ""
    missing: str = ""
    sort: str = ""
    down: str = ""
    after: int = 0
    status: str = ""

    @property
    def is_sorted(self) -> bool:
        """Whether rows are in another order than that of the table."""
        return bool(self.sort or self.down)

    def of(self, view: Campaign) -> tuple[RowFilter, RowOrder]:
        """Return the filter and the order, without columns and statuses that there are not."""
        names = {column.name for column in view.columns}
        status = tuple(word for word in SHOWN_STATUS if word == self.status)
        wanted = RowFilter(self.find, None, status, self.missing if self.missing in names else None)
        return wanted, RowOrder(self.sort if self.sort in names else None, bool(self.down))

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
    status: str = "",
) -> GridFilter:
    return GridFilter(find.strip()[:200], missing[:200], sort[:200], "1" if down else "", after, status[:20])


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
        Whether the table can be sorted.
    only_first : bool
        Whether ``total`` are the first rows in order, and not all that fit.
    """

    head: Head
    columns: list[tuple[str, str]]
    total: int
    first: int
    rows: list[dict[str, Any]]
    looked: LookedAt | None = None
    sortable: bool = True
    only_first: bool = False


def window_of(view: Campaign, chosen: GridFilter, first: int, count: int, language: str = "en") -> GridWindow:
    """Return a window of the grid; O(rows sent), and once O(n log n) for a sort and O(n) for a filter.

    On row blocks a filter costs `Campaign.search_rows`, and ``first`` does not count: see `GridFilter`. A
    sort reads one column, once for each state of the table.
    """
    table, count = view.table, min(count, MOST_ROWS)
    in_blocks, sortable = not isinstance(table, Table), view.can_be_sorted
    filters = chosen.find or chosen.missing or chosen.status
    if in_blocks and filters and not chosen.is_sorted:
        return _searched(view, chosen, count, language)
    places = _places(view, table, chosen) if filters or chosen.is_sorted else None
    total = table.shape[0] if places is None else len(places)
    first = min(first, max(0, total - 1))
    stop = min(total, first + count)
    shown = range(first, stop) if places is None else places[first:stop].tolist()
    columns, rows = _contents(view, view.rows_at(shown), language)
    only_first = in_blocks and places is not None and total == MOST_SORTED
    return GridWindow(head_of(view), columns, total, first, rows, sortable=sortable, only_first=only_first)


def _searched(view: Campaign, chosen: GridFilter, count: int, language: str) -> GridWindow:
    """Return the next rows of a table in row blocks that fit."""
    wanted, _ = chosen.of(view)
    n = view.table.shape[0]
    after = min(chosen.after, max(0, n - 1))
    found = view.search_rows(
        after, count, row_contains=wanted.contains, status=wanted.status, without=wanted.without
    )
    columns, rows = _contents(view, found.rows, language)
    looked = LookedAt(after + 1, found.looked_at, n, found.after)
    return GridWindow(head_of(view), columns, len(rows), 0, rows, looked, sortable=view.can_be_sorted)


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


def _places(view: Campaign, table: Any, chosen: GridFilter) -> IntArray:
    """Return the places of the rows to show, in order, as found before for the same cells."""
    if chosen.status:  # it changes without the table, when a lease ends even without an event
        return view.ordered_rows(*chosen.of(view))
    found = _orders.setdefault(table, {})
    if chosen not in found:
        while len(found) >= MOST_ORDERS:
            found.pop(next(iter(found)))
        found[chosen] = view.ordered_rows(*chosen.of(view))
    return found[chosen]


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
