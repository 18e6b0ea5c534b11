"""The table: its rows, new ones, and the whole of it as a file."""

from __future__ import annotations

from typing import Annotated

from fastapi import HTTPException, Query, Response

from cellworth.campaign import CampaignView, RowRecord
from cellworth.errors import DataError
from cellworth.table.table import guard_table
from cellworth.web.api.models import Page, Recorded, RowOut, RowsIn
from cellworth.web.api.parts import After, Limit, make_router, problems
from cellworth.web.dependencies import CampaignName, DeskDep, RowName, Who, require_role

router = make_router("table")


@router.get("/campaigns/{name}/rows", dependencies=[require_role("read")])
async def list_rows(name: CampaignName, desk: DeskDep, after: After = 0, limit: Limit = 100) -> Page[RowOut]:
    """List rows with their values and what is the matter with each cell."""

    def read(campaign: CampaignView) -> list[RowRecord]:
        return campaign.rows(after, limit + 1)

    found = await desk.read(name, read)
    items = [RowOut.model_validate(row) for row in found[:limit]]
    return Page(items=items, next=after + limit if len(found) > limit else None)


@router.get("/campaigns/{name}/rows/{row}", dependencies=[require_role("read")])
async def get_row(name: CampaignName, row: RowName, desk: DeskDep) -> RowOut:
    """Return one row."""

    def read(campaign: CampaignView) -> RowRecord:
        try:
            return campaign.row(row)
        except DataError as error:
            raise HTTPException(404, str(error)) from None

    return RowOut.model_validate(await desk.read(name, read))


@router.post("/campaigns/{name}/rows", dependencies=[require_role("manage")], responses=problems(404, 409))
async def add_rows(name: CampaignName, body: RowsIn, desk: DeskDep, who: Who) -> Recorded:
    """Add rows at the end of the table."""
    rows: dict[object, dict[str, object]] = {row: {**values} for row, values in body.rows.items()}
    return Recorded(new=await desk.write(name, lambda c: c.extend(rows, who=who)))


@router.get(
    "/campaigns/{name}/table.csv",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def download_table(
    name: CampaignName,
    desk: DeskDep,
    raw: Annotated[
        bool, Query(description="Leave texts as they are that a spreadsheet would take for formulas.")
    ] = False,
) -> Response:
    """Return the table with all answers in, as CSV."""
    table = await desk.read(name, lambda campaign: campaign.table)

    def text() -> str:
        return (table if raw else guard_table(table)).to_csv()

    headers = {"Content-Disposition": 'attachment; filename="table.csv"'}
    return Response(await desk.aside(text), media_type="text/csv", headers=headers)
