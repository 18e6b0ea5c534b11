"""The overview of a campaign: whether to go on, the learning curve, money, people, and the next values."""

from __future__ import annotations

import secrets
from functools import partial

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from cellworth.campaign.leases import ASK_LEASE
from cellworth.errors import CellworthError, ParameterError
from cellworth.forecasting import StopRule
from cellworth.report import preview_summary, summarise
from cellworth.strategy.batch import NONE_LEFT
from cellworth.web.dependencies import CampaignName, IdentityDep, JobsDep, PoolDep, Who, require_role
from cellworth.web.pages.flash_messages import back, rejected, typed_in
from cellworth.web.pages.forms import OptionalText, amount, whole
from cellworth.web.pages.language import message
from cellworth.web.pages.page_layout import head_of, path_of, show, summary_of
from cellworth.web.security.guards import is_from_elsewhere
from cellworth.web.security.sessions import check_csrf
from cellworth.web.security.tokens import Role
from cellworth.web.worker_tasks import ask_and_tell

router = APIRouter(include_in_schema=False)

LEASES = {"1d": message("1 day"), "7d": message("7 days"), "30d": message("30 days")}


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
    """Show whether to go on, the learning curve and the money; with ``preview``, what an ask would buy."""
    typed = typed_in(request)
    wish = typed.get("wish", {"budget": budget, "count": count})
    bought, error, wrong = None, None, set[str]()
    # A preview costs as much as an ask, and no other site may start one.
    if preview and identity.role >= Role.MANAGE and not is_from_elsewhere(request.headers):
        try:
            limits = amount(budget, "Money"), whole(count, "Values", least=1)
            bought = await jobs.run(name, summarise, preview_summary, *limits)
        except ParameterError as problem:
            error, wrong = str(problem), _wrong_fields(budget, count)
    head = await pool.read(name, head_of)
    summary, people = summary_of(jobs, name, "overview"), summary_of(jobs, name, "people")
    curve = None
    if summary.data is not None:
        status_now = summary.data["status"]
        curve = {key: status_now[key] for key in ("metric", "history", "budget")}
        curve["projection"] = summary.data["projection"]
    return show(
        request,
        "overview.html",
        head,
        tab="overview",
        summaries=[summary, people],
        curve=curve,
        people=people.data,
        leases=LEASES,
        usual_lease=ASK_LEASE,
        rule=StopRule(),
        key=f"page-{secrets.token_hex(8)}",
        wish=wish,
        preview=bought,
        error=error,
        wrong=wrong,
    )


def _wrong_fields(budget: str, count: str) -> set[str]:
    """Return which field of a rejected preview cannot be read; both if they are wrong only together."""
    try:
        amount(budget, "Money")
    except ParameterError:
        return {"budget"}
    try:
        whole(count, "Values", least=1)
    except ParameterError:
        return {"count"}
    return {"budget", "count"}


@router.post("/campaigns/{name}/ask", dependencies=[require_role("manage"), Depends(check_csrf)], name="ask")
async def ask(
    request: Request,
    name: CampaignName,
    jobs: JobsDep,
    who: Who,
    key: OptionalText = "",
    budget: OptionalText = "",
    count: OptionalText = "",
    lease: OptionalText = ASK_LEASE,
    obey: OptionalText = "",
) -> Response:
    """Ask for the next values; thanks to the key, a form submitted twice counts once.

    With ``obey``, nothing is asked for if a forecast says that it is not worth spending more.
    """
    try:
        limits = amount(budget, "Money"), whole(count, "Values", least=1)
        chosen = lease if lease in LEASES else ASK_LEASE
        rule = StopRule() if obey else None
        job = partial(ask_and_tell, who=who, lease=chosen, key=key[:80] or None, until=rule)
        asked = await jobs.run(name, job, *limits)
    except CellworthError as error:
        return rejected(request, path_of(name), str(error), wish={"budget": budget, "count": count})
    if not asked.batch:
        why = "stopped" if asked.stop else "nothing"
        return back(request, path_of(name), "none-left" if asked.batch.note == NONE_LEFT else why)
    return back(request, path_of(name, "queue"), "asked", count=len(asked.batch))
