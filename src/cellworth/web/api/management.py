"""REST routes that manage a running campaign, and the tokens of those who use the server."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import File, Form, HTTPException, Path, Request, Response, UploadFile

from cellworth.campaign import Campaign
from cellworth.errors import DataError
from cellworth.prices import Prices
from cellworth.web.api.models import (
    BudgetIn,
    CampaignNameOut,
    ClockIn,
    NameIn,
    Recorded,
    ReleaseIn,
    TokenOut,
    TokensOut,
)
from cellworth.web.api.routing import PREFIX, make_router, problems
from cellworth.web.dependencies import CampaignName, IdentityDep, PoolDep, Who, read_upload, require_role
from cellworth.web.security.tokens import Access
from cellworth.web.url_paths import segment

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


people = make_router("people")

TokenId = Annotated[str, Path(max_length=100, description="The id of a token, from the list.")]


@people.get("/tokens", dependencies=[require_role("manage")])
async def list_tokens(request: Request) -> TokensOut:
    """List the tokens: whose they are, what they allow, and when they end; empty if none are required."""
    access: Access = request.app.state.access
    return TokensOut(items=[TokenOut.model_validate(each) for each in access.tokens])


@people.delete("/tokens/{token}", dependencies=[require_role("manage")], responses=problems(404, 409))
async def revoke_token(request: Request, token: TokenId, identity: IdentityDep) -> Recorded:
    """Remove a token for good, and end its sessions; you cannot remove your own."""
    access: Access = request.app.state.access
    if token == identity.token:
        raise HTTPException(409, "This is your own token. Let somebody else who manages remove it.")
    try:
        access.remove(token)
    except DataError as error:
        raise HTTPException(404, f"There is no token with this id: {error}") from None
    return Recorded(new=1)


@people.post("/tokens/{token}/end-sessions", dependencies=[require_role("manage")], responses=problems(404))
async def end_sessions(request: Request, token: TokenId) -> Recorded:
    """Sign a token's owner out of all browsers; the token itself stays valid."""
    access: Access = request.app.state.access
    if access.holder(token) is None:
        raise HTTPException(404, "There is no token with this id.")
    access.ended.end_all(token)
    return Recorded(new=1)
