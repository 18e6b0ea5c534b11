"""Requests that are turned away before anything reads them."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellworth.web.problems import Problem

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class OwnOrigin:
    """Turns away what other sites make a browser send.

    A request that changes something must not say that it comes from another origin. Where no token is asked
    for, the ``Host`` must be a name of this machine: otherwise a site whose name is made to point here (DNS
    rebinding) would pass for our own.
    """

    def __init__(self, app: ASGIApp, *, only_loopback: bool) -> None:
        self._app = app
        self._only_loopback = only_loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        problem = self._problem(scope) if scope["type"] == "http" else None
        await (self._app if problem is None else problem.response(scope["path"]))(scope, receive, send)

    def _problem(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._only_loopback and urlsplit(f"//{host}").hostname not in LOOPBACK:
            return Problem(
                421, "This server answers to the names of its own machine only, such as localhost."
            )
        if scope["method"] in _SAFE_METHODS:
            return None
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
        if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return Problem(403, "This was sent by a page of another site, and is not carried out.")
        return None


class SizeLimit:
    """Turns away bodies that are too large, by their stated length or while they come in."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).get("content-length", "")
        if stated.isdecimal() and int(stated) > self._most:
            await Problem(413, self._words).response(scope["path"])(scope, receive, send)
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

    @property
    def _words(self) -> str:
        return f"The request is larger than {self._most / 1e6:g} MB, the most that this server takes."
