"""Signed in with a cookie, so that a browser need not send the token with each request.

The cookie holds the id of a token, when it ends, and a signature. It is good as long as the token is: taking
the token away ends its sessions. Scripts cannot read it, and other sites cannot make a browser send it.
"""

from __future__ import annotations

import time
from urllib.parse import quote, unquote

from fastapi import Request, Response

from cellworth.web.security.access import Access, Identity
from cellworth.web.security.signing import is_signed, sign

SESSION = "cellworth_session"
WHO = "cellworth_who"
LASTS = 12 * 3600
"""Seconds that a session lasts."""
REMEMBERED = 365 * 24 * 3600
"""Seconds that the name of somebody on this machine is kept."""


def sign_in(request: Request, response: Response, token: str) -> Identity | None:
    """Begin a session with a token, by a cookie of the response; None if it is nobody's token."""
    access: Access = request.app.state.access
    identity = access.identify(token)
    if identity is not None and identity.token is not None:
        text = f"{identity.token}.{int(time.time()) + LASTS}"
        _set(request, response, SESSION, f"{text}.{sign(access.secret, SESSION, text)}", LASTS)
    return identity


def sign_out(request: Request, response: Response) -> None:
    """End the session of a browser."""
    for name in (SESSION, WHO):
        response.delete_cookie(name, path="/", httponly=True, samesite="strict", secure=_is_safe(request))


def session_of(request: Request) -> Identity | None:
    """Return who the request's cookie belongs to; None without one that is good."""
    access: Access = request.app.state.access
    text, _, signature = request.cookies.get(SESSION, "").rpartition(".")
    if not is_signed(access.secret, SESSION, text, signature):
        return None
    token, _, ends = text.partition(".")
    return access.holder(token) if time.time() < int(ends) else None


def remember_who(request: Request, response: Response, who: str) -> None:
    """Keep the name of somebody who needs no token in a cookie, for the log."""
    _set(request, response, WHO, quote(who, safe=""), REMEMBERED)


def remembered_who(request: Request) -> str | None:
    """Return the name that was kept; None without one."""
    return unquote(request.cookies.get(WHO, "")).strip() or None


def _set(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=_is_safe(request)
    )


def _is_safe(request: Request) -> bool:
    return request.url.scheme == "https"
