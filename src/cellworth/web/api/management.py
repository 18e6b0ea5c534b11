"""REST routes that manage a running campaign, and the tokens of those who use the server."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Annotated, Literal

from fastapi import File, Form, HTTPException, Path, Request, Response, UploadFile
from pydantic import Field

from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import Stage
from cellworth.errors import DataError
from cellworth.prices import Prices
from cellworth.web.api.json_bodies import (
    CampaignNameOut,
    CellsIn,
    Money,
    Reason,
    Recorded,
    RequestModel,
    ResponseModel,
)
from cellworth.web.api.routing import PREFIX, make_router, problems
from cellworth.web.dependencies import CampaignName, IdentityDep, PoolDep, Who, read_upload, require_role
from cellworth.web.security.tokens import Access, end_of, id_of
from cellworth.web.url_paths import segment

router, people = make_router("management"), make_router("people")

TokenId = Annotated[str, Path(max_length=100, description="The id of a token, from the list.")]


class StageIn(RequestModel):
    """The stage of a campaign: a closed one takes nothing, an archived one is also left out of the list."""

    stage: Stage
    reason: Reason | None = None


class NameIn(RequestModel):
    """The new name of a campaign, unique in the store."""

    name: Annotated[str, Field(min_length=1, max_length=100)]


class ClockIn(RequestModel):
    """Why the campaign's time is set by the clock."""

    reason: Reason | None = None


class BudgetIn(RequestModel):
    """The new budget of a campaign, null for no limit, and why it changes."""

    budget: Money | None
    reason: Reason | None = None


class CategoryIn(RequestModel):
    """A category that a column may hold from now on, in an ordered one before another; and why."""

    column: Annotated[str, Field(min_length=1, max_length=1000)]
    category: Annotated[str, Field(min_length=1, max_length=1000)]
    before: Annotated[str | None, Field(max_length=1000)] = None
    reason: Reason | None = None


class ReleaseIn(CellsIn):
    """Cells to take back from whoever has taken them, and why."""

    reason: Reason | None = None


class TokenOut(ResponseModel):
    """A token, without its secret; `expires` is null if it has no end."""

    id: str
    who: str
    role: Literal["read", "answer", "manage"]
    created: str
    expires: str | None


class TokenIn(RequestModel):
    """A token to create: whose it is, what it allows, and the day after which it ends, null for never."""

    who: Annotated[str, Field(min_length=1, max_length=200)]
    role: Literal["read", "answer", "manage"]
    expires: Annotated[date | None, Field(strict=False)] = None


class ExpiryIn(RequestModel):
    """The last day of a token, null for never."""

    expires: Annotated[date | None, Field(strict=False)]


class NewTokenOut(ResponseModel):
    """A new token: its id, and the secret itself, which is never shown again."""

    id: str
    token: str


class TokensOut(ResponseModel):
    """All tokens of the server, oldest first."""

    items: list[TokenOut]


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


@router.post(
    "/campaigns/{name}/categories", dependencies=[require_role("manage")], responses=problems(404, 409)
)
async def add_category(name: CampaignName, body: CategoryIn, pool: PoolDep, who: Who) -> Recorded:
    """Let the cells of a column hold one more category."""
    job = partial(
        Campaign.add_category,
        column=body.column,
        category=body.category,
        before=body.before,
        who=who,
        reason=body.reason,
    )
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


@router.post("/campaigns/{name}/stage", dependencies=[require_role("manage")], responses=problems(404, 409))
async def change_stage(name: CampaignName, body: StageIn, pool: PoolDep, who: Who) -> Recorded:
    """Close a campaign, which then takes no asks, answers or changes; archive it, or open it again."""
    job = partial(Campaign.change_stage, stage=body.stage, who=who, reason=body.reason)
    return Recorded(new=int(await pool.write(name, job)))


@people.get("/tokens", dependencies=[require_role("manage")])
async def list_tokens(request: Request) -> TokensOut:
    """List the tokens: whose they are, what they allow, and when they end; empty if none are required."""
    access: Access = request.app.state.access
    return TokensOut(items=[TokenOut.model_validate(each) for each in access.tokens])


@people.post("/tokens", dependencies=[require_role("manage")], status_code=201, responses=problems(409))
async def create_token(request: Request, body: TokenIn) -> NewTokenOut:
    """Create a token; the response is the only place where it is ever shown."""
    access = _of_tokens(request)
    token = access.add(who=body.who, role=body.role, expires=end_of(body.expires))
    return NewTokenOut(id=id_of(token), token=token)


@people.post("/tokens/{token}/expiry", dependencies=[require_role("manage")], responses=problems(404, 409))
async def expire(request: Request, token: TokenId, body: ExpiryIn) -> Recorded:
    """Say after which day a token and its sessions end."""
    access = _of_tokens(request)
    if access.holder(token) is None:
        raise HTTPException(404, "There is no token with this id, or it has ended.")
    access.expire(token, end_of(body.expires))
    return Recorded(new=1)


def _of_tokens(request: Request) -> Access:
    access: Access = request.app.state.access
    if access.open:
        raise HTTPException(409, "This server requires no tokens. Serve with --tokens FILE first.")
    return access


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
