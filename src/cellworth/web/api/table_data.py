"""REST routes for the table: columns, rows, new rows, estimates, and files to download."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import File, HTTPException, Query, Request, Response, UploadFile

from cellworth.campaign import Campaign, RowRecord
from cellworth.campaign.current_cells import StatusWord
from cellworth.campaign.row_search import RowPage
from cellworth.errors import DataError
from cellworth.report import row_summary, summarise
from cellworth.table import Table
from cellworth.table.write_csv import with_mark
from cellworth.table.write_table import guard_table
from cellworth.web.api.json_bodies import ColumnOut, Page, Recorded, RowOut, RowsIn
from cellworth.web.api.routing import After, Key, Limit, make_router, problems
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, RowName, Who, read_upload, require_role
from cellworth.web.file_jobs import sent_file
from cellworth.web.worker_tasks import MEDIA, FileFormat, What, make_file, make_report

router = make_router("table")


@router.get("/campaigns/{name}/rows", dependencies=[require_role("read")])
async def list_rows(
    name: CampaignName,
    pool: PoolDep,
    status: Annotated[
        list[StatusWord],
        Query(
            default_factory=list,
            max_length=5,
            description="What a cell of the row is; repeat it for several.",
        ),
    ],
    after: After = 0,
    limit: Limit = 100,
    row_contains: Annotated[
        str, Query(max_length=200, description="A text in the row's id, in capital or small letters.")
    ] = "",
    column: Annotated[
        str | None, Query(description="The column whose cell has the status; without it, any column.")
    ] = None,
    sort: Annotated[
        str | None, Query(description="The column by whose values rows are sorted; missing ones come last.")
    ] = None,
    descending: Annotated[bool, Query(description="Whether the largest value comes first.")] = False,
) -> Page[RowOut]:
    """List rows with the value and status of each cell: all, or those that fit a filter.

    With a filter, a request looks at 1,000,000 rows at most, so that a page may be short, or empty; `next` is
    then the number of rows that were looked at, counted from the first. With `sort` it looks at all, and
    `next` counts rows in this order; of a table in row blocks there are the first 10,000.
    """

    def read(campaign: Campaign) -> RowPage:
        wanted: Any = {"row_contains": row_contains, "column": column, "status": status}
        return campaign.search_rows(after, limit, **wanted, sort=sort, descending=descending)

    found = await pool.read(name, read)
    return Page(items=[RowOut.model_validate(row) for row in found.rows], next=found.after)


@router.get("/campaigns/{name}/rows/{row}", dependencies=[require_role("read")])
async def get_row(name: CampaignName, row: RowName, pool: PoolDep) -> RowOut:
    """Return one row."""

    def read(campaign: Campaign) -> RowRecord:
        try:
            return campaign.row(row)
        except DataError as error:
            raise HTTPException(404, str(error)) from None

    return RowOut.model_validate(await pool.read(name, read))


@router.post("/campaigns/{name}/rows", dependencies=[require_role("manage")], responses=problems(404, 409))
async def add_rows(name: CampaignName, body: RowsIn, pool: PoolDep, who: Who, key: Key = None) -> Recorded:
    """Add rows at the end of the table."""
    rows: dict[object, dict[str, object]] = {row: {**values} for row, values in body.rows.items()}
    return Recorded(new=await pool.write(name, lambda c: c.extend(rows, who=who, key=key)))


@router.post(
    "/campaigns/{name}/rows-file", dependencies=[require_role("manage")], responses=problems(404, 409)
)
async def add_rows_by_file(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    file: Annotated[UploadFile, File(alias="rows", description="A file like that of the table.")],
    key: Key = None,
) -> Recorded:
    """Add the rows of a file at the end of the table, read as the first file was."""
    sent = await read_upload(file, "rows.csv", request.app.state.largest_upload)
    return Recorded(new=await pool.write(name, lambda c: c.extend(sent, who=who, key=key)))


@router.get(
    "/campaigns/{name}/table.csv",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def download_table(
    name: CampaignName,
    pool: PoolDep,
    jobs: JobsDep,
    raw: Annotated[
        bool, Query(description="Do not escape text that a spreadsheet would treat as a formula.")
    ] = False,
) -> Response:
    """Return the table with all answers, as CSV. One in row blocks is written first, which takes a while."""
    table = await pool.read(name, lambda campaign: campaign.table)
    if not isinstance(table, Table):
        return await sent_file(jobs, name, "table.csv", make_file, "table", "csv", guarded=not raw)

    def text() -> str:
        return table.to_csv() if raw else with_mark(guard_table(table).to_csv())

    headers = {"Content-Disposition": 'attachment; filename="table.csv"'}
    return Response(await pool.in_thread(text), media_type="text/csv", headers=headers)


@router.get("/campaigns/{name}/columns", dependencies=[require_role("read")])
async def list_columns(name: CampaignName, pool: PoolDep) -> Page[ColumnOut]:
    """List all columns: what their cells may hold, and how many are missing."""
    return Page(items=await pool.read(name, _columns), next=None)


def _columns(campaign: Campaign) -> list[ColumnOut]:
    table = campaign.table
    groups = {column: group.name for group in campaign.prices.groups for column in group.columns}
    missing = table.holes_by_column.tolist()
    columns = table.columns
    if campaign.counts_labels:
        columns, missing = campaign.columns, [*missing, campaign.n_unlabelled]
    return [
        ColumnOut(
            name=column.name,
            kind=column.kind,
            unit=column.unit,
            description=column.description,
            lowest=column.bound_as_written(column.bounds[0]),
            highest=column.bound_as_written(column.bounds[1]),
            categories=list(column.categories),
            expected=column.expected,
            group=groups.get(column.name),
            missing=missing[place],
            labels=place == len(table.columns),
        )
        for place, column in enumerate(columns)
    ]


downloads = make_router("downloads")

_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA.values()}}
}


@downloads.get(
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
    return await sent_file(jobs, name, f"{what}.{ending}", make_file, what, ending)


@downloads.get(
    "/campaigns/{name}/report.html",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {MEDIA["html"]: {"schema": {"type": "string"}}}}, **problems(404, 503)},
)
async def download_report(name: CampaignName, pool: PoolDep, jobs: JobsDep) -> Response:
    """Return the report as one HTML page, to be saved: its scripts do not run here. May take a while."""
    await pool.number(name)
    return await sent_file(jobs, name, "report.html", make_report)


@downloads.get(
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
