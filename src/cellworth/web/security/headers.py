"""Headers that tell browsers what our pages may do: nothing but what comes from this server.

Neither scripts nor styles may stand in a page itself. Plotly writes styles into the page, so the pages load
static/own-styles.js before it, which hands them to the browser's style sheet interface instead.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellworth.web.security.csrf import COOKIE

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


class SafeHeaders:
    """Adds `HEADERS` to every response, forbids keeping those with data, and sets the cookie of forms."""

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
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("Cache-Control", "no-store")
                if "csrf" in state:
                    headers.append("Set-Cookie", _cookie(state["csrf"], scope["scheme"]))
            await send(message)

        await self._app(scope, receive, send_safely)


def _cookie(random: str, scheme: str) -> str:
    return f"{COOKIE}={random}; HttpOnly; Path=/; SameSite=strict" + ("; Secure" if scheme == "https" else "")
