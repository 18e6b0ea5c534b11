"""The columns of a campaign's table."""

from __future__ import annotations

from cellworth.campaign import Campaign
from cellworth.web.api.models import ColumnOut, Page
from cellworth.web.api.parts import make_router
from cellworth.web.dependencies import CampaignName, DeskDep, require_role

router = make_router("table")


@router.get("/campaigns/{name}/columns", dependencies=[require_role("read")])
async def list_columns(name: CampaignName, desk: DeskDep) -> Page[ColumnOut]:
    """List all columns: what their cells may hold, and how many are missing."""
    return Page(items=await desk.read(name, _columns), next=None)


def _columns(campaign: Campaign) -> list[ColumnOut]:
    table = campaign.table
    groups = {column: group.name for group in campaign.prices.groups for column in group.columns}
    missing = table.holes.sum(axis=0)
    return [
        ColumnOut(
            name=column.name,
            kind=column.kind,
            unit=column.unit,
            lowest=column.bound_as_written(column.bounds[0]),
            highest=column.bound_as_written(column.bounds[1]),
            categories=list(column.categories),
            expected=column.expected,
            group=groups.get(column.name),
            missing=int(missing[place]),
        )
        for place, column in enumerate(table.columns)
    ]
