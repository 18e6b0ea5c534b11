"""What all pages share: the header, summaries, status messages, and error pages."""

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
    "stopped": "A forecast says that the next money is not worth it. Nothing was asked for.",
    "nothing": "There is nothing that can be had for this money. Nothing was asked for.",
    "saved": "Saved: {cell}.",
    "known": "{cell} already has this value. Nothing was recorded.",
    "refused": "Recorded that {cell} cannot be had.",
    "taken": "Taken: {count} cells are reserved for you.",
    "none-free": "No cell is free to take. Ask for more, or see who holds them.",
    "given-back": "Given back: {cell}.",
    "cancelled": "Withdrawn: {cell} is no longer asked for.",
    "corrected": "Corrected: {cell}. The old value stays in the ledger.",
    "same": "{cell} already has this value. Nothing was recorded.",
    "uploaded": "Saved {count} answers.",
    "named": "Your name is saved in this browser.",
}
"""Status messages, by their keyword in a URL."""
ADVICE = {
    403: "The people who run this server can give you a token that allows more.",
    404: "Go back to the list of campaigns and choose from there.",
    409: "Someone else was faster, or recorded something different. Check the current state, then decide.",
    413: "Send a smaller file, or use the command line.",
    503: "Wait a moment, then try again.",
}
"""What to do about a problem, by its status."""


@dataclass(frozen=True)
class Head:
    """What the header of each page shows; money in the currency of the prices."""

    name: str
    number: int
    strategy: str
    budget: float | None
    spent: float
    reserved: float
    left: float | None

    @property
    def path(self) -> str:
        """The base path of the campaign's pages."""
        return path_of(self.name)

    @property
    def share_gone(self) -> float | None:
        """The share of the budget spent or reserved, from 0 to 1; None without a budget."""
        return None if not self.budget else min(1.0, (self.spent + self.reserved) / self.budget)


def head_of(view: Campaign) -> Head:
    """Read what the header shows; O(new events + open cells)."""
    return Head(view.name, view.number, view.strategy, view.budget, view.spent, view.reserved, view.left)


@dataclass(frozen=True)
class ShownSummary:
    """A summary on a page: name, data, the number of its event, and whether it is being updated."""

    what: str
    data: Any
    as_of: int | None
    renewing: bool


def summary_of(jobs: JobQueue, name: str, what: str) -> ShownSummary:
    """Return the newest summary immediately; without data if it has never been computed."""
    latest = jobs.latest(name, what)
    number, data = (None, None) if latest is None else latest
    return ShownSummary(what, data, number, jobs.is_renewing(name, what))


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
        "done": _done(request),
        # Without JavaScript the page reloads itself, but only while there is nothing to show.
        "poll": any(each.data is None for each in summaries),
    }
    return templates.TemplateResponse(request, template, {**shared, **context}, status_code=status)


def back(path: str, done: str = "", **query: object) -> Response:
    """Redirect to a page after a form was handled; ``done`` is a key of `MESSAGES`."""
    fields = {"done": done, **query}
    kept = {name: value for name, value in fields.items() if value not in ("", None)}
    return RedirectResponse(f"{path}?{urlencode(kept)}" if kept else path, 303)


async def problem_page(request: Request, problem: ProblemDetails) -> Response:
    """Return a page that explains a problem; redirect to the sign-in page if that is needed."""
    if problem.status == 401:
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        # Only a page can be returned to; the data of a form is gone.
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
    """Return the page that sent the request, if it is one of ours."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/")
    if not ours or came.path == request.url.path:
        return None
    return came.path + (f"?{came.query}" if came.query else "")
