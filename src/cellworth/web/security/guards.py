"""What stands before every route: origin check, admission, size limit and security headers.

The headers restrict our pages to content from this server, and forbid inline scripts and styles. Plotly
inserts inline styles, so the pages load static/own-styles.js first, which adds them through the browser's
style sheet API instead.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellworth.messages import shorten
from cellworth.web.error_responses import ProblemDetails
from cellworth.web.security.sessions import csrf_cookie

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_FORWARDED_HOST = re.compile(r'(?:^|[;,\s])host=("[^"]*"|[^;,\s]+)', re.IGNORECASE)
_FOREIGN = ProblemDetails(403, "This request came from a page of another site and was rejected.")


STATIC_CACHE = "max-age=3600"
"""Scripts and styles are asked for again after an hour, by their ETag; a new version takes over by then."""


class OwnOrigin:
    """Rejects requests that other sites make a browser send.

    A request that changes something must not come from another origin; one that only reads may, if it is a
    link that somebody follows, as from a mail. If no token is required, the ``Host`` must be a loopback name:
    otherwise a site whose name resolves to this machine (DNS rebinding) would pass as ours.

    Our own origin is that of the ``Host`` or, behind a proxy that replaces it, of ``X-Forwarded-Host``,
    ``Forwarded`` or the server's public address. Other sites cannot make a browser send these headers.
    """

    def __init__(self, app: ASGIApp, *, only_loopback: bool, public: str | None = None) -> None:
        self._app = app
        self._only_loopback = only_loopback
        self._public = None if public is None else _netloc(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        problem = self._problem(scope) if scope["type"] == "http" else None
        await (self._app if problem is None else problem.response(scope["path"]))(scope, receive, send)

    def _problem(self, scope: Scope) -> ProblemDetails | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._only_loopback and _hostname(host) not in LOOPBACK:
            return ProblemDetails(
                421, "This server only answers requests to its own machine's names, such as localhost."
            )
        if scope["method"] in _SAFE_METHODS:
            elsewhere = is_from_elsewhere(headers) and headers.get("sec-fetch-mode") != "navigate"
            return _FOREIGN if elsewhere else None
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return _FOREIGN
        origin = headers.get("origin")
        if origin is None or _netloc(origin) in self._own(headers):
            return None
        return ProblemDetails(
            403,
            f"This request came from a page of {shorten(origin)}, but was sent to {shorten(host)}, so it was "
            "rejected. If that page is this server's own, a proxy in between replaces the Host: let it pass "
            "the Host on, or serve with --public-url.",
        )

    def _own(self, headers: Headers) -> set[str | None]:
        """Return the hosts, with ports, under which browsers may know this server."""
        stated = _FORWARDED_HOST.search(headers.get("forwarded", ""))
        named = (
            headers.get("host"),
            headers.get("x-forwarded-host"),
            None if stated is None else stated[1].strip('"'),
        )
        return {each.lower() for each in named if each} | ({self._public} if self._public else set())


def is_from_elsewhere(headers: Headers) -> bool:
    """Return whether a browser says that another site caused a request: start nothing costly for it."""
    return headers.get("sec-fetch-site") == "cross-site"


def _netloc(url: str) -> str | None:
    """Return the host and port of a URL; None if it has none, or is malformed."""
    try:
        return urlsplit(url).netloc.lower() or None
    except ValueError:
        return None


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


class SizeLimit:
    """Rejects bodies that are too large, by their declared length or as they arrive."""

    def __init__(self, app: ASGIApp, *, most: int, what: str = "the limit of this server") -> None:
        self._app = app
        self._most = most
        self._words = f"The request is larger than {most / 1e6:g} MB, {what}."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).get("content-length", "")
        if stated.isdecimal() and int(stated) > self._most:
            await ProblemDetails(413, self._words).response(scope["path"])(scope, receive, send)
            return
        received = 0

        async def receive_some() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most:
                raise HTTPException(413, self._words)
            return message

        await self._app(scope, receive_some, send)


class Admission:
    """Decides by the headers alone who may use a route, before anything of the body is read or parsed.

    Parameters
    ----------
    app : ASGIApp
        The route's own.
    check : function of a request
        Raises HTTPException if the sender may not use the route.
    most : int or None
        Largest body in bytes; None leaves it to the server's own limit.
    """

    def __init__(
        self, app: ASGIApp, check: Callable[[Request], Awaitable[None]], *, most: int | None = None
    ) -> None:
        what = "the limit for requests without a file. Send a file, or several requests"
        self._app = app if most is None else SizeLimit(app, most=most, what=what)
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or raise."""
        await self._check(Request(scope))
        await self._app(scope, receive, send)


class SafeHeaders:
    """Adds `HEADERS` to every response, forbids caching data, and sets the CSRF cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                static = scope["path"].startswith("/static/") and message["status"] in (200, 304)
                headers.setdefault("Cache-Control", STATIC_CACHE if static else "no-store")
                if "csrf" in state:
                    headers.append("Set-Cookie", csrf_cookie(state["csrf"], scope["scheme"]))
            await send(message)

        await self._app(scope, receive, send_safely)
