"""Messages name settings as the user knows them: fields of JSON for programs, of forms on the pages."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cellworth.settings_language import speaking


class DoorLanguage:
    """Handles each request in the language of its door; see `cellworth.settings_language`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        with speaking("rest" if scope.get("path", "").startswith("/api/") else "pages"):
            await self._app(scope, receive, send)
