"""The overview of a campaign: money, learning curve, latest changes, and the next batch."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from cellworth.campaign.leases import ASK_LEASE
from cellworth.errors import ParameterError
from cellworth.outlook import StopRule
from cellworth.report import preview_summary, summarise
from cellworth.web.ask_job import ask_and_tell
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import CampaignName, IdentityDep, JobsDep, PoolDep, Who, require_role
from cellworth.web.jobs import JobQueue
from cellworth.web.pages.forms import OptionalText, amount, whole
from cellworth.web.pages.page_layout import back, head_of, path_of, show, summary_of
from cellworth.web.security.guards import is_from_elsewhere
from cellworth.web.security.sessions import check_csrf
from cellworth.web.security.tokens import Role

router = APIRouter(include_in_schema=False)

LEASES = {"1d": "1 day", "7d": "7 days", "30d": "30 days"}


@router.get("/campaigns/{name}", dependencies=[require_role("read")], name="overview")
async def overview(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    identity: IdentityDep,
    budget: str = "",
    count: str = "",
    preview: str = "",
) -> Response:
    """Show the money, the learning curve and what changed; with ``preview``, also what an ask would buy."""
    wish = {"budget": budget, "count": count}
    # A preview costs as much as an ask, and no other site may start one.
    if not preview or identity.role < Role.MANAGE or is_from_elsewhere(request.headers):
        return await _page(request, name, pool, jobs, wish=wish)
    try:
        limits = amount(budget, "Money"), whole(count, "Cells", least=1)
        bought = await jobs.run(name, summarise, preview_summary, *limits)
    except ParameterError as error:
        return await _page(request, name, pool, jobs, wish=wish, error=str(error), status=422)
    return await _page(request, name, pool, jobs, wish=wish, preview=bought)


@router.post("/campaigns/{name}/ask", dependencies=[require_role("manage"), Depends(check_csrf)], name="ask")
async def ask(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    who: Who,
    key: OptionalText = "",
    budget: OptionalText = "",
    count: OptionalText = "",
    lease: OptionalText = ASK_LEASE,
    obey: OptionalText = "",
) -> Response:
    """Ask for the next batch; thanks to the key, a form submitted twice counts once.

    With ``obey``, nothing is asked for if a forecast says that the next money is not worth it.
    """
    try:
        limits = amount(budget, "Money"), whole(count, "Cells", least=1)
        chosen = lease if lease in LEASES else ASK_LEASE
        rule = StopRule() if obey else None
        job = partial(ask_and_tell, who=who, lease=chosen, key=key[:80] or None, until=rule)
        asked = await jobs.run(name, job, *limits)
    except ParameterError as error:
        wish = {"budget": budget, "count": count}
        return await _page(request, name, pool, jobs, wish=wish, error=str(error), status=422)
    if not asked.batch:
        return back(path_of(name), "stopped" if asked.stop else "nothing")
    return back(path_of(name, "queue"), "asked", count=len(asked.batch))


async def _page(
    request: Request, name: str, pool: CampaignPool, jobs: JobQueue, *, status: int = 200, **context: Any
) -> Response:
    head = await pool.read(name, head_of)
    summary = summary_of(jobs, name, "overview")
    curve = None
    if summary.data is not None:
        status_now = summary.data["status"]
        curve = {key: status_now[key] for key in ("metric", "history", "budget")}
        curve["projection"] = summary.data["projection"]
    shared = {
        "curve": curve,
        "leases": LEASES,
        "usual_lease": ASK_LEASE,
        "key": f"page-{secrets.token_hex(8)}",
    }
    return show(
        request,
        "overview.html",
        head,
        tab="overview",
        summaries=[summary],
        status=status,
        **shared,
        **context,
    )
