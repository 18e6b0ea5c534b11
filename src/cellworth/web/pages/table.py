"""The table as a map, and the way to its rows."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from cellworth.campaign import Campaign
from cellworth.errors import DataError, ParameterError
from cellworth.web import findings
from cellworth.web.background import Background
from cellworth.web.dependencies import BackgroundDep, CampaignName, DeskDep, require_role
from cellworth.web.pages.forms import page_number, whole
from cellworth.web.pages.frame import back, finding_of, head_of, path_of, show

router = APIRouter(include_in_schema=False)

LINES = 25
"""Lines of the map that are also there as a table, a page at a time."""


@router.get("/campaigns/{name}/table", dependencies=[require_role("read")], name="table")
async def table(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    background: BackgroundDep,
    first: str = "",
    last: str = "",
    page: str = "1",
) -> Response:
    """Show the map of the table, or of some rows of it."""
    head = await desk.read(name, head_of)
    finding = finding_of(background, name, "cell_map")
    part = await _part(background, name, finding.data, first, last)
    shown = None
    if part is not None:
        lines = len(part["ids"] if part["group"] == 1 else part["starts"])
        at = min(page_number(page), max(1, -(-lines // LINES)))
        shown = {
            "page": at,
            "pages": -(-lines // LINES),
            "lines": range((at - 1) * LINES, min(lines, at * LINES)),
        }
    return show(request, "table.html", head, tab="table", findings=[finding], map=part, shown=shown)


@router.get("/campaigns/{name}/map.json", dependencies=[require_role("read")], name="map")
async def map_data(
    name: CampaignName, background: BackgroundDep, first: str = "", last: str = ""
) -> Response:
    """Send what the figure is drawn from."""
    part = await _part(background, name, finding_of(background, name, "cell_map").data, first, last)
    return JSONResponse(part, 200 if part is not None else 404)


@router.get("/campaigns/{name}/row", dependencies=[require_role("read")], name="find_row")
async def find_row(name: CampaignName, desk: DeskDep, id: str = "", column: str = "") -> Response:
    """Go to the row of an id."""
    place = await desk.read(name, lambda view: place_of(view, id.strip()))
    return back(path_of(name, "rows", str(place)), column=column)


def place_of(view: Campaign, row: str) -> int:
    """Return the place of a row; DataError with the closest id if there is none."""
    if not row:
        raise DataError("Expected the id of a row, got a blank. Type an id of the table.")
    return view.row(row).place


async def _part(background: Background, name: str, whole_map: Any, first: str, last: str) -> Any:
    """Return the map of the rows that are wanted: all of them, or a part that is looked at more closely."""
    begin, end = whole(first, "The first row"), whole(last, "The last row")
    if begin is None and end is None:
        return whole_map
    if begin is None or end is None or not begin < end:
        raise ParameterError(f"Expected the first row before the last; got {first!r} and {last!r}.")
    return await background.run(name, findings.cell_map, begin, end)
