"""Errors as pages: what went wrong, and where to go from there."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from cellworth.web.dependencies import templates
from cellworth.web.problems import Problem

ADVICE = {
    403: "Whoever runs this server can give you a token that allows more.",
    404: "Go back to the list of campaigns and choose from there.",
    409: "Somebody else was quicker, or knows something else. Look at the newest state, then decide.",
    413: "Send a smaller file, or use the command line.",
    503: "Wait a moment, then try again.",
}


async def problem_page(request: Request, problem: Problem) -> Response:
    """Return a page that explains a problem; whoever must sign in is sent to do so."""
    if problem.status == 401:
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        # Only a page can be come back to; what was sent with a form is gone.
        wanted = target if request.method == "GET" else "/"
        return RedirectResponse(f"/login?to={quote(wanted, safe='')}", 303)
    return templates.TemplateResponse(
        request,
        "problem.html",
        {"problem": problem, "advice": ADVICE.get(problem.status), "back": _back(request)},
        status_code=problem.status,
        headers=problem.headers,
    )


def _back(request: Request) -> str | None:
    """Return the page that the request came from, if it is one of ours."""
    came = urlsplit(request.headers.get("referer", ""))
    ours = came.netloc == request.url.netloc and came.path.startswith("/")
    if not ours or came.path == request.url.path:
        return None
    return came.path + (f"?{came.query}" if came.query else "")
