"""Cells that are out: asked for, taken, given back, cancelled."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from fastapi import Query, Response

from cellworth.campaign import Campaign, CampaignQueue, OpenPage
from cellworth.campaign.answer_file import asks_csv
from cellworth.errors import ParameterError
from cellworth.strategy import Purchase
from cellworth.web.api.models import (
    AskIn,
    CellsIn,
    Page,
    PreviewIn,
    PurchaseOut,
    PurchasesOut,
    Recorded,
    TakeIn,
)
from cellworth.web.api.parts import After, Key, Limit, make_router, problems
from cellworth.web.dependencies import BackgroundDep, CampaignName, DeskDep, Who, require_role

router = make_router("purchases")

Text = Annotated[str | None, Query(max_length=1000)]


@router.get("/campaigns/{name}/purchases", dependencies=[require_role("read")])
async def list_purchases(
    name: CampaignName,
    desk: DeskDep,
    after: After = 0,
    limit: Limit = 100,
    row: Text = None,
    column: Text = None,
    asked_by: Text = None,
    holder: Text = None,
    free: Annotated[bool, Query(description="Only cells that nobody has taken.")] = False,
) -> Page[PurchaseOut]:
    """List the cells that are out, in the order in which they were asked for."""

    def read(campaign: CampaignQueue) -> OpenPage:
        return campaign.open_page(
            after, limit, row=row, column=column, asked_by=asked_by, holder=holder, free=free
        )

    page = await desk.read(name, read)
    return Page(items=_out(page.purchases), next=page.after)


@router.get(
    "/campaigns/{name}/purchases.csv",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def download_purchases(name: CampaignName, desk: DeskDep, holder: Text = None) -> Response:
    """Return the cells that are out as a file to fill in; texts that a spreadsheet would run are disarmed."""
    found = await desk.read(name, lambda campaign: campaign.open_purchases())
    chosen = [each for each in found if holder is None or each.holder == holder]
    headers = {"Content-Disposition": 'attachment; filename="asks.csv"'}
    return Response(asks_csv(chosen), media_type="text/csv", headers=headers)


@router.post(
    "/campaigns/{name}/ask", dependencies=[require_role("manage")], responses=problems(404, 409, 503)
)
async def ask(
    name: CampaignName, body: AskIn, desk: DeskDep, background: BackgroundDep, who: Who, key: Key = None
) -> PurchasesOut:
    """Ask for the cells that are most worth buying now, and reserve their money. May take a while."""
    await desk.number(name)  # whether it is there is known before anything waits
    job = partial(Campaign.ask, who=who, lease=body.lease, key=key)
    batch = await background.run(name, job, body.budget, body.count)
    return PurchasesOut(purchases=_out(batch))


@router.post("/campaigns/{name}/preview", dependencies=[require_role("read")], responses=problems(404, 503))
async def preview(
    name: CampaignName, body: PreviewIn, desk: DeskDep, background: BackgroundDep
) -> PurchasesOut:
    """Say what an ask would ask for now; nothing is recorded. May take a while."""
    await desk.number(name)
    batch = await background.run(name, Campaign.preview, body.budget, body.count)
    return PurchasesOut(purchases=_out(batch))


@router.post("/campaigns/{name}/take", dependencies=[require_role("answer")], responses=problems(404, 409))
async def take(name: CampaignName, body: TakeIn, desk: DeskDep, who: Who) -> PurchasesOut:
    """Take cells that are out, so that nobody else works on them meanwhile."""
    me = _named(who)
    taken = await desk.write(name, lambda c: c.take(body.wanted(), who=me, lease=body.lease))
    return PurchasesOut(purchases=_out(taken))


@router.post(
    "/campaigns/{name}/give-back", dependencies=[require_role("answer")], responses=problems(404, 409)
)
async def give_back(name: CampaignName, body: CellsIn, desk: DeskDep, who: Who) -> Recorded:
    """Let others have cells that you have taken; they stay out."""
    me = _named(who)
    return Recorded(new=await desk.write(name, lambda c: c.give_back(body.pairs(), who=me)))


@router.post("/campaigns/{name}/cancel", dependencies=[require_role("manage")], responses=problems(404, 409))
async def cancel(name: CampaignName, body: CellsIn, desk: DeskDep, who: Who) -> Recorded:
    """Give cells that were asked for back to the pool, and their money."""
    return Recorded(new=await desk.write(name, lambda c: c.cancel(body.pairs(), who=who)))


def _out(purchases: Iterable[Purchase]) -> list[PurchaseOut]:
    # They come from the library: there is nothing to check.
    return [PurchaseOut.model_construct(**vars(each)) for each in purchases]


def _named(who: str | None) -> str:
    if who is None:
        raise ParameterError("cells are taken by somebody: send your name in the header Cellworth-Who.")
    return who
