"""The queue of asked cells: take, tell, refuse, give back or withdraw them, singly or by file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from cellworth.campaign import Campaign
from cellworth.campaign.answer_file import asks_csv
from cellworth.campaign.leases import TAKE_LEASE
from cellworth.errors import MOST_WRONG_LINES, CellworthError, DataError, ParameterError, WrongLinesError
from cellworth.strategy import Purchase
from cellworth.web.campaign_pool import CampaignPool
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
from cellworth.web.pages.forms import (
    Name,
    OptionalText,
    Text,
    ValueField,
    doubt,
    page_number,
    value_field,
    whole,
)
from cellworth.web.pages.page_layout import Head, back, head_of, path_of, show
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)

A_PAGE = 20


@dataclass(frozen=True)
class QueueFilter:
    """Which cells to show: by holder or asker, by column, and by text that the row id contains."""

    who: str = ""
    column: str = ""
    row: str = ""
    page: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> QueueFilter:
        """Read the filter from the query of a URL, ignoring other fields."""
        return cls(**{name: query.get(name, "")[:200] for name in ("who", "column", "row", "page")})

    def query(self, **other: object) -> str:
        """Return the filter as a URL query, with other fields added or replaced."""
        fields = {**asdict(self), **other}
        return urlencode({name: value for name, value in fields.items() if value not in ("", None)})

    def keeps(self, purchase: Purchase, me: str | None) -> bool:
        """Return whether to show a cell."""
        holder = purchase.holder
        by_who = {
            "": True,
            "mine": holder is not None and holder == me,
            "free": holder is None,
        }.get(self.who, self.who in (f"held:{holder}", f"asked:{purchase.asked_by}"))
        in_column = not self.column or purchase.column == self.column
        return by_who and in_column and self.row.casefold() in purchase.row.casefold()


async def _filter(request: Request) -> QueueFilter:
    return QueueFilter.of(request.query_params)


FilterText = Annotated[str, Form(alias="filter")]
"""The filter of the page that sent the form, as a URL query."""
FilterDep = Annotated[QueueFilter, Depends(_filter)]


@dataclass(frozen=True)
class Card:
    """One cell of the queue."""

    key: str
    purchase: Purchase
    field: ValueField


@dataclass(frozen=True)
class QueuePage:
    """What the queue page shows; ``holders``, ``askers`` and ``columns`` are those of all asked cells."""

    head: Head
    cards: list[Card]
    total: int
    matching: int
    holders: list[str]
    askers: list[str]
    columns: list[str]


def key_of(row: str, column: str) -> str:
    """Return a short name for a cell, usable as an HTML id."""
    return sha256(f"{row}\0{column}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def open_cells(view: Campaign, chosen: QueueFilter, me: str | None) -> QueuePage:
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
    return QueuePage(
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
    request: Request, name: CampaignName, pool: PoolDep, who: Who, chosen: FilterDep, focus: str = ""
) -> Response:
    """Show the queue; ``focus`` is the cell to continue with."""
    return await _page(request, name, pool, who, chosen, focus=focus)


@router.post(
    "/campaigns/{name}/queue/tell", dependencies=[require_role("answer"), Depends(check_csrf)], name="tell"
)
async def tell(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    row: Name,
    column: Name,
    value: OptionalText = "",
    doubted: OptionalText = "",
    kept: FilterText = "",
    following: OptionalText = "",
) -> Response:
    """Record a value; an error is shown next to its field. The same value sent again is insisted on."""
    answer, insist = [(row, column, value)], bool(value) and value == doubted
    try:
        new = await pool.write(name, lambda campaign: campaign.tell(answer, who=who, insist=insist))
    except DataError as error:
        wrong = {"key": key_of(row, column), "value": value, **doubt(error, value)}
        chosen = QueueFilter.of(dict(parse_qsl(kept)))
        return await _page(request, name, pool, who, chosen, focus=wrong["key"], wrong=wrong, status=422)
    return _on(name, kept, "saved" if new else "known", f"{column} of {row}", following)


@router.post(
    "/campaigns/{name}/queue/refuse",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="refuse",
)
async def refuse(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    row: Name,
    column: Name,
    reason: OptionalText = "",
    kept: FilterText = "",
    following: OptionalText = "",
) -> Response:
    """Record that a cell cannot be obtained, and why."""
    try:
        await pool.write(name, lambda campaign: campaign.refuse([(row, column)], reason.strip(), who=who))
    except (DataError, ParameterError) as error:
        wrong = {"key": key_of(row, column), "reason": reason, "refusal": str(error)}
        chosen = QueueFilter.of(dict(parse_qsl(kept)))
        return await _page(request, name, pool, who, chosen, wrong=wrong, status=422)
    return _on(name, kept, "refused", f"{column} of {row}", following)


@router.post(
    "/campaigns/{name}/queue/take", dependencies=[require_role("answer"), Depends(check_csrf)], name="take"
)
async def take(
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    row: Name = "",
    column: Name = "",
    count: OptionalText = "",
    kept: FilterText = "",
) -> Response:
    """Reserve a cell, or the next few, for the sender."""
    if who is None:
        raise ParameterError("To take cells you need a name. Enter yours at the top of the page.")
    if column:
        await pool.write(name, lambda campaign: campaign.take([(row, column)], who=who, lease=TAKE_LEASE))
        return _on(name, kept, "taken", count=1, focus=key_of(row, column))
    wanted = whole(count, "How many cells", least=1) or 1
    taken = await pool.write(name, lambda campaign: campaign.take(wanted, who=who, lease=TAKE_LEASE))
    if not taken:
        return _on(name, kept, "none-free")
    first = key_of(taken[0].row, taken[0].column)
    return _on(name, QueueFilter(who="mine").query(), "taken", count=len(taken), focus=first)


@router.post(
    "/campaigns/{name}/queue/give-back",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="give_back",
)
async def give_back(
    name: CampaignName, pool: PoolDep, who: Who, row: Name, column: Name, kept: FilterText = ""
) -> Response:
    """Give back a taken cell, so that others can take it."""
    if who is not None:
        await pool.write(name, lambda campaign: campaign.give_back([(row, column)], who=who))
    return _on(name, kept, "given-back", f"{column} of {row}")


@router.post(
    "/campaigns/{name}/queue/cancel",
    dependencies=[require_role("manage"), Depends(check_csrf)],
    name="cancel",
)
async def cancel(
    name: CampaignName, pool: PoolDep, who: Who, row: Name, column: Name, kept: FilterText = ""
) -> Response:
    """Withdraw an asked cell and release its money."""
    await pool.write(name, lambda campaign: campaign.cancel([(row, column)], who=who))
    return _on(name, kept, "cancelled", f"{column} of {row}")


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
    pool: PoolDep,
    files: FilesDep,
    uploads: UploadsDep,
    who: Who,
    answers: Annotated[UploadFile, File()],
) -> Response:
    """Check an answer file and show what it would change, without saving; it waits on the server."""
    file = await read_upload(answers, "answers.csv", request.app.state.largest_upload)
    head = await pool.read(name, head_of)
    context: dict[str, Any] = {"sent_as": file.name, "most": MOST_WRONG_LINES}
    try:
        checked = await while_connected(request, files.check(name, file))
    except WrongLinesError as error:
        context["problems"] = error.places
        return show(request, "upload.html", head, tab="queue", status=422, **context)
    except CellworthError as error:
        context["error"] = str(error)
        return show(request, "upload.html", head, tab="queue", status=422, **context)
    context |= {
        "checked": checked,
        "key": await uploads.keep(file, campaign=name, who=who),
    }
    return show(request, "upload.html", head, tab="queue", **context)


@router.post(
    "/campaigns/{name}/upload/save",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="save_upload",
)
async def save(
    name: CampaignName, pool: PoolDep, files: FilesDep, uploads: UploadsDep, who: Who, key: Text
) -> Response:
    """Save a checked file: all of it, or nothing if something has changed since.

    Whoever saves it has seen which of its answers are questioned.
    """
    file = await uploads.get(key, campaign=name, who=who)
    await pool.number(name)  # fail now if there is no such campaign
    told = await files.tell(name, file, who=who, key=key, insist=True)
    return back(path_of(name, "queue"), "uploaded", count=told.new)


def asks_as_csv(view: Campaign, chosen: QueueFilter, me: str | None) -> str:
    """Return the filtered list of open cells as CSV; O(open cells)."""
    return asks_csv(each for each in view.open_purchases() if chosen.keeps(each, me))


async def _page(
    request: Request,
    name: str,
    pool: CampaignPool,
    who: str | None,
    chosen: QueueFilter,
    *,
    status: int = 200,
    **context: Any,
) -> Response:
    found = await pool.read(name, lambda view: open_cells(view, chosen, who))
    page = page_number(chosen.page)
    if page > 1 and not found.cards:  # all cells of the last page were answered
        return back(path_of(name, "queue"), **asdict(QueueFilter(chosen.who, chosen.column, chosen.row)))
    shared: dict[str, Any] = {
        "open": found,
        "filter": chosen,
        "page": page,
        "pages": -(-found.matching // A_PAGE),
    }
    return show(request, "queue.html", found.head, tab="queue", status=status, **shared, **context)


def _on(name: str, kept: str, done: str, cell: str = "", focus: str = "", **more: object) -> Response:
    """Redirect to the queue with the same filter, a message on what was done, and the cell to focus."""
    chosen = QueueFilter.of(dict(parse_qsl(kept)))
    query = chosen.query(done=done, cell=cell[:200], focus=focus[:12], **more)
    return RedirectResponse(f"{path_of(name, 'queue')}?{query}", 303)
