"""What all pages share: the header, summaries, languages, error pages, news, and Plotly's script."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, HTTPException, Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader
from starlette.responses import RedirectResponse, Response, StreamingResponse

from cellworth.cached_property import cached_property
from cellworth.campaign import Campaign
from cellworth.report.row_summaries import Guess
from cellworth.table import Column
from cellworth.web.dependencies import CampaignName, PoolDep, identity_of, require_role
from cellworth.web.error_responses import ProblemDetails
from cellworth.web.jobs import FAILED, NOTHING, SAMPLED, JobQueue, WorkDone
from cellworth.web.pages.flash_messages import MESSAGES, Note, note_of, redirect_with
from cellworth.web.pages.language import (
    LANGUAGES,
    ReaderNumbers,
    catalogue,
    chosen_language,
    message,
    shown_value,
    translated,
)
from cellworth.web.pages.library_texts import said
from cellworth.web.security.sessions import csrf_token
from cellworth.web.security.tokens import Identity, Role
from cellworth.web.url_paths import segment

ADVICE = {
    403: message("The people who run this server can give you a token that allows more."),
    404: message("Go back to the list of campaigns and choose from there."),
    409: message("Someone else was faster, or recorded something different. Look at it, then decide."),
    413: message("Send a smaller file, or use the command line."),
    503: message("Wait a moment, then try again."),
}
"""What to do about a problem, by its status."""
TITLES = (
    message("Invalid request"),
    message("Token required"),
    message("Not allowed"),
    message("Not found"),
    message("Not possible here"),
    message("Conflict"),
    message("Too large"),
    message("Wrong host"),
    message("The data cannot be used"),
    message("Server error"),
    message("Not now"),
)
"""The titles of problems; see `error_responses.KINDS`."""
FORM_TOO_OLD = message(
    "The page is older than the server's last start. Go back and send it again: what you typed is below, "
    "and the queue keeps what you type."
)
router = APIRouter(include_in_schema=False)
_PLAIN_IDS = frozenset({"id", "index", "row", "row_id", "nr", "no"})


@dataclass(frozen=True)
class Head:
    """What the header of each page shows; money in the currency of the prices.

    ``row_word`` is the name of the column that names the rows, such as "patient"; None if it says nothing.
    """

    name: str
    number: int
    strategy: str
    budget: float | None
    spent: float
    reserved: float
    left: float | None
    currency: str | None
    open: int
    missing: int
    rows: int
    columns: int
    bought: int
    row_word: str | None
    stage: str

    @cached_property
    def path(self) -> str:
        """The base path of the campaign's pages."""
        return path_of(self.name)

    def share(self, amount: float) -> float:
        """Return an amount as a share of the budget, or of all that is spent and reserved without one."""
        whole = max(self.budget or 0.0, self.spent + self.reserved)
        return amount / whole if whole else 0.0


def head_of(view: Campaign) -> Head:
    """Read what the header shows; O(new events)."""
    now, named = view.totals(), view.row_id
    plain = named is None or named.casefold() in _PLAIN_IDS
    return Head(
        view.name,
        now.number,
        view.strategy,
        now.budget,
        now.spent,
        now.reserved,
        now.left,
        now.currency,
        now.open,
        now.missing,
        now.rows,
        now.columns,
        now.bought,
        None if plain else named,
        view.stage,
    )


@dataclass(frozen=True)
class ShownSummary:
    """A summary on a page: name, data, the number of its event, whether it is being updated, and why not.

    Until there are data, ``sample`` may be those of a sample of the rows, and ``progress`` says how far the
    work on the whole is; None if it waits for its turn.
    """

    what: str
    data: Any
    as_of: int | None
    renewing: bool
    error: str | None = None
    sample: Any = None
    progress: WorkDone | None = None

    @property
    def shown(self) -> int:
        """The number that the page compares with what is new."""
        if self.as_of is not None:
            return self.as_of
        if self.error is not None:
            return FAILED
        return NOTHING if self.sample is None else SAMPLED


def summary_of(jobs: JobQueue, name: str, what: str) -> ShownSummary:
    """Return the newest summary immediately; without data if it has never been computed."""
    latest = jobs.latest(name, what)
    number, data = (None, None) if latest is None else latest
    return ShownSummary(
        what,
        data,
        number,
        jobs.is_renewing(name, what),
        jobs.error(name, what),
        jobs.sample(name, what) if data is None else None,
        jobs.progress(name, what),
    )


def path_of(name: str, *parts: str) -> str:
    """Return the path of a campaign page."""
    return "/".join([f"/campaigns/{segment(name)}", *parts])


def show(
    request: Request,
    template: str,
    head: Head | None = None,
    *,
    tab: str = "",
    summaries: Sequence[ShownSummary] = (),
    status: int = 200,
    **context: Any,
) -> Response:
    """Return a page; ``tab`` is its menu entry, and ``summaries`` are those it shows, the main one first."""
    shared = {
        "head": head,
        "tab": tab,
        "summaries": summaries,
        "summary": summaries[0] if summaries else None,
        "note": note_of(request),
        # Without JavaScript the page reloads itself, but only while there is nothing to show.
        "poll": any(each.data is None and each.error is None for each in summaries),
        **_spoken(request, None if head is None else head.currency),
    }
    request.state.is_closed = head is not None and head.stage != "open"
    answer = _templates(shared["language"])
    return answer.TemplateResponse(request, template, {**shared, **context}, status_code=status)


