"""Campaigns: which there are, where they stand, a new one."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import File, Form, HTTPException, Query, Request, Response, UploadFile

from cellworth.campaign import Campaign
from cellworth.prices import Prices
from cellworth.table import Table
from cellworth.web.api.models import CampaignNameOut, CampaignOut, FindingOut, NamesPage
from cellworth.web.api.parts import PREFIX, Limit, make_router, problems
from cellworth.web.dependencies import BackgroundDep, CampaignName, DeskDep, Who, require_role, segment
from cellworth.web.findings import FINDINGS
from cellworth.web.uploads import content_of
from cellworth.wording import shorten

router = make_router("campaigns")

After = Annotated[str, Query(max_length=200, description="What the page before gave as next.")]


@router.get("/campaigns", dependencies=[require_role("read")], responses=problems())
async def list_campaigns(desk: DeskDep, after: After = "", limit: Limit = 100) -> NamesPage:
    """List the campaigns of the store, by name."""
    names = [name for name in await desk.names() if name > after]
    items = [CampaignNameOut(name=name) for name in names[:limit]]
    return NamesPage(items=items, next=names[limit - 1] if len(names) > limit else None)


@router.post("/campaigns", dependencies=[require_role("manage")], status_code=201, responses=problems(409))
async def create_campaign(
    request: Request,
    response: Response,
    desk: DeskDep,
    who: Who,
    name: Annotated[str, Form(max_length=100, description="Unique in the store.")],
    table: Annotated[UploadFile, File(description="The table, a .csv, .tsv or .parquet file.")],
    prices: Annotated[UploadFile | None, File(description="A .csv file with column,price.")] = None,
    target: Annotated[str | None, Form(description="The column to be predicted.")] = None,
    row_id: Annotated[str | None, Form(description="The column that names the rows.")] = None,
    missing: Annotated[list[str] | None, Form(description="Texts that stand for holes.")] = None,
    budget: Annotated[float | None, Form(ge=0, allow_inf_nan=False)] = None,
    strategy: Annotated[str, Form()] = "recommended",
    seed: Annotated[int, Form(ge=0, le=2**53)] = 0,
) -> CampaignOut:
    """Begin a campaign on a table that is sent; by default every cell costs 1."""
    most: int = request.app.state.largest_upload
    file = await content_of(table, "table.csv", most)
    of_prices = None if prices is None else await content_of(prices, "prices.csv", most)
    marks: list[object] = list(missing or ())
    read = await desk.aside(
        partial(Table.read, file, target=target or None, row_id=row_id or None, missing=marks)
    )
    stated = None if of_prices is None else await desk.aside(partial(Prices.read, of_prices))
    await desk.begin(read, name=name, prices=stated, strategy=strategy, budget=budget, seed=seed, who=who)
    response.headers["Location"] = f"{PREFIX}/campaigns/{segment(name)}"
    return await desk.read(name, campaign_out)


@router.get("/campaigns/{name}", dependencies=[require_role("read")])
async def get_campaign(name: CampaignName, desk: DeskDep) -> CampaignOut:
    """Say where a campaign stands: money and cells."""
    return await desk.read(name, campaign_out)


@router.get("/campaigns/{name}/findings/{what}", dependencies=[require_role("read")])
async def get_finding(name: CampaignName, what: str, desk: DeskDep, background: BackgroundDep) -> FindingOut:
    """Return what takes long to work out, as it was last; it is renewed when there are new events.

    What there is: overview (the standing, the learning curve and its forecast), cell_map, columns, front.
    """
    if what not in FINDINGS:
        raise HTTPException(404, f"There is no finding {shorten(what)}; there are {', '.join(FINDINGS)}.")
    newest = await desk.number(name)
    found = background.latest(name, what)
    as_of, data = (None, None) if found is None else found
    return FindingOut(
        what=what,
        as_of=as_of,
        newest=newest,
        renewing=background.is_renewing(name, what),
        error=background.error(name, what),
        data=data,
    )


def campaign_out(campaign: Campaign) -> CampaignOut:
    """Look at a campaign once."""
    totals = asdict(campaign.totals())
    return CampaignOut(name=campaign.name, created=campaign.created, strategy=campaign.strategy, **totals)
