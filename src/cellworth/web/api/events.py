"""The log of a campaign."""

from __future__ import annotations

from cellworth.campaign import Campaign
from cellworth.campaign.history import Record
from cellworth.web.api.models import EventOut, Page
from cellworth.web.api.parts import After, Limit, make_router
from cellworth.web.dependencies import CampaignName, DeskDep, require_role

router = make_router("log")


@router.get("/campaigns/{name}/events", dependencies=[require_role("read")])
async def list_events(
    name: CampaignName, desk: DeskDep, after: After = 0, limit: Limit = 100
) -> Page[EventOut]:
    """List what happened, the first event first; `after` is the number of an event."""

    def read(campaign: Campaign) -> list[Record]:
        return campaign.history(after=after, most=limit + 1)

    found = await desk.read(name, read)
    items = [EventOut.model_validate(record) for record in found[:limit]]
    return Page(items=items, next=items[-1].number if len(found) > limit else None)
