"""The ledger: all events, newest first, and as a file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from cellworth.report import ledger_csv, ledger_entries
from cellworth.web.dependencies import CampaignName, PoolDep, require_role
from cellworth.web.pages.forms import page_number
from cellworth.web.pages.page_layout import head_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 25  # events
MOST_CELLS = 20
"""Most cells listed per event; the file has all of them."""


@router.get("/campaigns/{name}/ledger", dependencies=[require_role("read")], name="ledger")
async def ledger(request: Request, name: CampaignName, pool: PoolDep, page: str = "1") -> Response:
    """Show a page of events."""
    head = await pool.read(name, head_of)
    pages = max(1, -(-head.number // A_PAGE))
    at = min(page_number(page), pages)
    last = head.number - (at - 1) * A_PAGE
    after = max(0, last - A_PAGE)
    entries = await pool.read(name, lambda view: ledger_entries(view, after, last - after))
    return show(
        request,
        "ledger.html",
        head,
        tab="ledger",
        entries=entries[::-1],
        page=at,
        pages=pages,
        most=MOST_CELLS,
    )


@router.get("/campaigns/{name}/ledger.csv", dependencies=[require_role("read")], name="ledger_file")
async def ledger_file(name: CampaignName, pool: PoolDep) -> Response:
    """Send all events as CSV, one line per cell; text a spreadsheet would run as a formula is escaped."""
    text = await pool.read(name, lambda view: ledger_csv(ledger_entries(view)))
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")