def is_in_place(request: Request) -> bool:
    """Return whether a script sent the request, and replaces only a part of the page."""
    return request.headers.get("hx-request") == "true"


def text_of(request: Request, text: str, **values: object) -> str:
    """Return a text of the catalogue in the language of the request."""
    return catalogue(language_of(request)).gettext(text) % values


def guess_words(request: Request, guess: Guess | None, column: Column) -> str | None:
    """Return a guess in the language of the request, with its interval if it has one; None for none."""
    if guess is None:
        return None
    language = language_of(request)
    if not guess.low:
        return shown_value(guess.estimate, column, language)
    parts = {name: shown_value(text, column, language) for name, text in guess._asdict().items()}
    return text_of(request, message("%(estimate)s (%(low)s to %(high)s)"), **parts)


async def problem_page(request: Request, problem: ProblemDetails) -> Response:
    """Return a page that explains a problem; redirect to the sign-in page if that is needed."""
    if problem.status == 401 and not is_in_place(request):
        return _sign_in(request)
    advice = ADVICE.get(problem.status)
    if problem.status == 403 and "too old" in problem.detail:
        advice = FORM_TOO_OLD
    context: dict[str, Any] = {"problem": problem, "advice": advice, "back": _came_from(request), "sent": []}
    name = request.path_params.get("name")
    if name is not None and problem.status == 422:  # the campaign is there, and what was asked of it is wrong
        context["campaign"] = path_of(name)
    if problem.status in (403, 409):
        context["sent"] = await _sent(request)
    page = show(request, "problem.html", status=problem.status, **context)
    page.headers.update(problem.headers)
    return page


def _sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, and from there back to where the person was."""
    if request.method == "GET":
        return RedirectResponse(f"/login?to={quote(_here(request), safe='')}", 303)
    query = f"to={quote(_came_from(request) or '/', safe='')}"
    return redirect_with(request, "/login", query, Note(MESSAGES["expired"], good=False))


def _here(request: Request) -> str:
    """Return the path and query of a request as they are in an address: names may have spaces and umlauts."""
    path = quote(request.url.path, safe="/~")
    return path + (f"?{request.url.query}" if request.url.query else "")


def _came_from(request: Request) -> str | None:
    """Return the page that sent the request, if it is one of ours."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/")
    if not ours or came.path == _here(request).partition("?")[0]:
        return None
    return came.path + (f"?{came.query}" if came.query else "")


async def _sent(request: Request) -> list[tuple[str, str]]:
    """Return what was typed into a form that was not accepted, if it has been read."""
    if request.method != "POST" or request.headers.get("content-length", "0") == "0":
        return []
    form = await request.form()  # read once, for the check that failed
    shown = ("row", "column", "value", "reason", "comment", "budget")
    return [(key, str(value)[:500]) for key, value in form.multi_items() if key in shown and value]


def language_of(request: Request) -> str:
    """Return the language of a request."""
    return chosen_language(request.cookies, request.headers.get("accept-language", ""))


def _spoken(request: Request, currency: str | None) -> dict[str, Any]:
    language = language_of(request)
    numbers = ReaderNumbers(language, currency)
    return {
        "language": language,
        "languages": LANGUAGES,
        "numbers": numbers,
        "money": numbers.money,
        "counted": lambda values: {k: numbers.count(v) if type(v) is int else v for k, v in values.items()},
        "translate": catalogue(language).gettext,
        "value_of": lambda value, column=None: shown_value(value, column, language),
        "said": lambda text: said(translated(text, language), language),
        "sentence": lambda text: _capitalized(said(translated(text, language), language)),
    }


def _capitalized(text: str) -> str:
    """Return a message that begins with a capital letter, unless it begins with a name of the user."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text


@cache
def _templates(language: str) -> Jinja2Templates:
    """Return the templates in a language."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["segment"] = segment
    environment.install_gettext_translations(catalogue(language), newstyle=True)  # type: ignore[attr-defined]
    return Jinja2Templates(env=environment, context_processors=[_context])


def _context(request: Request) -> dict[str, Any]:
    """Return the variables available in every template."""
    try:
        identity = identity_of(request)
    except HTTPException:  # the sign-in page
        identity = Identity(None, Role.READ)
    return {
        "csrf_token": csrf_token(request),
        "who": identity.who,
        # Nobody changes a closed campaign: its pages offer what readers are offered.
        "role": "read" if getattr(request.state, "is_closed", False) else identity.role.name.lower(),
        "manages": identity.role >= Role.MANAGE,
        "signed_in": identity.token is not None,
        "here": _here(request),
    }


@router.get("/campaigns/{name}/events", dependencies=[require_role("read")], name="events")
async def events(name: CampaignName, pool: PoolDep) -> StreamingResponse:
    """Stream news of a campaign until the client disconnects or the server stops."""
    await pool.watch(name)
    stream = pool.notifications.stream(name)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


@router.get("/static/plotly.min.js", name="plotly")
def plotly(request: Request) -> Response:
    """Send the script, compressed if the browser accepts it; browsers may cache it."""
    plain, packed, tag = _script()
    headers = {"ETag": tag, "Cache-Control": "max-age=86400", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type="text/javascript")
    return Response(plain, headers=headers, media_type="text/javascript")


@cache
def _script() -> tuple[bytes, bytes, str]:
    content = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    return content, gzip.compress(content, 6, mtime=0), f'"{sha256(content).hexdigest()[:32]}"'
