"""The list of campaigns."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from cellworth.web.dependencies import DeskDep, require_role
from cellworth.web.pages.forms import page_number
from cellworth.web.pages.frame import head_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 50


@router.get("/", dependencies=[require_role("read")], name="campaigns")
async def campaigns(request: Request, desk: DeskDep, page: str = "1") -> Response:
    """List the campaigns of the store, with their money."""
    names = await desk.names()
    first = (page_number(page) - 1) * A_PAGE
    heads = [await desk.read(name, head_of) for name in names[first : first + A_PAGE]]
    more = first + A_PAGE < len(names)
    return show(request, "campaigns.html", heads=heads, page=page_number(page), more=more, total=len(names))
