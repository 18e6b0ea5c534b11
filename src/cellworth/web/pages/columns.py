"""Price against worth of each column, how well it is filled, and the last batch."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from cellworth.web.dependencies import BackgroundDep, CampaignName, DeskDep, require_role
from cellworth.web.pages.frame import finding_of, head_of, show

router = APIRouter(include_in_schema=False)


@router.get("/campaigns/{name}/columns", dependencies=[require_role("read")], name="columns")
async def columns(request: Request, name: CampaignName, desk: DeskDep, background: BackgroundDep) -> Response:
    """Show the columns, the best buy first, and what the last batch got for its money."""
    head = await desk.read(name, head_of)
    front = finding_of(background, name, "front")
    finding = finding_of(background, name, "columns")
    return show(request, "columns.html", head, tab="columns", findings=[finding, front], front=front)
