"""Answers as a file: the list to fill in, the check of a filled-in file, and saving it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from cellworth.campaign import Campaign
from cellworth.campaign.answer_file import asks_csv
from cellworth.errors import MOST_WRONG_LINES, CellworthError, WrongLinesError
from cellworth.web.dependencies import (
    CampaignName,
    FilesDep,
    PoolDep,
    UploadsDep,
    Who,
    read_upload,
    require_role,
)
from cellworth.web.file_jobs import while_connected
from cellworth.web.pages.answer_queue import FilterDep, QueueFilter
from cellworth.web.pages.flash_messages import back, rejected
from cellworth.web.pages.forms import Text
from cellworth.web.pages.page_layout import head_of, path_of, show
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)


@router.get("/campaigns/{name}/queue.csv", dependencies=[require_role("read")], name="queue_file")
async def queue_file(name: CampaignName, pool: PoolDep, who: Who, chosen: FilterDep) -> Response:
    """Send the filtered queue as CSV, with an empty column for the values."""
    content = await pool.read(name, lambda view: asks_as_csv(view, chosen, who))
    headers = {"Content-Disposition": 'attachment; filename="asks.csv"'}
    return Response(content, headers=headers, media_type="text/csv; charset=utf-8")


@router.post(
    "/campaigns/{name}/upload", dependencies=[require_role("answer"), Depends(check_csrf)], name="upload"
)
async def upload(
    request: Request,
    name: CampaignName,
    uploads: UploadsDep,
    who: Who,
    answers: Annotated[UploadFile, File()],
) -> Response:
    """Take a file of answers; it waits on the server, and the next page says what it would change."""
    try:
        file = await read_upload(answers, "answers.csv", request.app.state.largest_upload)
        key = await uploads.keep(file, campaign=name, who=who)
    except CellworthError as error:
        return rejected(request, path_of(name, "queue"), str(error))
    return RedirectResponse(path_of(name, "upload", key), 303)


@router.get("/campaigns/{name}/upload/{key}", dependencies=[require_role("answer")], name="checked_upload")
async def checked_upload(
    request: Request,
    name: CampaignName,
    key: str,
    pool: PoolDep,
    files: FilesDep,
    uploads: UploadsDep,
    who: Who,
) -> Response:
    """Show what a file would change, or what is wrong with it, without saving."""
    head = await pool.read(name, head_of)
    file = await uploads.get(key, campaign=name, who=who)
    context: dict[str, Any] = {"sent_as": file.name, "most": MOST_WRONG_LINES, "key": key}
    try:
        context["checked"] = await while_connected(request, files.check(name, file))
    except WrongLinesError as error:
        context["problems"] = error.places
    except CellworthError as error:
        context["error"] = str(error)
    return show(request, "upload.html", head, tab="queue", **context)


@router.post(
    "/campaigns/{name}/upload/save",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="save_upload",
)
async def save(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    files: FilesDep,
    uploads: UploadsDep,
    who: Who,
    key: Text,
) -> Response:
    """Save a checked file: all of it, or nothing if something has changed since.

    Whoever saves it has seen which of its answers are questioned.
    """
    try:
        file = await uploads.get(key, campaign=name, who=who)
        await pool.number(name)  # fail now if there is no such campaign
        told = await files.tell(name, file, who=who, key=key, insist=True)
    except CellworthError as error:
        return rejected(request, path_of(name, "queue"), str(error))
    return back(request, path_of(name, "queue"), "uploaded", count=told.new)


def asks_as_csv(view: Campaign, chosen: QueueFilter, me: str | None) -> str:
    """Return the filtered list of open cells, written as the campaign's table was; O(open cells)."""
    asked = [each for each in view.open_purchases() if chosen.keeps(each, me)]
    return asks_csv(asked, **view.read_options.written)
