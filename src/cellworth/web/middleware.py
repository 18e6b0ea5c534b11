"""What each request passes on its way: HEAD and ETag, and the language of messages."""

from __future__ import annotations

from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellworth.setting_names import speaking

_STREAMS = "/events"
"""Paths of pages that end so send news for ever."""


class ConditionalRequests:
    """Answers HEAD like GET, without the body; and a program that has the newest response with 304.

    Responses of the REST API get an ETag, the hash of their content. Making a response costs the same, but
    not its way. Browsers keep none of them (``no-store``): they may hold patients' values.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response if it is needed."""
        is_api = scope.get("path", "").startswith("/api/")
        streams = not is_api and scope.get("path", "").endswith(_STREAMS)
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or streams:
            await self._app(scope, receive, send)
            return
        only_head = scope["method"] == "HEAD"
        if not (is_api or only_head):
            await self._app(scope, receive, send)
            return
        answer = _Answer(Headers(scope=scope).get("if-none-match", ""), only_head, is_api)
        method, scope["method"] = scope["method"], "GET"
        try:
            await self._app(scope, receive, answer.keep)
        finally:
            scope["method"] = method
        await answer.send(send)


class _Answer:
    """A response, kept until it is complete."""

    def __init__(self, known: str, only_head: bool, tagged: bool) -> None:
        self._known = {each.strip().removeprefix("W/") for each in known.split(",")}
        self._only_head, self._tagged = only_head, tagged
        self._start: Message = {}
        self._body = bytearray()

    async def keep(self, message: Message) -> None:
        """Keep a part of the response."""
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")

    async def send(self, send: Send) -> None:
        """Send what is needed of the response."""
        headers = MutableHeaders(scope=self._start)
        body = bytes(self._body)
        if self._tagged and self._start["status"] == 200:
            tag = f'"{sha256(body).hexdigest()[:32]}"'
            headers["ETag"] = tag
            if tag in self._known or "*" in self._known:
                self._start["status"], body = 304, b""
                del headers["content-length"]
        await send(self._start)
        await send({"type": "http.response.body", "body": b"" if self._only_head else body})


class MessageLanguage:
    """Handles each request in the language of its door; see `cellworth.setting_names`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        with speaking("rest" if scope.get("path", "").startswith("/api/") else "pages"):
            await self._app(scope, receive, send)
