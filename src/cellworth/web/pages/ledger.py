"""All that happened, the newest first, and the whole of it as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.campaign.event_records import Record
from cellworth.table.write_csv import guard
from cellworth.web.dependencies import CampaignName, PoolDep, require_role
from cellworth.web.pages.forms import page_number
from cellworth.web.pages.frame import head_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 25  # events
MOST_CELLS = 20
"""Cells of one event that are listed; all of them are in the file."""
FIELDS = ("event", "time", "who", "what", "row", "column", "value", "old value", "price", "reason")
_WORDS = {
    "asked": "asked for",
    "told": "bought",
    "refused": "refused",
    "cancelled": "withdrawn",
    "corrected": "corrected",
    "extended": "row added",
    "taken": "taken",
    "given back": "given back",
}


@router.get("/campaigns/{name}/ledger", dependencies=[require_role("read")], name="ledger")
async def ledger(request: Request, name: CampaignName, pool: PoolDep, page: str = "1") -> Response:
    """Show a page of events."""
    head = await pool.read(name, head_of)
    pages = max(1, -(-head.number // A_PAGE))
    at = min(page_number(page), pages)
    last = head.number - (at - 1) * A_PAGE
    found = await pool.read(name, lambda view: events_of(view, max(0, last - A_PAGE), last))
    return show(
        request, "ledger.html", head, tab="ledger", events=found, page=at, pages=pages, most=MOST_CELLS
    )


@router.get("/campaigns/{name}/ledger.csv", dependencies=[require_role("read")], name="ledger_file")
async def ledger_file(name: CampaignName, pool: PoolDep) -> Response:
    """Send all events, a line for each cell; texts that a spreadsheet would run are disarmed."""
    text = await pool.read(name, lambda view: as_csv(view.history()))
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


def events_of(view: Campaign, after: int, last: int) -> list[dict[str, Any]]:
    """Return the events above ``after`` and up to ``last``, the newest first, with their lines."""
    kept = view.history(after=after, most=last - after)
    return [
        {
            "number": record["number"],
            "time": record["time"],
            "who": record["who"],
            "kind": record["kind"],
            "what": _WORDS.get(record["kind"], record["kind"]),
            "reason": record.get("reason"),
            "count": _count(record),
            "lines": list(islice(lines_of(record), MOST_CELLS)),
        }
        for record in reversed(kept)
    ]


def lines_of(record: Record) -> Iterator[dict[str, Any]]:
    """Yield what an event says of each cell: ``row``, ``column``, and ``value``, ``old`` or ``price``."""
    kind = record["kind"]
    if kind == "corrected":
        yield {"row": record["row"], "column": record["column"], "value": record["new"], "old": record["old"]}
    elif kind == "extended":
        yield from ({"row": row, "column": ""} for row in record["rows"])
    else:
        for cell in record.get("cells", ()):
            yield dict(cell) if isinstance(cell, dict) else {"row": cell[0], "column": cell[1]}


def as_csv(history: Iterable[Record]) -> str:
    """Return events as CSV, a line for each cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(FIELDS)
    for record in history:
        start = (record["number"], record["time"].isoformat(timespec="seconds"), guard(record["who"] or ""))
        what, reason = _WORDS.get(record["kind"], record["kind"]), guard(record.get("reason") or "")
        for line in lines_of(record):
            texts = [_safe(line.get(field)) for field in ("row", "column", "value", "old", "price")]
            writer.writerow([*start, what, *texts, reason])
    return text.getvalue()


def _count(record: Record) -> int:
    return len(record.get("rows", ())) if record["kind"] == "extended" else len(record.get("cells", ())) or 1


def _safe(value: object) -> str:
    """Write a value; numbers keep their sign, texts that begin like a formula get an apostrophe."""
    if value is None:
        return ""
    return guard(value) if isinstance(value, str) else str(value)
