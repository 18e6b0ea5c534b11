"""Managing a campaign: take files away, add rows, free or withdraw many values, change budget and prices."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, File, HTTPException, Request, UploadFile
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import Stage
from cellworth.campaign.open_cells import OpenCounts
from cellworth.errors import CellworthError
from cellworth.prices import Prices
from cellworth.table import Column
from cellworth.table.more_categories import can_have_more
from cellworth.web.dependencies import (
    CampaignName,
    JobsDep,
    PoolDep,
    Who,
    read_upload,
    require_role,
)
from cellworth.web.file_jobs import sent_file
from cellworth.web.pages.flash_messages import back, rejected, typed_in
from cellworth.web.pages.forms import OptionalText, Text, amount
from cellworth.web.pages.page_layout import Head, head_of, path_of, show
from cellworth.web.security.sessions import check_csrf
from cellworth.web.security.tokens import Access
from cellworth.web.worker_tasks import FILES, FORMATS, make_file, make_report

router = APIRouter(include_in_schema=False)

MAY_MANAGE = [require_role("manage"), Depends(check_csrf)]
AT_ONCE = 10_000
"""Most values freed or withdrawn by one form."""


@router.get("/campaigns/{name}/manage", dependencies=[require_role("read")], name="manage")
async def manage(request: Request, name: CampaignName, pool: PoolDep) -> Response:
    """Show what can be taken away and, to managers, changed."""

    def look(view: Campaign) -> tuple[Head, OpenCounts, list[Column]]:
        return head_of(view), view.open_counts(), [each for each in view.columns if can_have_more(each)]

    head, counts, listed = await pool.read(name, look)
    access: Access = request.app.state.access
    return show(
        request,
        "manage.html",
        head,
        tab="manage",
        counts=counts,
        listed=listed,
        formats=FORMATS,
        is_open=access.open,
        typed=typed_in(request),
    )


@router.get("/campaigns/{name}/files/{file}", dependencies=[require_role("read")], name="take_away")
async def take_away(name: CampaignName, file: str, pool: PoolDep, jobs: JobsDep) -> Response:
    """Send the table, the filled table, the history or the report; what is costly is computed aside."""
    await pool.number(name)  # fail now if there is no such campaign
    what, _, suffix = file.partition(".")
    if file == "report.html":
        # Sent as a file, not shown here: it has styles and scripts of its own.
        return await sent_file(jobs, name, file, make_report)
    if what not in FILES or suffix not in FORMATS:
        raise HTTPException(404, f"There is no file {file[:40]!r} of a campaign.")
    return await sent_file(jobs, name, file, make_file, what, suffix, as_read=True)


@router.post("/campaigns/{name}/manage/budget", dependencies=MAY_MANAGE, name="change_budget")
async def change_budget(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    budget: OptionalText = "",
    reason: OptionalText = "",
) -> Response:
    """Change the budget; blank for no limit."""
    why = reason.strip() or None

    def change(campaign: Campaign) -> bool:
        return campaign.change_budget(amount(budget, "Budget"), who=who, reason=why)

    return await _changed(request, name, pool, change, "budget", budget=budget, reason=reason)


@router.post("/campaigns/{name}/manage/prices", dependencies=MAY_MANAGE, name="change_prices")
async def change_prices(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    prices: Annotated[UploadFile, File()],
    reason: OptionalText = "",
) -> Response:
    """Change the prices of what is asked for from now on, by a file."""
    most: int = request.app.state.largest_upload
    file, why = await read_upload(prices, "prices.csv", most), reason.strip() or None

    def change(campaign: Campaign) -> bool:
        return campaign.change_prices(Prices.read(campaign.read_options.file(file)), who=who, reason=why)

    return await _changed(request, name, pool, change, "prices")


@router.post("/campaigns/{name}/manage/category", dependencies=MAY_MANAGE, name="add_category")
async def add_category(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    column: Text,
    category: OptionalText = "",
    before: OptionalText = "",
    reason: OptionalText = "",
) -> Response:
    """Let the cells of a column hold one more category."""
    why = reason.strip() or None

    def change(campaign: Campaign) -> bool:
        return campaign.add_category(column, category, before=before or None, who=who, reason=why)

    typed = {"column": column, "category": category, "before": before, "reason": reason}
    return await _changed(request, name, pool, change, "category", **typed)


@router.post("/campaigns/{name}/manage/rows", dependencies=MAY_MANAGE, name="add_rows")
async def add_rows(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, rows: Annotated[UploadFile, File()]
) -> Response:
    """Append the rows of a file to the table."""
    file = await read_upload(rows, "rows.csv", request.app.state.largest_upload)
    return await _changed(request, name, pool, lambda campaign: campaign.extend(file, who=who), "extended")


@router.post("/campaigns/{name}/manage/free", dependencies=MAY_MANAGE, name="free_many")
async def free_many(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, holder: OptionalText = ""
) -> Response:
    """Free the values that a person has taken, for others to take; they stay asked for."""

    def free(campaign: Campaign) -> int:
        held = campaign.open_page(most=AT_ONCE, holder=holder).purchases
        return campaign.release(held, who=who)

    return await _changed(request, name, pool, free, "released")


@router.post("/campaigns/{name}/manage/withdraw", dependencies=MAY_MANAGE, name="withdraw_many")
async def withdraw_many(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    column: OptionalText = "",
) -> Response:
    """Withdraw the values asked for in a column, or all that nobody has taken, and release their money."""

    def withdraw(campaign: Campaign) -> int:
        which: dict[str, Any] = {"column": column} if column else {"free": True}
        return campaign.cancel(campaign.open_page(most=AT_ONCE, **which).purchases, who=who)

    return await _changed(request, name, pool, withdraw, "cancelled-many")


@router.post("/campaigns/{name}/manage/stage", dependencies=MAY_MANAGE, name="change_stage")
async def change_stage(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, stage: Text, reason: OptionalText = ""
) -> Response:
    """Close or archive the campaign, or open it again."""
    chosen = cast("Stage", stage)  # checked by the library

    def change(campaign: Campaign) -> bool:
        return campaign.change_stage(chosen, who=who, reason=reason.strip() or None)

    # That it is closed or archived stands on each of its pages.
    return await _changed(request, name, pool, change, "open" if stage == "open" else "")


@router.post("/campaigns/{name}/manage/rename", dependencies=MAY_MANAGE, name="rename")
async def rename(request: Request, name: CampaignName, pool: PoolDep, new: OptionalText = "") -> Response:
    """Give the campaign another name; its old address is then unknown."""
    try:
        await pool.rename(name, new.strip())
    except CellworthError as error:
        return rejected(request, path_of(name, "manage"), str(error), rename={"new": new})
    return back(request, path_of(new.strip(), "manage"), "renamed")


async def _changed(request: Request, name: str, pool: Any, change: Any, done: str, **typed: str) -> Response:
    """Make a change and say so, or say what is wrong with it and show again what was typed."""
    try:
        count = await pool.write(name, change)
    except CellworthError as error:
        return rejected(request, path_of(name, "manage"), str(error), "", **{done: typed})
    return back(request, path_of(name, "manage"), done if count else "same", count=int(count))
