"""The queue of values that are asked for: one line for each, grouped by row, with filters and search.

A page costs O(values on it), and a few passes over arrays of what is open.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request
from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from cellworth.campaign import Campaign
from cellworth.campaign.cell_events import Asked, Cancelled, GivenBack, Refused, Released, Taken, Told
from cellworth.errors import CellworthError
from cellworth.report.row_summaries import guesses_summary, written
from cellworth.strategy import Purchase
from cellworth.table import Column
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, Who, require_role
from cellworth.web.pages.flash_messages import typed_in
from cellworth.web.pages.forms import ValueField, value_field
from cellworth.web.pages.language import shown_value
from cellworth.web.pages.page_layout import Head, guess_words, head_of, language_of, show, text_of

router = APIRouter(include_in_schema=False)

A_PAGE = 50
MOST_FOUND = 12
"""Most row ids offered to complete a search."""
MOST_DRAWN = 4_096
"""Most lines kept as HTML, of about 3 kB each."""
MOST_CHIPS = 12
"""More columns than this are listed to choose from rather than as chips."""


@dataclass(frozen=True)
class QueueFilter:
    """Which values to show: by holder or asker, by column, and by text that the row id contains.

    ``after`` is where the page before ended, 0 for the first.
    """

    who: str = ""
    column: str = ""
    row: str = ""
    after: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> QueueFilter:
        """Read the filter from the query of a URL, ignoring other fields."""
        return cls(**{name: query.get(name, "")[:200] for name in ("who", "column", "row", "after")})

    def query(self, **other: object) -> str:
        """Return the filter as a URL query, with other fields added or replaced."""
        fields = {**vars(self), **other}
        return urlencode({name: value for name, value in fields.items() if value not in ("", None)})

    def keeps(self, purchase: Purchase, me: str | None) -> bool:
        """Return whether to show a value."""
        holder = purchase.holder
        by_who = {
            "": True,
            "mine": holder is not None and holder == me,
            "free": holder is None,
        }.get(self.who, self.who in (f"held:{holder}", f"asked:{purchase.asked_by}"))
        in_column = not self.column or purchase.column == self.column
        return by_who and in_column and self.row.casefold() in purchase.row.casefold()

    def exact(self, me: str | None) -> dict[str, Any]:
        """Return the filter, but for the row, as keywords of `Campaign.open_page`."""
        kind, _, name = self.who.partition(":")
        kinds: dict[str, dict[str, Any]] = {
            "mine": {"holder": me or ""},
            "free": {"free": True},
            "held": {"holder": name},
            "asked": {"asked_by": name},
        }
        return {**kinds.get(kind, {}), "column": self.column or None}


async def _filter(request: Request) -> QueueFilter:
    return QueueFilter.of(request.query_params)


FilterText = Annotated[str, Form(alias="filter")]
"""The filter of the page that sent the form, as a URL query."""
FilterDep = Annotated[QueueFilter, Depends(_filter)]


@dataclass(frozen=True)
class Line:
    """One value that is asked for, or was until a moment ago.

    Attributes
    ----------
    key : str
        A short name, usable as an HTML id.
    row, column : str
    field : ValueField
    purchase : Purchase or None
        None if it is no longer asked for.
    state : {"open", "saved", "refused", "correcting"}
    value : str
        What is typed or saved.
    error, doubted, comment, reason : str
        What is wrong with it; the value that is questioned; what was said of it.
    """

    key: str
    row: str
    column: str
    field: ValueField
    purchase: Purchase | None = None
    state: str = "open"
    value: str = ""
    error: str = ""
    doubted: str = ""
    comment: str = ""


@dataclass(frozen=True)
class RowLines:
    """The lines of one row (a patient, say): usually what one visit can answer."""

    row: str
    lines: list[Line] = field(default_factory=list)

    @property
    def key(self) -> str:
        """A short name, usable as an HTML id."""
        return key_of(self.row, "")


@dataclass(frozen=True)
class QueuePage:
    """What the queue page shows; ``columns`` and ``people`` count what is open."""

    head: Head
    groups: list[RowLines]
    shown: int
    columns: list[tuple[str, int]]
    people: list[tuple[str, int]]
    free: int
    after: int | None


def key_of(row: str, column: str) -> str:
    """Return a short name for a cell, usable as an HTML id."""
    return sha256(f"{row}\0{column}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def line_of(column: Column, row: str, purchase: Purchase | None = None, **more: str) -> Line:
    """Return the line of a cell."""
    return Line(key_of(row, column.name), row, column.name, value_field(column), purchase, **more)


class DrawnLines:
    """Lines of the queue as HTML, so that a line that many people look at is drawn once.

    A line is drawn from itself, the page's language, the campaign's address and currency, what its reader may
    do, and whether it is the reader's own; no token of the reader's is in it.
    """

    def __init__(self, most: int = MOST_DRAWN) -> None:
        self._most = most
        self._drawn: OrderedDict[tuple[object, ...], Markup] = OrderedDict()

    def get(self, line: Line, head: Head, *about_reader: object) -> Markup | None:
        """Return a line that was drawn before; None if it was not."""
        key = (line, head.path, head.currency, *about_reader)
        found = self._drawn.get(key)
        if found is not None:
            self._drawn.move_to_end(key)
        return found

    def keep(self, html: Markup, line: Line, head: Head, *about_reader: object) -> Markup:
        """Keep a line, and return it."""
        self._drawn[line, head.path, head.currency, *about_reader] = html
        if len(self._drawn) > self._most:
            self._drawn.popitem(last=False)
        return html


_drawn = DrawnLines()


def open_lines(
    view: Campaign, chosen: QueueFilter, me: str | None, typed: Mapping[str, Mapping[str, str]]
) -> QueuePage:
    """Return one page of the queue; ``typed`` says for some keys what was typed and is wrong with it."""
    head = head_of(view)
    purchases, after = _some(view, chosen, me)
    columns = {column.name: column for column in view.columns}
    groups: dict[str, RowLines] = {}
    for each in purchases:
        more = dict(typed.get(key_of(each.row, each.column), {}))
        group = groups.setdefault(each.row, RowLines(each.row))
        group.lines.append(line_of(columns[each.column], each.row, each, **more))
    out = view.open_counts()
    listed, people = list(out.columns.items()), list(out.holders.items())
    return QueuePage(head, list(groups.values()), len(purchases), listed, people, out.free, after)


def _some(view: Campaign, chosen: QueueFilter, me: str | None) -> tuple[list[Purchase], int | None]:
    """Return the values of one page, those of a row together, and where the next begins."""
    first = int(chosen.after) if chosen.after.isdecimal() and len(chosen.after) < 16 else 0
    wanted = chosen.row.strip() or None
    page = view.open_page(first, A_PAGE, row_contains=wanted, by_row=True, **chosen.exact(me))
    return page.purchases, page.after


@router.get("/campaigns/{name}/queue", dependencies=[require_role("read")], name="queue")
async def queue(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, chosen: FilterDep, focus: str = ""
) -> Response:
    """Show the queue; ``focus`` is the line to go on with."""
    typed = typed_in(request)
    wrong: dict[str, dict[str, str]] = typed.get("lines", {})
    found = await pool.read(name, lambda view: open_lines(view, chosen, who, wrong))
    shown = {line.key for group in found.groups for line in group.lines}
    # What was typed for a value that is no longer here is said at the top, with the way to correct it.
    lost = [each for key, each in typed.get("lost", {}).items() if key not in shown]
    return show(
        request,
        "queue.html",
        found.head,
        tab="queue",
        open=found,
        filter=chosen,
        focus=typed.get("focus", focus)[:12],
        most_chips=MOST_CHIPS,
        lost=lost,
        drawn=_drawn,
    )


@router.get("/campaigns/{name}/queue/print", dependencies=[require_role("read")], name="print_queue")
async def print_queue(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, chosen: FilterDep
) -> Response:
    """Show the queue as a list to print and fill in by hand; all of it, as filtered."""
    found = await pool.read(name, lambda view: printed(view, chosen, who))
    return show(request, "printed_queue.html", found.head, tab="queue", open=found, filter=chosen)


def printed(view: Campaign, chosen: QueueFilter, me: str | None) -> QueuePage:
    """Return all values that fit the filter; O(open values)."""
    columns = {column.name: column for column in view.columns}
    groups: dict[str, RowLines] = {}
    kept = [each for each in view.open_purchases() if chosen.keeps(each, me)]
    row, column = ({name: k for k, name in enumerate(names)} for names in (view.table.row_ids, columns))
    kept.sort(key=lambda each: (row[each.row], column[each.column]))  # as in the queue
    for each in kept:
        group = groups.setdefault(each.row, RowLines(each.row))
        group.lines.append(line_of(columns[each.column], each.row, each))
    return QueuePage(head_of(view), list(groups.values()), len(kept), [], [], 0, None)


@router.get("/campaigns/{name}/queue/rows", dependencies=[require_role("read")], name="complete_row")
async def complete_row(name: CampaignName, pool: PoolDep, row: str = "") -> Response:
    """Send the row ids that begin with a text or, after those, contain it; O(rows)."""
    found = await pool.read(name, lambda view: rows_like(view.some_rows(), row))
    return JSONResponse(found)


def rows_like(ids: Sequence[str], text: str) -> list[str]:
    """Return at most `MOST_FOUND` row ids, those that begin with the text first.

    >>> rows_like(["b10", "a1", "a10"], "a1")
    ['a1', 'a10']
    """
    wanted = text.casefold()
    first: list[str] = []
    then: list[str] = []
    for each in ids:
        low = each.casefold()
        if low.startswith(wanted):
            first.append(each)
            if len(first) == MOST_FOUND:
                break
        elif wanted in low and len(then) < MOST_FOUND:
            then.append(each)
    return [*first, *then][:MOST_FOUND]


@router.get("/campaigns/{name}/queue/news", dependencies=[require_role("read")], name="queue_news")
async def queue_news(
    request: Request, name: CampaignName, pool: PoolDep, after: Annotated[int, Query(ge=0)] = 0
) -> Response:
    """Send what has happened to the values since an event, by their keys; O(new events)."""
    language = language_of(request)
    found = await pool.read(name, lambda view: news_since(view, after, language))
    for each in found["cells"].values():
        each["who"] = each["who"] or text_of(request, "someone")
    return JSONResponse(found)


def news_since(view: Campaign, after: int, language: str = "en") -> dict[str, Any]:
    """Return what happened to each value last, the number of values newly asked for, and what is open."""
    columns = {column.name: column for column in view.columns}
    cells: dict[str, dict[str, Any]] = {}
    asked: set[str] = set()
    for event in view.events(after, 2_000):
        content = event.content
        if isinstance(content, Asked):
            asked.update(key_of(each.row, each.column) for each in content.cells)
            continue
        if not isinstance(content, Told | Refused | Cancelled | Taken | GivenBack | Released):
            continue
        for each in content.cells:
            key = key_of(each.row, each.column)
            asked.discard(key)
            value = getattr(each, "value", None)
            shown = None if value is None else shown_value(written(value), columns[each.column], language)
            cells[key] = {"what": event.kind, "who": event.who, "value": shown}
    now = view.totals()
    return {"number": now.number, "open": now.open, "asked": len(asked), "cells": cells}


@router.get("/campaigns/{name}/queue/guesses", dependencies=[require_role("read")], name="guesses")
async def guesses(
    request: Request, name: CampaignName, jobs: JobsDep, pool: PoolDep, who: Who, chosen: FilterDep
) -> Response:
    """Send what we guess for the values of a page, by their keys; computed aside."""
    purchases, columns = await pool.read(
        name, lambda view: (_some(view, chosen, who)[0], {each.name: each for each in view.columns})
    )
    cells = [(each.row, each.column) for each in purchases]
    try:
        found = await jobs.run(name, guesses_summary, cells)
    except CellworthError:  # a guess is an aid: without one, the queue works as well
        return JSONResponse({})
    return JSONResponse(
        {
            key_of(*cell): guess_words(request, guess, columns[cell[1]])
            for cell, guess in zip(cells, found, strict=True)
            if guess
        }
    )
