"""The table as a map, row by row with guesses and corrections, and column by column."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import JSONResponse, Response

from cellworth.campaign import Campaign
from cellworth.errors import DataError, ParameterError
from cellworth.report import cell_map_summary, row_summary, summarise
from cellworth.report.row_summaries import written
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, Who, require_role
from cellworth.web.jobs import JobQueue
from cellworth.web.pages.flash_messages import back, rejected, typed_in
from cellworth.web.pages.forms import Name, OptionalText, doubt, page_number, plain_number, value_field, whole
from cellworth.web.pages.page_layout import head_of, language_of, path_of, show, summary_of
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)

LINES = 25
"""Lines per page of the map shown as a table."""
PATIENCE = 2.0
"""Seconds a page waits for estimates before showing only known values."""


@router.get("/campaigns/{name}/map", dependencies=[require_role("read")], name="map")
async def cell_map(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    first: str = "",
    last: str = "",
    page: str = "1",
) -> Response:
    """Show the map of the table, or of a range of rows."""
    head, labels = await pool.read(name, lambda campaign: (head_of(campaign), campaign.counts_labels))
    summary = summary_of(jobs, name, "cell_map")
    part = await _part(jobs, name, summary.data, first, last)
    shown = None
    if part is not None:
        lines = len(part["ids"] if part["group"] == 1 else part["starts"])
        at = min(page_number(page), max(1, -(-lines // LINES)))
        shown = {
            "page": at,
            "pages": -(-lines // LINES),
            "lines": range((at - 1) * LINES, min(lines, at * LINES)),
        }
    return show(
        request, "map.html", head, tab="table", summaries=[summary], map=part, shown=shown, labels=labels
    )


@router.get("/campaigns/{name}/map.json", dependencies=[require_role("read")], name="map_data")
async def map_data(
    name: CampaignName, pool: PoolDep, jobs: JobsDep, first: str = "", last: str = ""
) -> Response:
    """Send the data of the map."""
    await pool.number(name)  # 404 for an unknown campaign, before anything is kept for it
    part = await _part(jobs, name, summary_of(jobs, name, "cell_map").data, first, last)
    return JSONResponse(part, 200 if part is not None else 404)


@router.get("/campaigns/{name}/row", dependencies=[require_role("read")], name="find_row")
async def find_row(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    row_id: Annotated[str, Query(alias="id")] = "",
    column: str = "",
) -> Response:
    """Redirect to a row by its id."""
    place = await pool.read(name, lambda view: place_of(view, row_id.strip()))
    query = urlencode({"column": column}) if column else ""
    return back(request, path_of(name, "rows", str(place)), query=query)


def place_of(view: Campaign, row: str) -> int:
    """Return the position of a row; raise DataError with the closest id if there is none."""
    if not row:
        raise DataError("Expected a row id, got a blank. Enter an id from the table.")
    return view.row(row).place


async def _part(jobs: JobQueue, name: str, whole_map: Any, first: str, last: str) -> Any:
    """Return the map of all rows, or of the requested range."""
    begin, end = whole(first, "The first row"), whole(last, "The last row")
    if begin is None and end is None:
        return whole_map
    if begin is None or end is None or not begin < end:
        raise ParameterError(f"The first row must come before the last; got {first!r} and {last!r}.")
    return await jobs.run(name, summarise, cell_map_summary, begin, end)


@router.get("/campaigns/{name}/rows/{place}", dependencies=[require_role("read")], name="row")
async def row(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    place: str,
    column: str = "",
) -> Response:
    """Show a row by its position, counted from 0; ``column`` opens the correction form of that column.

    Any other text is taken for the id of a row: people type such addresses.
    """
    if not (place.isdecimal() and len(place) < 16):
        return await find_row(request, name, pool, place, column)
    wrong = typed_in(request).get("wrong")
    return await _row_page(request, name, pool, jobs, int(place), column=column, wrong=wrong)


@router.post(
    "/campaigns/{name}/rows/{place}/correct",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="correct",
)
async def correct(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    who: Who,
    row: Name,
    column: Name,
    value: OptionalText = "",
    reason: OptionalText = "",
    doubted: OptionalText = "",
    place: int = Path(ge=0),
) -> Response:
    """Replace a value that turned out to be wrong; the old one stays in the ledger."""
    why, insist = reason.strip() or None, bool(value) and value == doubted
    try:
        language = language_of(request)
        changed = await pool.write(
            name, lambda campaign: corrected(campaign, row, column, value, language, who, why, insist)
        )
    except DataError as error:
        wrong = {"column": column, "value": value, "reason": reason, **doubt(error, value)}
        return rejected(request, path_of(name, "rows", str(place)), str(error), wrong=wrong)
    done = "corrected" if changed else "same"
    return back(request, path_of(name, "rows", str(place)), done, cell=f"{column}, {row}")


def corrected(
    campaign: Campaign,
    row: str,
    column: str,
    value: str,
    language: str,
    who: str | None,
    reason: str | None,
    insist: bool,
) -> bool:
    """Correct a value as it was typed; a decimal comma is one in languages that have it."""
    found = next((each for each in campaign.columns if each.name == column), None)
    plain = value if found is None else plain_number(value, found, language)
    return campaign.correct(row, column, plain, who=who, reason=reason, insist=insist)


def known_of(view: Campaign, place: int) -> dict[str, Any]:
    """Return a row's known values, without estimates; raise DataError if there is no such row. O(columns)."""
    head, table = head_of(view), view.table
    found = view.rows(after=place, most=1)
    if not found:
        raise DataError(f"There is no row number {place + 1}; the table has {table.shape[0]} rows.")
    row = found[0].row
    asks = {each.column: each for each in view.open_page(row=row, most=len(view.columns)).purchases}
    cells = []
    label = found[0].label if view.counts_labels else None
    lines = [*found[0].cells, *([] if label is None else [label])]
    for column, known in zip(view.columns, lines, strict=False):
        ask = asks.get(column.name)
        cells.append(
            {
                "column": column.name,
                "unit": column.unit,
                "description": column.description,
                "status": "estimated" if known.status == "missing" else known.status,
                "value": None if known.value is None else written(known.value),
                "field": value_field(column),
                "asked_because": None if ask is None else ask.why,
                "price": None if ask is None else ask.price,
            }
        )
    return {"head": head, "row": row, "cells": cells, "rows": table.shape[0]}


