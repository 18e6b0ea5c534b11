"""Where a campaign stands, and the next batch."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.errors import ParameterError
from cellworth.web import findings
from cellworth.web.background import Background
from cellworth.web.dependencies import (
    BackgroundDep,
    CampaignName,
    DeskDep,
    IdentityDep,
    Who,
    check_csrf,
    require_role,
)
from cellworth.web.desk import Desk
from cellworth.web.pages.forms import OptionalText, amount, whole
from cellworth.web.pages.frame import back, finding_of, head_of, path_of, show
from cellworth.web.security.access import Role

router = APIRouter(include_in_schema=False)

LEASES = {"1d": "1 day", "7d": "7 days", "30d": "30 days"}


@router.get("/campaigns/{name}", dependencies=[require_role("read")], name="overview")
async def overview(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    background: BackgroundDep,
    identity: IdentityDep,
    budget: str = "",
    count: str = "",
    preview: str = "",
) -> Response:
    """Show the money, the learning curve and what changed; with ``preview``, what an ask would buy."""
    wish = {"budget": budget, "count": count}
    if not preview or identity.role < Role.MANAGE:  # a preview costs what an ask costs
        return await _page(request, name, desk, background, wish=wish)
    try:
        limits = amount(budget, "Money"), whole(count, "Cells", least=1)
        bought = await background.run(name, findings.preview, *limits)
    except ParameterError as error:
        return await _page(request, name, desk, background, wish=wish, error=str(error), status=422)
    return await _page(request, name, desk, background, wish=wish, preview=bought)


@router.post("/campaigns/{name}/ask", dependencies=[require_role("manage"), Depends(check_csrf)], name="ask")
async def ask(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    background: BackgroundDep,
    who: Who,
    key: OptionalText = "",
    budget: OptionalText = "",
    count: OptionalText = "",
    lease: OptionalText = "7d",
) -> Response:
    """Ask for the next batch; the key lets a form that is sent twice count once."""
    try:
        limits = amount(budget, "Money"), whole(count, "Cells", least=1)
        chosen = lease if lease in LEASES else "7d"
        batch = await background.run(name, Campaign.ask, *limits, who=who, lease=chosen, key=key[:80] or None)
    except ParameterError as error:
        wish = {"budget": budget, "count": count}
        return await _page(request, name, desk, background, wish=wish, error=str(error), status=422)
    if not batch:
        return back(path_of(name), "nothing")
    return back(path_of(name, "queue"), "asked", count=len(batch))


async def _page(
    request: Request, name: str, desk: Desk, background: Background, *, status: int = 200, **context: Any
) -> Response:
    head = await desk.read(name, head_of)
    finding = finding_of(background, name, "overview")
    curve = None
    if finding.data is not None:
        standing = finding.data["standing"]
        curve = {key: standing[key] for key in ("metric", "history", "budget")}
        curve["projection"] = finding.data["projection"]
    shared = {"curve": curve, "leases": LEASES, "key": f"page-{secrets.token_hex(8)}"}
    return show(
        request, "overview.html", head, tab="overview", findings=[finding], status=status, **shared, **context
    )
