"""What all pages have in common: the head, summaries, notes on what was done, and errors as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from cellworth.campaign import Campaign
from cellworth.web.dependencies import templates
from cellworth.web.error_responses import ProblemDetails
from cellworth.web.jobs import JobQueue
from cellworth.web.wire_format import segment

MESSAGES = {
    "asked": "Asked for {count} cells. They are in the queue.",
    "nothing": "There is nothing that can be had for this money. Nothing was asked for.",
    "saved": "Saved: {cell}.",
    "known": "{cell} was known before, with this value. Nothing was recorded.",
    "refused": "Recorded that {cell} cannot be had.",
    "taken": "Taken: {count} cells are reserved for you.",
    "none-free": "No cell is free to be taken. Ask for more, or look at who holds them.",
    "given-back": "Given back: {cell}.",
    "cancelled": "Withdrawn: {cell} is not asked for any more.",
    "corrected": "Corrected: {cell}. The old value stays in the ledger.",
    "same": "{cell} has this value already. Nothing was recorded.",
    "uploaded": "Saved {count} answers.",
    "named": "Your name is kept in this browser.",
}
"""What was done, by the word that stands for it in an address."""
ADVICE = {
    403: "Whoever runs this server can give you a token that allows more.",
    404: "Go back to the list of campaigns and choose from there.",
    409: "Somebody else was quicker, or knows something else. Look at the newest state, then decide.",
    413: "Send a smaller file, or use the command line.",
    503: "Wait a moment, then try again.",
}
"""What to do about a problem, by its status."""


@dataclass(frozen=True)
class Head:
    """What the head of each page shows; money in the currency of the prices."""

    name: str
    number: int
    strategy: str
    budget: float | None
    spent: float
    reserved: float
    left: float | None

    @property
    def path(self) -> str:
        """Where the pages of the campaign begin."""
        return path_of(self.name)

    @property
    def share_gone(self) -> float | None:
        """The share of the budget that is spent or reserved, 0 to 1; None without a budget."""
        return None if not self.budget else min(1.0, (self.spent + self.reserved) / self.budget)


def head_of(view: Campaign) -> Head:
    """Read what the head needs; O(new events + open cells)."""
    return Head(view.name, view.number, view.strategy, view.budget, view.spent, view.reserved, view.left)


@dataclass(frozen=True)
class ShownSummary:
    """A summary as a page shows it: name, data, the event it is as of, and whether it is being renewed."""

    what: str
    data: Any
    as_of: int | None
    renewing: bool


def summary_of(jobs: JobQueue, name: str, what: str) -> ShownSummary:
    """Return the newest summary at once; without data if it is computed for the first time."""
    latest = jobs.latest(name, what)
    number, data = (None, None) if latest is None else latest
    return ShownSummary(what, data, number, jobs.is_renewing(name, what))


def path_of(name: str, *parts: str) -> str:
    """Return the address of a page of a campaign."""
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
    """Return a page; ``tab`` is its place in the menu, ``summaries`` what it shows, the main one first."""
    shared = {
        "head": head,
        "tab": tab,
        "summaries": summaries,
        "summary": summaries[0] if summaries else None,
        "done": _done(request),
        # Without script the page asks again by itself, but only as long as there is nothing to see.
        "poll": any(each.data is None for each in summaries),
    }
    return templates.TemplateResponse(request, template, {**shared, **context}, status_code=status)


def back(path: str, done: str = "", **query: object) -> Response:
    """Send the browser to a page after a form was taken; ``done`` is a word of `MESSAGES`."""
    fields = {"done": done, **query}
    kept = {name: value for name, value in fields.items() if value not in ("", None)}
    return RedirectResponse(f"{path}?{urlencode(kept)}" if kept else path, 303)


async def problem_page(request: Request, problem: ProblemDetails) -> Response:
    """Return a page that explains a problem; those who must sign in are redirected to do so."""
    if problem.status == 401:
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        # Only a page can be come back to; what was sent with a form is gone.
        wanted = target if request.method == "GET" else "/"
        return RedirectResponse(f"/login?to={quote(wanted, safe='')}", 303)
    return templates.TemplateResponse(
        request,
        "problem.html",
        {"problem": problem, "advice": ADVICE.get(problem.status), "back": _came_from(request)},
        status_code=problem.status,
        headers=problem.headers,
    )


def _done(request: Request) -> str | None:
    query: Mapping[str, str] = request.query_params
    words = MESSAGES.get(query.get("done", ""))
    if words is None:
        return None
    cell = query.get("cell", "")[:200] or "the cell"
    count = query.get("count", "0")
    return words.format(cell=cell, count=count if count.isdecimal() and len(count) < 9 else "some")


def _came_from(request: Request) -> str | None:
    """Return the page that the request came from, if it is one of ours."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/")
    if not ours or came.path == request.url.path:
        return None
    return came.path + (f"?{came.query}" if came.query else "")