async def _row_page(
    request: Request,
    name: str,
    pool: CampaignPool,
    jobs: JobQueue,
    place: int,
    *,
    status: int = 200,
    **context: Any,
) -> Response:
    known = await pool.read(name, lambda view: known_of(view, place))
    thought = await _estimates(jobs, name, known["row"])
    if thought:
        by_column = {cell["column"]: cell for cell in thought["cells"]}
        for cell in known["cells"]:
            # Known values are newer than the estimates, which only fill in what is still missing.
            extra = by_column.get(cell["column"])  # none for a label
            if extra is not None and cell["status"] in ("estimated", "out", "refused"):
                names = ("estimate", "low", "high", "worth", "rank", "of", "why", "unsure", "price")
                cell.update({key: extra[key] for key in names if extra[key] is not None})
    shared = {"known": known, "place": place, "thought": thought}
    summary = summary_of(jobs, name, "cell_map")
    return show(
        request,
        "row.html",
        known["head"],
        tab="table",
        summaries=[summary],
        status=status,
        **shared,
        **context,
    )


async def _estimates(jobs: JobQueue, name: str, row: str) -> Any:
    """Return the summary of a row, or None if it takes too long; the next request then gets it faster.

    It is empty if the strategy cannot say what a cell is worth.
    """
    work = asyncio.ensure_future(jobs.run(name, summarise, row_summary, row))
    done, _ = await asyncio.wait([work], timeout=PATIENCE)
    if not done:
        work.add_done_callback(lambda late: late.cancelled() or late.exception())
        return None
    try:
        return work.result()
    except ParameterError:
        return {}


@router.get("/campaigns/{name}/columns", dependencies=[require_role("read")], name="columns")
async def columns(request: Request, name: CampaignName, pool: PoolDep, jobs: JobsDep) -> Response:
    """Show the columns, best buy first, and how the last batch compares."""
    head = await pool.read(name, head_of)
    front = summary_of(jobs, name, "front")
    summary = summary_of(jobs, name, "columns")
    return show(request, "columns.html", head, tab="columns", summaries=[summary, front], front=front)
