"""What all pages share: the header, summaries, notes on what was done, languages, and error pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from fastapi import HTTPException, Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader
from starlette.responses import RedirectResponse, Response

from cellworth.campaign import Campaign
from cellworth.report.grid_summary import Guess
from cellworth.web.dependencies import identity_of
from cellworth.web.error_responses import ProblemDetails
from cellworth.web.jobs import JobQueue
from cellworth.web.pages.kept_notes import KeptNotes, Note
from cellworth.web.pages.language import LANGUAGES, ReaderNumbers, catalogue, chosen_language, message
from cellworth.web.security.sessions import CSRF, csrf_token
from cellworth.web.security.tokens import Identity, Role
from cellworth.web.wire_format import segment

MESSAGES = {
    "asked": message("Asked for %(count)s values. They are in the queue."),
    "stopped": message("A forecast says that the next money is not worth it. Nothing was asked for."),
    "nothing": message("Nothing can be bought for this money. Nothing was asked for."),
    "saved": message("Saved: %(cell)s."),
    "saved-many": message("Saved %(count)s values."),
    "known": message("%(cell)s already has this value. Nothing was recorded."),
    "refused": message("Recorded that %(cell)s is not available."),
    "taken": message("%(count)s values are reserved for you."),
    "none-free": message("None of these values is free to take. Ask for more, or see who has them."),
    "given-back": message("Given back: %(cell)s."),
    "cancelled": message("Withdrawn: %(cell)s is no longer asked for."),
    "cancelled-many": message("Withdrawn: %(count)s values are no longer asked for."),
    "released": message("Freed: %(count)s values can be taken by others."),
    "corrected": message("Corrected: %(cell)s. The old value stays in the history."),
    "uploaded": message("Saved %(count)s answers."),
    "extended": message("Added %(count)s rows."),
    "budget": message("The budget is changed."),
    "prices": message("The prices are changed, for what is asked for from now on."),
    "same": message("Nothing was changed: it was so already."),
    "expired": message("Your session had ended, so what you sent was not saved. Sign in and send it again."),
}
"""What a page says of what was done, by its keyword."""
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
    row_word: str | None

    @property
    def path(self) -> str:
        """The base path of the campaign's pages."""
        return path_of(self.name)

    def share(self, amount: float) -> float:
        """Return an amount as a share of the budget, or of all that is spent and reserved without one."""
        whole = max(self.budget or 0.0, self.spent + self.reserved)
        return amount / whole if whole else 0.0


def head_of(view: Campaign) -> Head:
    """Read what the header shows; O(new events)."""
    now, named = view.totals(), view.original.row_id
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
        None if plain else named,
    )


@dataclass(frozen=True)
class ShownSummary:
    """A summary on a page: name, data, the number of its event, whether it is being updated, and why not."""

    what: str
    data: Any
    as_of: int | None
    renewing: bool
    error: str | None = None


def summary_of(jobs: JobQueue, name: str, what: str) -> ShownSummary:
    """Return the newest summary immediately; without data if it has never been computed."""
    latest = jobs.latest(name, what)
    number, data = (None, None) if latest is None else latest
    return ShownSummary(what, data, number, jobs.is_renewing(name, what), jobs.error(name, what))


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
        "note": _note(request),
        # Without JavaScript the page reloads itself, but only while there is nothing to show.
        "poll": any(each.data is None and each.error is None for each in summaries),
        **_spoken(request, None if head is None else head.currency),
    }
    answer = _templates(shared["language"])
    return answer.TemplateResponse(request, template, {**shared, **context}, status_code=status)


def back(request: Request, path: str, done: str = "", query: str = "", **values: object) -> Response:
    """Redirect to a page after a form was handled; ``done`` is a key of `MESSAGES`, ``values`` its values."""
    note = Note(MESSAGES[done], dict(values)) if done else None
    return _redirect(request, path, query, note)


def rejected(request: Request, path: str, error: str, query: str = "", **typed: Any) -> Response:
    """Redirect to the page of a form that was rejected; it shows the error, and what was typed again."""
    return _redirect(request, path, query, Note(error, good=False, typed=typed))


def typed_in(request: Request) -> dict[str, Any]:
    """Return what was typed into the form whose rejection the page shows; empty without one."""
    note = _note(request)
    return {} if note is None else note.typed


def is_in_place(request: Request) -> bool:
    """Return whether a script sent the request, and replaces only a part of the page."""
    return request.headers.get("hx-request") == "true"


def text_of(request: Request, text: str, **values: object) -> str:
    """Return a text of the catalogue in the language of the request."""
    return catalogue(language_of(request)).gettext(text) % values


def guess_words(request: Request, guess: Guess | None) -> str | None:
    """Return a guess in the language of the request, with its interval if it has one; None for none."""
    if guess is None or not guess.low:
        return None if guess is None else guess.estimate
    return text_of(request, message("%(estimate)s (%(low)s to %(high)s)"), **guess._asdict())


async def problem_page(request: Request, problem: ProblemDetails) -> Response:
    """Return a page that explains a problem; redirect to the sign-in page if that is needed."""
    if problem.status == 401 and not is_in_place(request):
        return _sign_in(request)
    advice = ADVICE.get(problem.status)
    if problem.status == 403 and "too old" in problem.detail:
        advice = FORM_TOO_OLD
    context: dict[str, Any] = {"problem": problem, "advice": advice, "back": _came_from(request), "sent": []}
    if problem.status in (403, 409):
        context["sent"] = await _sent(request)
    page = show(request, "problem.html", status=problem.status, **context)
    page.headers.update(problem.headers)
    return page


def _redirect(request: Request, path: str, query: str, note: Note | None) -> Response:
    fields = [query] if query else []
    if note is not None:
        fields.append(urlencode({"note": _notes(request).keep(request.cookies.get(CSRF, ""), note)}))
    return RedirectResponse(f"{path}?{'&'.join(fields)}" if fields else path, 303)


def _sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, and from there back to where the person was."""
    if request.method == "GET":
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?to={quote(target, safe='')}", 303)
    query = f"to={quote(_came_from(request) or '/', safe='')}"
    return _redirect(request, "/login", query, Note(MESSAGES["expired"], good=False))


def _note(request: Request) -> Note | None:
    key = request.query_params.get("note", "")
    return _notes(request).find(request.cookies.get(CSRF, ""), key) if key else None


def _notes(request: Request) -> KeptNotes:
    state = request.app.state
    if not hasattr(state, "kept_notes"):
        state.kept_notes = KeptNotes()
    notes: KeptNotes = state.kept_notes
    return notes


def _came_from(request: Request) -> str | None:
    """Return the page that sent the request, if it is one of ours."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/")
    if not ours or came.path == request.url.path:
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
        "translate": catalogue(language).gettext,
    }


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
        "role": identity.role.name.lower(),
        "signed_in": identity.token is not None,
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
    }
