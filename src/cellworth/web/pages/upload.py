"""Answers as a file: the list to fill in, and what comes back, checked line by line before it is saved."""

from __future__ import annotations

import json
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Request, UploadFile
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.campaign.answer_file import FileAnswer, asks_csv
from cellworth.errors import MOST_WRONG_LINES, CellworthError, DataError, WrongLinesError
from cellworth.web.dependencies import CampaignName, DeskDep, Who, check_csrf, require_role
from cellworth.web.pages.forms import OptionalText, Text
from cellworth.web.pages.frame import back, head_of, path_of, show
from cellworth.web.pages.queue import Filter, FilterDep
from cellworth.web.uploads import content_of

router = APIRouter(include_in_schema=False)

MOST_LISTED = 200
"""Answers that are shown before they are saved."""


@router.get("/campaigns/{name}/queue.csv", dependencies=[require_role("read")], name="queue_file")
async def queue_file(name: CampaignName, desk: DeskDep, who: Who, chosen: FilterDep) -> Response:
    """Send the cells that are asked for, as they are filtered, with an empty column for the values."""
    content = await desk.read(name, lambda view: asks_as_csv(view, chosen, who))
    headers = {"Content-Disposition": 'attachment; filename="asks.csv"'}
    return Response(content, headers=headers, media_type="text/csv; charset=utf-8")


@router.post(
    "/campaigns/{name}/upload", dependencies=[require_role("answer"), Depends(check_csrf)], name="upload"
)
async def upload(
    request: Request, name: CampaignName, desk: DeskDep, answers: Annotated[UploadFile, File()]
) -> Response:
    """Check a file of answers and show what it would do; nothing is saved yet."""
    file = await content_of(answers, "answers.csv", request.app.state.largest_upload)
    head = await desk.read(name, head_of)
    context: dict[str, Any] = {"sent_as": file.name, "most": MOST_WRONG_LINES}
    try:
        checked = await desk.read(name, lambda view: view.check_file(file))
    except WrongLinesError as error:
        context["problems"] = error.places
        return show(request, "upload.html", head, tab="queue", status=422, **context)
    except CellworthError as error:
        context["error"] = str(error)
        return show(request, "upload.html", head, tab="queue", status=422, **context)
    context |= {
        "checked": checked,
        "lines": packed(checked.new),
        "listed": checked.new[:MOST_LISTED],
        "key": f"file-{secrets.token_hex(8)}",
    }
    return show(request, "upload.html", head, tab="queue", **context)


@router.post(
    "/campaigns/{name}/upload/save",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="save_upload",
)
async def save(name: CampaignName, desk: DeskDep, who: Who, lines: Text, key: OptionalText = "") -> Response:
    """Save answers that were checked: all of them, or none if something has changed since."""
    triples = unpacked(lines)
    new = await desk.write(name, lambda campaign: campaign.tell(triples, who=who, key=key[:80] or None))
    return back(path_of(name, "queue"), "uploaded", count=new)


def asks_as_csv(view: Campaign, chosen: Filter, me: str | None) -> str:
    """Return the filtered list of open cells as a file; O(open cells)."""
    return asks_csv(each for each in view.open_purchases() if chosen.keeps(each, me))


def packed(answers: list[FileAnswer]) -> str:
    """Write answers for the form that saves them; no line ends in it that a browser could change."""
    return json.dumps([(each.row, each.column, each.value) for each in answers])


def unpacked(lines: str) -> list[tuple[str, str, str]]:
    """Read what `packed` wrote; DataError if it is something else."""
    try:
        read = json.loads(lines)
        triples = [(row, column, value) for row, column, value in read]
    except (ValueError, TypeError, RecursionError):
        triples = [(None, None, None)]
    if not all(isinstance(text, str) for triple in triples for text in triple):
        raise DataError("The answers to be saved came back damaged. Send the file once more.")
    return triples
