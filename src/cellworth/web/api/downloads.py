"""REST routes for files to download, and for estimates of what is missing."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import HTTPException, Query, Response

from cellworth.campaign import Campaign
from cellworth.errors import DataError
from cellworth.report import row_summary, summarise
from cellworth.web.api.routing import make_router, problems
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, RowName, require_role
from cellworth.web.download_files import MEDIA, FileFormat, What, make_file, make_report

router = make_router("downloads")

_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA.values()}}
}


@router.get(
    "/campaigns/{name}/download/{what}",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={**_BINARY, **problems(404, 503)},
)
async def download(
    name: CampaignName,
    what: What,
    pool: PoolDep,
    jobs: JobsDep,
    ending: Annotated[FileFormat, Query(alias="format")] = "csv",
) -> Response:
    """Return the table with all answers, the table with its holes filled, or the ledger. May take a while."""
    await pool.number(name)  # fail now if there is no such campaign
    content = await jobs.run(name, make_file, what, ending)
    headers = {"Content-Disposition": f'attachment; filename="{what}.{ending}"'}
    return Response(content, headers=headers, media_type=MEDIA[ending])


@router.get(
    "/campaigns/{name}/report.html",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {MEDIA["html"]: {"schema": {"type": "string"}}}}, **problems(404, 503)},
)
async def download_report(name: CampaignName, pool: PoolDep, jobs: JobsDep) -> Response:
    """Return the report as one HTML page, to be saved: its scripts do not run here. May take a while."""
    await pool.number(name)
    content = await jobs.run(name, make_report)
    headers = {"Content-Disposition": 'attachment; filename="report.html"'}
    return Response(content, headers=headers, media_type=MEDIA["html"])


@router.get(
    "/campaigns/{name}/rows/{row}/estimates",
    dependencies=[require_role("read")],
    responses=problems(404, 503),
)
async def get_estimates(name: CampaignName, row: RowName, pool: PoolDep, jobs: JobsDep) -> dict[str, Any]:
    """Return a row with an estimate, an interval and a worth for each missing cell. May take a while."""

    def check(campaign: Campaign) -> None:
        try:
            campaign.row(row)
        except DataError as error:
            raise HTTPException(404, str(error)) from None

    await pool.read(name, check)
    found: dict[str, Any] = await jobs.run(name, summarise, row_summary, row)
    return found
