"""REST routes that manage a running campaign: name, budget, prices, other people's leases, and its time."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import File, Form, Request, Response, UploadFile

from cellworth.campaign import Campaign
from cellworth.prices import Prices
from cellworth.web.api.models import BudgetIn, CampaignNameOut, ClockIn, NameIn, Recorded, ReleaseIn
from cellworth.web.api.routing import PREFIX, make_router, problems
from cellworth.web.dependencies import CampaignName, PoolDep, Who, read_upload, require_role
from cellworth.web.wire_format import segment

router = make_router("management")


@router.post("/campaigns/{name}/budget", dependencies=[require_role("manage")], responses=problems(404, 409))
async def change_budget(name: CampaignName, body: BudgetIn, pool: PoolDep, who: Who) -> Recorded:
    """Change the budget; it may not be below what is spent and reserved."""
    job = partial(Campaign.change_budget, budget=body.budget, who=who, reason=body.reason)
    return Recorded(new=int(await pool.write(name, job)))


@router.post("/campaigns/{name}/prices", dependencies=[require_role("manage")], responses=problems(404, 409))
async def change_prices(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    file: Annotated[UploadFile, File(alias="prices", description="A .csv file with column,price.")],
    reason: Annotated[str | None, Form(max_length=1000)] = None,
) -> Recorded:
    """Change the prices of cells that are asked for from now on; those that are out keep theirs."""
    sent = await read_upload(file, "prices.csv", request.app.state.largest_upload)
    prices = await pool.in_thread(partial(Prices.read, sent))
    job = partial(Campaign.change_prices, prices=prices, who=who, reason=reason or None)
    return Recorded(new=int(await pool.write(name, job)))


@router.post("/campaigns/{name}/release", dependencies=[require_role("manage")], responses=problems(404, 409))
async def release(name: CampaignName, body: ReleaseIn, pool: PoolDep, who: Who) -> Recorded:
    """Take back cells that anybody has taken, so that others can take them; they stay out."""
    job = partial(Campaign.release, cells=body.pairs(), who=who, reason=body.reason)
    return Recorded(new=await pool.write(name, job))


@router.post("/campaigns/{name}/rename", dependencies=[require_role("manage")], responses=problems(404, 409))
async def rename(name: CampaignName, body: NameIn, response: Response, pool: PoolDep) -> CampaignNameOut:
    """Give the campaign another name; its table and events stay. Its old address is then unknown."""
    await pool.rename(name, body.name)
    response.headers["Location"] = f"{PREFIX}/campaigns/{segment(body.name)}"
    return CampaignNameOut(name=body.name)


@router.post("/campaigns/{name}/clock", dependencies=[require_role("manage")], responses=problems(404, 409))
async def set_clock(name: CampaignName, body: ClockIn, pool: PoolDep, who: Who) -> Recorded:
    """Set the campaign's time by the clock, after events were dated by a wrong one."""
    job = partial(Campaign.set_clock, who=who, reason=body.reason)
    return Recorded(new=int(await pool.write(name, job)))
