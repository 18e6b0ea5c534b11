"""The cells that are asked for: take, answer, refuse, give back, withdraw; and the list as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from cellworth.campaign import CampaignView
from cellworth.errors import DataError, ParameterError
from cellworth.strategy import Purchase
from cellworth.web.dependencies import CampaignName, DeskDep, Who, check_csrf, require_role
from cellworth.web.desk import Desk
from cellworth.web.pages.forms import Name, OptionalText, ValueField, page_number, value_field, whole
from cellworth.web.pages.frame import Head, back, head_of, path_of, show

router = APIRouter(include_in_schema=False)

A_PAGE = 20
LEASE = "8h"
"""How long a cell that was taken is kept for whoever took it."""


@dataclass(frozen=True)
class Filter:
    """Which of the cells to show: by whom they are held, in which column, in rows whose id has this in it."""

    who: str = ""
    column: str = ""
    row: str = ""
    page: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """Take what is known out of the fields of an address."""
        return cls(**{name: query.get(name, "")[:200] for name in ("who", "column", "row", "page")})

    def query(self, **other: object) -> str:
        """Return it as the query of an address, with other fields put in."""
        fields = {**asdict(self), **other}
        return urlencode({name: value for name, value in fields.items() if value not in ("", None)})

    def keeps(self, purchase: Purchase, me: str | None) -> bool:
        """Say whether to show a cell."""
        holder = purchase.holder
        by_who = {
            "": True,
            "mine": holder is not None and holder == me,
            "free": holder is None,
        }.get(self.who, self.who in (f"held:{holder}", f"asked:{purchase.asked_by}"))
        in_column = not self.column or purchase.column == self.column
        return by_who and in_column and self.row.casefold() in purchase.row.casefold()


async def _filter(request: Request) -> Filter:
    return Filter.of(request.query_params)


FilterDep = Annotated[Filter, Depends(_filter)]


@dataclass(frozen=True)
class Card:
    """One cell of the queue."""

    key: str
    purchase: Purchase
    field: ValueField


@dataclass(frozen=True)
class Open:
    """What the queue page shows; ``holders`` and ``askers`` are all names, ``columns`` all columns."""

    head: Head
    cards: list[Card]
    total: int
    matching: int
    holders: list[str]
    askers: list[str]
    columns: list[str]


def key_of(row: str, column: str) -> str:
    """Return a short name of a cell that is fit for an id."""
    return sha256(f"{row}\0{column}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def open_cells(view: CampaignView, chosen: Filter, me: str | None) -> Open:
    """Return one page of the queue; O(open cells)."""
    purchases = view.open_purchases()
    matching = [each for each in purchases if chosen.keeps(each, me)]
    first = (page_number(chosen.page) - 1) * A_PAGE
    fields = {column.name: column for column in view.original.columns}
    wanted = {each.column for each in purchases}
    cards = [
        Card(key_of(each.row, each.column), each, value_field(fields[each.column]))
        for each in matching[first : first + A_PAGE]
    ]
    return Open(
        head_of(view),
        cards,
        len(purchases),
        len(matching),
        sorted({each.holder for each in purchases if each.holder is not None}),
        sorted({each.asked_by for each in purchases if each.asked_by is not None}),
        [name for name in fields if name in wanted],
    )


@router.get("/campaigns/{name}/queue", dependencies=[require_role("read")], name="queue")
async def queue(
    request: Request, name: CampaignName, desk: DeskDep, who: Who, chosen: FilterDep, focus: str = ""
) -> Response:
    """Show the cells that are asked for; ``focus`` is the one to go on with."""
    return await _page(request, name, desk, who, chosen, focus=focus)


@router.post(
    "/campaigns/{name}/queue/tell", dependencies=[require_role("answer"), Depends(check_csrf)], name="tell"
)
async def tell(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    who: Who,
    row: Name,
    column: Name,
    value: OptionalText = "",
    filter: OptionalText = "",
    following: OptionalText = "",
) -> Response:
    """Record a value; what is wrong with it is said beside its field."""
    try:
        new = await desk.write(name, lambda campaign: campaign.tell([(row, column, value)], who=who))
    except DataError as error:
        wrong = {"key": key_of(row, column), "value": value, "error": str(error)}
        chosen = Filter.of(dict(parse_qsl(filter)))
        return await _page(request, name, desk, who, chosen, focus=wrong["key"], wrong=wrong, status=422)
    return _on(name, filter, "saved" if new else "known", f"{column} of {row}", following)


@router.post(
    "/campaigns/{name}/queue/refuse",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="refuse",
)
async def refuse(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    who: Who,
    row: Name,
    column: Name,
    reason: OptionalText = "",
    filter: OptionalText = "",
    following: OptionalText = "",
) -> Response:
    """Record that a cell cannot be had, and why."""
    try:
        await desk.write(name, lambda campaign: campaign.refuse([(row, column)], reason.strip(), who=who))
    except (DataError, ParameterError) as error:
        wrong = {"key": key_of(row, column), "reason": reason, "refusal": str(error)}
        chosen = Filter.of(dict(parse_qsl(filter)))
        return await _page(request, name, desk, who, chosen, wrong=wrong, status=422)
    return _on(name, filter, "refused", f"{column} of {row}", following)


@router.post(
    "/campaigns/{name}/queue/take", dependencies=[require_role("answer"), Depends(check_csrf)], name="take"
)
async def take(
    name: CampaignName,
    desk: DeskDep,
    who: Who,
    row: Name = "",
    column: Name = "",
    count: OptionalText = "",
    filter: OptionalText = "",
) -> Response:
    """Reserve a cell, or the next few, for whoever asks."""
    if who is None:
        raise ParameterError("To take cells you need a name. Say who you are at the top of the page.")
    if column:
        await desk.write(name, lambda campaign: campaign.take([(row, column)], who=who, lease=LEASE))
        return _on(name, filter, "taken", count=1, focus=key_of(row, column))
    wanted = whole(count, "How many cells", least=1) or 1
    taken = await desk.write(name, lambda campaign: campaign.take(wanted, who=who, lease=LEASE))
    if not taken:
        return _on(name, filter, "none-free")
    first = key_of(taken[0].row, taken[0].column)
    return _on(name, Filter(who="mine").query(), "taken", count=len(taken), focus=first)


@router.post(
    "/campaigns/{name}/queue/give-back",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="give_back",
)
async def give_back(
    name: CampaignName, desk: DeskDep, who: Who, row: Name, column: Name, filter: OptionalText = ""
) -> Response:
    """Let others have a cell that was taken."""
    if who is not None:
        await desk.write(name, lambda campaign: campaign.give_back([(row, column)], who=who))
    return _on(name, filter, "given-back", f"{column} of {row}")


@router.post(
    "/campaigns/{name}/queue/cancel",
    dependencies=[require_role("manage"), Depends(check_csrf)],
    name="cancel",
)
async def cancel(
    name: CampaignName, desk: DeskDep, who: Who, row: Name, column: Name, filter: OptionalText = ""
) -> Response:
    """Ask for a cell no more; its money is free again."""
    await desk.write(name, lambda campaign: campaign.cancel([(row, column)], who=who))
    return _on(name, filter, "cancelled", f"{column} of {row}")


async def _page(
    request: Request,
    name: str,
    desk: Desk,
    who: str | None,
    chosen: Filter,
    *,
    status: int = 200,
    **context: Any,
) -> Response:
    found = await desk.read(name, lambda view: open_cells(view, chosen, who))
    page = page_number(chosen.page)
    if page > 1 and not found.cards:  # the last ones of the last page were answered
        return back(path_of(name, "queue"), **asdict(Filter(chosen.who, chosen.column, chosen.row)))
    shared: dict[str, Any] = {
        "open": found,
        "filter": chosen,
        "page": page,
        "pages": -(-found.matching // A_PAGE),
    }
    return show(request, "queue.html", found.head, tab="queue", status=status, **shared, **context)


def _on(name: str, filter: str, done: str, cell: str = "", focus: str = "", **more: object) -> Response:
    """Go back to the queue as it was filtered, with a word on what was done, to the cell to go on with."""
    kept = Filter.of(dict(parse_qsl(filter)))
    query = kept.query(done=done, cell=cell[:200], focus=focus[:12], **more)
    return RedirectResponse(f"{path_of(name, 'queue')}?{query}", 303)
