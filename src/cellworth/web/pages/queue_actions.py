"""What people do with the values in the queue: save, say not available, undo, take, give back, withdraw.

Each form belongs to one row and names its lines by key: ``column.KEY``, ``value.KEY``, ``comment.KEY``;
``only`` is the key of the line to act on, without it all filled-in lines are meant. A script gets the line or
the row's lines back, to replace them in place; without one, the browser is sent to the queue again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.campaign.leases import TAKE_LEASE
from cellworth.errors import CellworthError, ConflictError, DataError, ParameterError
from cellworth.strategy import Purchase
from cellworth.table import Column
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import CampaignName, PoolDep, Who, require_role
from cellworth.web.pages.answer_queue import FilterText, Line, QueueFilter, RowLines, line_of, open_lines
from cellworth.web.pages.flash_messages import back, rejected
from cellworth.web.pages.forms import OptionalText, doubt, plain_number, whole
from cellworth.web.pages.language import message
from cellworth.web.pages.page_layout import head_of, is_in_place, language_of, path_of, show, text_of
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)

MAY_ANSWER = [require_role("answer"), Depends(check_csrf)]
NAMELESS = message("To take values you need a name. Enter yours at the top of the page.")
NO_REASON = message("Say why it is not available, then press the button again.")
UNSURE = "unsure"


async def sent_lines(request: Request, name: CampaignName, pool: PoolDep) -> RowLines:
    """Return the lines of the form that are meant, with what was typed."""
    form = await request.form()
    row = _text(form, "row")
    only = _text(form, "only")
    columns = await pool.read(name, lambda view: {each.name: each for each in view.columns})
    lines = []
    for field in form:
        kind, _, key = field.partition(".")
        if kind != "column" or (only and key != only):
            continue
        line = line_of(_column(columns, _text(form, field)), row)
        said = [_text(form, f"{UNSURE}.{key}"), _text(form, f"comment.{key}").strip()]
        lines.append(
            replace(
                line,
                value=_text(form, f"value.{key}").strip(),
                doubted=_text(form, f"doubted.{key}"),
                comment=": ".join(each for each in said if each),
                state="correcting" if _text(form, f"correct.{key}") else "open",
            )
        )
    return RowLines(row, lines)


LinesDep = Annotated[RowLines, Depends(sent_lines)]


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n")[:2000] if isinstance(value, str) else ""


def _column(columns: dict[str, Column], name: str) -> Column:
    if name not in columns:
        raise DataError(f"There is no column {name[:80]!r}.")
    return columns[name]


@router.post("/campaigns/{name}/queue/tell", dependencies=MAY_ANSWER, name="tell")
async def tell(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, sent: LinesDep, kept: FilterText = ""
) -> Response:
    """Save what was typed: all of it at once or, if something is wrong, whatever is right."""
    form = await request.form()
    only = _text(form, "only")
    lines = [line for line in sent.lines if line.value or (only and line.key == only)]
    language = language_of(request)
    done = await pool.write(name, lambda campaign: [*saved_together(campaign, lines, who, language)])
    return await _after(request, name, pool, who, sent, done, kept)


def saved_together(campaign: Campaign, lines: list[Line], who: str | None, language: str) -> list[Line]:
    """Save values in one event if none is wrong, otherwise one by one; return the lines as they are then."""
    plain = [line for line in lines if line.state == "open" and not line.comment and not line.doubted]
    if len(plain) == len(lines) > 1:
        columns = {each.name: each for each in campaign.columns}
        try:
            answers = [
                (each.row, each.column, plain_number(each.value, columns[each.column], language))
                for each in plain
            ]
            campaign.tell(answers, who=who)
        except CellworthError:
            pass  # found out, and said, line by line
        else:
            return [replace(line, state="saved", error="") for line in lines]
    return [saved(campaign, line, who, language) for line in lines]


def saved(campaign: Campaign, line: Line, who: str | None, language: str) -> Line:
    """Save one value; return its line, saved or with what is wrong. The same value twice is insisted on."""
    insist = bool(line.value) and line.value == line.doubted
    column = next(each for each in campaign.columns if each.name == line.column)
    try:
        value = plain_number(line.value, column, language)
        reason = line.comment or None
        if line.state == "correcting":
            campaign.correct(line.row, line.column, value, who=who, reason=reason, insist=insist)
        else:
            campaign.tell([(line.row, line.column, value)], who=who, insist=insist, reason=reason)
    except ConflictError as error:
        return replace(line, state="conflict", error=str(error), doubted="")
    except CellworthError as error:
        said = doubt(error, line.value)
        return replace(line, error=said["error"], doubted=said.get("doubted", ""))
    return replace(line, state="saved", error="", doubted="")


@router.post("/campaigns/{name}/queue/refuse", dependencies=MAY_ANSWER, name="refuse")
async def refuse(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, sent: LinesDep, kept: FilterText = ""
) -> Response:
    """Record that a value is not available, and why."""
    no_reason = text_of(request, NO_REASON)

    def refused(campaign: Campaign, line: Line) -> Line:
        if not line.comment:
            return replace(line, error=no_reason)
        try:
            campaign.refuse([(line.row, line.column)], line.comment, who=who)
        except (DataError, ParameterError, ConflictError) as error:
            return replace(line, error=str(error))
        return replace(line, state="refused", error="")

    done = await pool.write(name, lambda campaign: [refused(campaign, line) for line in sent.lines])
    return await _after(request, name, pool, who, sent, done, kept)


@router.post("/campaigns/{name}/queue/undo", dependencies=MAY_ANSWER, name="undo")
async def undo(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, sent: LinesDep, kept: FilterText = ""
) -> Response:
    """Open a saved line again: what is saved next corrects it, and the first value stays in the history."""
    told = await pool.read(name, lambda view: [_has_value(view, line) for line in sent.lines])
    states = ["correcting" if has else "open" for has in told]
    lines = [replace(line, state=state) for line, state in zip(sent.lines, states, strict=True)]
    return await _after(request, name, pool, who, sent, lines, kept)


def _has_value(view: Campaign, line: Line) -> bool:
    cells = {each.column: each for each in view.row(line.row).cells}
    return cells[line.column].value is not None


@router.post("/campaigns/{name}/queue/take", dependencies=MAY_ANSWER, name="take")
async def take(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    who: Who,
    sent: LinesDep,
    count: OptionalText = "",
    kept: FilterText = "",
) -> Response:
    """Reserve a value, or the next few that the filter shows, for the sender."""
    if who is None:
        return rejected(request, path_of(name, "queue"), NAMELESS, kept)
    if sent.lines:
        return await _held(request, name, pool, who, sent, kept, lambda it, some: it.take(some, who=who))
    try:
        wanted = whole(count, text_of(request, message("How many")), least=1) or 1
        chosen = QueueFilter.of(dict(parse_qsl(kept)))
        taken = await pool.write(name, lambda campaign: take_next(campaign, wanted, chosen, who))
    except CellworthError as error:
        return rejected(request, path_of(name, "queue"), str(error), kept)
    if not taken:
        return back(request, path_of(name, "queue"), "none-free", kept)
    return back(request, path_of(name, "queue"), "taken", QueueFilter(who="mine").query(), count=len(taken))


def take_next(campaign: Campaign, wanted: int, chosen: QueueFilter, who: str) -> list[Purchase]:
    """Take the next free values among those that the filter shows."""
    if not chosen.column and not chosen.row and not chosen.who.startswith("asked:"):
        return campaign.take(wanted, who=who, lease=TAKE_LEASE)
    free = [each for each in campaign.open_purchases() if each.holder is None]
    shown = replace(chosen, who=chosen.who if chosen.who.startswith("asked:") else "")
    some = [each for each in free if shown.keeps(each, who)][:wanted]
    return (
        campaign.take([(each.row, each.column) for each in some], who=who, lease=TAKE_LEASE) if some else []
    )


@router.post("/campaigns/{name}/queue/give-back", dependencies=MAY_ANSWER, name="give_back")
async def give_back(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, sent: LinesDep, kept: FilterText = ""
) -> Response:
    """Give back a taken value, so that others can take it."""
    if who is None:
        return rejected(request, path_of(name, "queue"), NAMELESS, kept)
    return await _held(request, name, pool, who, sent, kept, lambda it, some: it.give_back(some, who=who))


@router.post(
    "/campaigns/{name}/queue/cancel",
    dependencies=[require_role("manage"), Depends(check_csrf)],
    name="cancel",
)
async def cancel(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, sent: LinesDep, kept: FilterText = ""
) -> Response:
    """Withdraw values and release their money."""
    cells = [(line.row, line.column) for line in sent.lines]
    await pool.write(name, lambda campaign: campaign.cancel(cells, who=who))
    done = [replace(line, state="withdrawn") for line in sent.lines]
    return await _after(request, name, pool, who, sent, done, kept)


async def _held(
    request: Request,
    name: str,
    pool: CampaignPool,
    who: str,
    sent: RowLines,
    kept: str,
    change: Callable[[Campaign, list[tuple[str, str]]], Any],
) -> Response:
    """Take values or give them back, and show their lines as they are then; somebody else may be faster."""
    cells = [(line.row, line.column) for line in sent.lines]
    error = ""
    try:
        await pool.write(name, lambda campaign: change(campaign, cells))
    except CellworthError as problem:
        error = str(problem)
    lines = [replace(line, error=error) for line in sent.lines]
    return await _after(request, name, pool, who, sent, lines, kept)


async def _after(
    request: Request,
    name: str,
    pool: CampaignPool,
    who: str | None,
    sent: RowLines,
    lines: list[Line],
    kept: str,
) -> Response:
    """Return the lines as they are now, or go back to the queue."""
    if is_in_place(request):
        head, current = await pool.read(name, lambda view: (head_of(view), _current(view, lines)))
        status = 422 if any(line.error for line in lines) else 200
        return show(request, "lines.html", head, status=status, lines=current, filter_query=kept)
    wrong = {line.key: line for line in lines if line.error}
    following = await _following(name, pool, who, sent, kept)
    if wrong:
        texts = {
            key: {"value": line.value, "error": line.error, "doubted": line.doubted, "comment": line.comment}
            for key, line in wrong.items()
        }
        lost = {key: {**texts[key], "row": line.row, "column": line.column} for key, line in wrong.items()}
        focus = next(iter(wrong))
        first = wrong[focus].error
        return rejected(request, path_of(name, "queue"), first, kept, lines=texts, lost=lost, focus=focus)
    cell = f"{lines[0].column}, {lines[0].row}" if lines else ""
    done = _DONE.get(lines[0].state, "") if lines else ""
    if done == "saved" and len(lines) > 1:
        done = "saved-many"
    query = "&".join(each for each in (kept, f"focus={following}" if following else "") if each)
    return back(request, path_of(name, "queue"), done, query, cell=cell, count=len(lines))


_DONE = {"saved": "saved", "refused": "refused", "withdrawn": "cancelled"}


def _current(view: Campaign, lines: list[Line]) -> list[Line]:
    """Return the lines with what is known of them in the queue now; O(open values) for each row."""
    found = {
        (each.row, each.column): each
        for row in {line.row for line in lines}
        for each in view.open_page(row=row, most=1_000).purchases
    }
    return [replace(line, purchase=found.get((line.row, line.column))) for line in lines]


async def _following(name: str, pool: CampaignPool, who: str | None, sent: RowLines, kept: str) -> str:
    """Return the key of the first line that is left in the queue after those that were sent."""
    chosen = QueueFilter.of(dict(parse_qsl(kept)))
    page = await pool.read(name, lambda view: open_lines(view, chosen, who, {}))
    here = [line.key for group in page.groups for line in group.lines]
    gone = {line.key for line in sent.lines}
    return next((key for key in here if key not in gone), "")
