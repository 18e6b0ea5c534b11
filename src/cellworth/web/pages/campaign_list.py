"""The list of campaigns."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from cellworth.web.dependencies import PoolDep, require_role
from cellworth.web.pages.forms import page_number
from cellworth.web.pages.language import ReaderNumbers
from cellworth.web.pages.page_layout import head_of, language_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 50  # campaigns


@router.get("/", dependencies=[require_role("read")], name="campaigns")
async def campaigns(request: Request, pool: PoolDep, page: str = "1") -> Response:
    """List the campaigns of the store, with their money."""
    names = await pool.names()
    first = (page_number(page) - 1) * A_PAGE
    found = [await pool.read(name, head_of) for name in names[first : first + A_PAGE]]
    heads = [(head, ReaderNumbers(language_of(request), head.currency)) for head in found]
    more = first + A_PAGE < len(names)
    return show(request, "campaigns.html", heads=heads, page=page_number(page), more=more, total=len(names))
