"""REST routes for campaigns: list, create, totals, summaries and the log."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import File, Form, HTTPException, Query, Request, Response, UploadFile

from cellworth.campaign import Campaign
from cellworth.campaign.log import Record
from cellworth.messages import shorten
from cellworth.prices import Prices
from cellworth.report import SUMMARIES
from cellworth.table import Table
from cellworth.web.api.json_bodies import CampaignNameOut, CampaignOut, EventOut, NamesPage, Page, SummaryOut
from cellworth.web.api.routing import PREFIX, After, Limit, make_router, problems
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, Who, read_upload, require_role
from cellworth.web.url_paths import segment

router = make_router("campaigns")

AfterName = Annotated[str, Query(max_length=200, description="The `next` of the previous page.")]


@router.get("/campaigns", dependencies=[require_role("read")], responses=problems())
async def list_campaigns(pool: PoolDep, after: AfterName = "", limit: Limit = 100) -> NamesPage:
    """List the campaigns of the store, by name."""
    names = [name for name in await pool.names() if name > after]
    items = [CampaignNameOut(name=name) for name in names[:limit]]
    return NamesPage(items=items, next=names[limit - 1] if len(names) > limit else None)


@router.post("/campaigns", dependencies=[require_role("manage")], status_code=201, responses=problems(409))
async def create_campaign(
    request: Request,
    response: Response,
    pool: PoolDep,
    who: Who,
    name: Annotated[str, Form(max_length=100, description="Unique in the store.")],
    table: Annotated[UploadFile, File(description="The table, a .csv, .tsv or .parquet file.")],
    prices: Annotated[UploadFile | None, File(description="A .csv file with column,price.")] = None,
    target: Annotated[str | None, Form(description="The column to predict.")] = None,
    row_id: Annotated[str | None, Form(description="The column that names the rows.")] = None,
    missing: Annotated[list[str] | None, Form(description="Strings that mark missing values.")] = None,
    budget: Annotated[float | None, Form(ge=0, allow_inf_nan=False)] = None,
    strategy: Annotated[str, Form()] = "recommended",
    seed: Annotated[int, Form(ge=0, le=2**53)] = 0,
) -> CampaignOut:
    """Create a campaign from an uploaded table; by default every cell costs 1."""
    most: int = request.app.state.largest_upload
    file = await read_upload(table, "table.csv", most)
    of_prices = None if prices is None else await read_upload(prices, "prices.csv", most)
    marks: list[object] = list(missing or ())
    read = await pool.in_thread(
        partial(Table.read, file, target=target or None, row_id=row_id or None, missing=marks)
    )
    stated = None if of_prices is None else await pool.in_thread(partial(Prices.read, of_prices))
    await pool.create(read, name=name, prices=stated, strategy=strategy, budget=budget, seed=seed, who=who)
    response.headers["Location"] = f"{PREFIX}/campaigns/{segment(name)}"
    return await pool.read(name, campaign_out)


@router.get("/campaigns/{name}", dependencies=[require_role("read")])
async def get_campaign(name: CampaignName, pool: PoolDep) -> CampaignOut:
    """Return a campaign's money and cell counts."""
    return await pool.read(name, campaign_out)


@router.get("/campaigns/{name}/summaries/{what}", dependencies=[require_role("read")])
async def get_summary(name: CampaignName, what: str, pool: PoolDep, jobs: JobsDep) -> SummaryOut:
    """Return the newest available summary; new events trigger an update.

    The summaries are overview (the status, the learning curve and its forecast), cell_map, columns and front.
    """
    if what not in SUMMARIES:
        raise HTTPException(404, f"There is no summary {shorten(what)}; there are {', '.join(SUMMARIES)}.")
    newest = await pool.number(name)
    ready = jobs.latest(name, what)
    as_of, data = (None, None) if ready is None else ready
    return SummaryOut(
        what=what,
        as_of=as_of,
        newest=newest,
        renewing=jobs.is_renewing(name, what),
        error=jobs.error(name, what),
        data=data,
    )


@router.get("/campaigns/{name}/events", dependencies=[require_role("read")])
async def list_events(
    name: CampaignName, pool: PoolDep, after: After = 0, limit: Limit = 100
) -> Page[EventOut]:
    """List the events of the log, oldest first; `after` is an event number."""

    def read(campaign: Campaign) -> list[Record]:
        return campaign.history(after=after, most=limit + 1)

    found = await pool.read(name, read)
    items = [EventOut.model_validate(record) for record in found[:limit]]
    return Page(items=items, next=items[-1].number if len(found) > limit else None)


def campaign_out(campaign: Campaign) -> CampaignOut:
    """Describe a campaign as of one event."""
    totals = asdict(campaign.totals())
    return CampaignOut(
        name=campaign.name,
        created=campaign.created,
        strategy=campaign.strategy,
        stage=campaign.stage,
        **totals,
    )
