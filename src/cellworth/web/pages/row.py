"""One row: its values, what is thought of the others, and corrections."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.errors import DataError
from cellworth.web import findings
from cellworth.web.background import Background
from cellworth.web.dependencies import BackgroundDep, CampaignName, DeskDep, Who, check_csrf, require_role
from cellworth.web.desk import Desk
from cellworth.web.findings.row import written
from cellworth.web.pages.forms import Name, OptionalText, value_field
from cellworth.web.pages.frame import back, finding_of, head_of, path_of, show

router = APIRouter(include_in_schema=False)

PATIENCE = 2.0
"""Seconds that a page waits for estimates; without them it shows what is known."""

@router.get("/campaigns/{name}/rows/{place}", dependencies=[require_role("read")], name="row")
async def row(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    background: BackgroundDep,
    place: int = Path(ge=0),
    column: str = "",
) -> Response:
    """Show a row by its place in the table, counted from 0; ``column`` opens its correction."""
    return await _page(request, name, desk, background, place, column=column)


@router.post(
    "/campaigns/{name}/rows/{place}/correct",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="correct",
)
async def correct(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    background: BackgroundDep,
    who: Who,
    row: Name,
    column: Name,
    value: OptionalText = "",
    reason: OptionalText = "",
    place: int = Path(ge=0),
) -> Response:
    """Replace a value that turned out wrong; the old one stays in the ledger."""
    why = reason.strip() or None
    try:
        changed = await desk.write(
            name, lambda campaign: campaign.correct(row, column, value, who=who, reason=why)
        )
    except DataError as error:
        wrong = {"column": column, "value": value, "reason": reason, "error": str(error)}
        return await _page(request, name, desk, background, place, column=column, wrong=wrong, status=422)
    done = "corrected" if changed else "same"
    return back(path_of(name, "rows", str(place)), done, cell=f"{column} of {row}")


def known_of(view: Campaign, place: int) -> dict[str, Any]:
    """Return what is known of a row, without estimates; O(columns). DataError if there is no such row."""
    head, table = head_of(view), view.table
    found = view.rows(after=place, most=1)
    if not found:
        raise DataError(f"There is no row number {place + 1}; the table has {table.shape[0]} rows.")
    row = found[0].row
    asks = {each.column: each for each in view.open_page(row=row, most=len(table.columns)).purchases}
    cells = []
    for column, known, number in zip(table.columns, found[0].cells, table.values[place], strict=True):
        ask = asks.get(column.name)
        cells.append(
            {
                "column": column.name,
                "kind": column.kind,
                "unit": column.unit,
                "status": "estimated" if known.status == "missing" else known.status,
                "value": written(column.format(float(number))),
                "field": value_field(column),
                "asked_because": None if ask is None else ask.why,
                "price": None if ask is None else ask.price,
            }
        )
    return {"head": head, "row": row, "cells": cells, "rows": table.shape[0]}


async def _page(
    request: Request,
    name: str,
    desk: Desk,
    background: Background,
    place: int,
    *,
    status: int = 200,
    **context: Any,
) -> Response:
    known = await desk.read(name, lambda view: known_of(view, place))
    thought = await _estimates(background, name, known["row"])
    if thought is not None:
        by_column = {cell["column"]: cell for cell in thought["cells"]}
        for cell in known["cells"]:
            # What is known and told is newer than the estimates: these only fill in what is still missing.
            extra = by_column[cell["column"]]
            if cell["status"] in ("estimated", "out", "refused"):
                names = ("estimate", "low", "high", "worth", "rank", "of", "why", "unsure", "price")
                cell.update({key: extra[key] for key in names if key in extra})
    shared = {"known": known, "place": place, "thought": thought}
    finding = finding_of(background, name, "cell_map")
    return show(
        request,
        "row.html",
        known["head"],
        tab="table",
        findings=[finding],
        status=status,
        **shared,
        **context,
    )


async def _estimates(background: Background, name: str, row: str) -> Any:
    """Return the finding of a row, or None if it takes too long: the work goes on, for the next look."""
    work = asyncio.ensure_future(background.run(name, findings.row_detail, row))
    done, _ = await asyncio.wait([work], timeout=PATIENCE)
    if not done:
        work.add_done_callback(lambda late: late.cancelled() or late.exception())
        return None
    return work.result()
