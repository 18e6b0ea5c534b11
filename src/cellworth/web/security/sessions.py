"""Cookies: browser sessions, the name of a user without a token, and CSRF protection for forms.

With a session cookie, a browser need not send the token with each request. It holds the id of a token, when
the session began and ends, its own name, and a signature. It is valid as long as the token is and until
somebody signs out, also for those who copied it: see `cellworth.web.security.ended_sessions`. Scripts cannot
read it; browsers send it along a link from another site (``SameSite=Lax``), but with nothing that changes
anything.

Each form has a field ``csrf_token``: the signature of a random cookie that other sites can neither read nor
set. All requests that change something, forms or not, must also come from our own origin; see `guards`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import NamedTuple
from urllib.parse import quote, unquote

from fastapi import HTTPException, Request, Response
from starlette.datastructures import UploadFile

from cellworth.web.security.tokens import Access, Identity

SESSION = "cellworth_session"
SESSION_SECONDS = 12 * 3600
STAY_SECONDS = 90 * 24 * 3600
"""How long somebody stays signed in who wishes to."""
WHO = "cellworth_who"
WHO_SECONDS = 365 * 24 * 3600
"""How long the name of a user without a token is kept."""
CSRF = "cellworth_csrf"
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"
_RANDOM = re.compile(r"[\w-]{43}")


def sign_in(request: Request, response: Response, token: str, *, stay: bool = False) -> Identity | None:
    """Start a session by setting a cookie on the response; None if the token is unknown.

    It lasts `SESSION_SECONDS` or, to ``stay`` signed in, `STAY_SECONDS`; never longer than the token.
    """
    access: Access = request.app.state.access
    return start_session(request, response, access.identify(token), stay=stay)


def start_session(
    request: Request, response: Response, identity: Identity | None, *, stay: bool = False
) -> Identity | None:
    """Start a session for somebody who has shown a token or a link, and return them."""
    if identity is not None and identity.token is not None:
        access: Access = request.app.state.access
        seconds, now = STAY_SECONDS if stay else SESSION_SECONDS, time.time()
        text = f"{identity.token}.{now * 1000:.0f}.{now + seconds:.0f}.{secrets.token_urlsafe(12)}"
        _set(request, response, SESSION, f"{text}.{sign(access.secret, SESSION, text)}", seconds)
    return identity


def sign_out(request: Request, response: Response, *, everywhere: bool = False) -> None:
    """End the session of a browser, or all sessions of its token, on the server and in its cookies."""
    access: Access = request.app.state.access
    found = _session(request)
    if found is not None:
        access.ended.end(found.name, found.ends)
        if everywhere:
            access.ended.end_all(found.token)
    for name in (SESSION, WHO):
        response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=_is_https(request))


def session_of(request: Request) -> Identity | None:
    """Return the identity in the request's session cookie; None without a valid one."""
    access: Access = request.app.state.access
    found = _session(request)
    if found is None or time.time() >= found.ends:
        return None
    over = access.ended.is_ended(found.name) or access.ended.began_too_early(found.token, found.began)
    return None if over else access.holder(found.token)


class _Session(NamedTuple):
    token: str
    began: float
    ends: float
    name: str


def _session(request: Request) -> _Session | None:
    """Return the session in the request's cookie, if we signed it."""
    access: Access = request.app.state.access
    text, _, signature = request.cookies.get(SESSION, "").rpartition(".")
    parts = text.split(".")
    if len(parts) != len(_Session._fields) or not is_signed(access.secret, SESSION, text, signature):
        return None
    return _Session(parts[0], float(parts[1]) / 1000, float(parts[2]), parts[3])


def remember_who(request: Request, response: Response, who: str) -> None:
    """Keep the name of a user without a token in a cookie, for the log."""
    _set(request, response, WHO, quote(who, safe=""), WHO_SECONDS)


def remembered_who(request: Request) -> str | None:
    """Return the remembered name; None without one."""
    return unquote(request.cookies.get(WHO, "")).strip() or None


def csrf_token(request: Request) -> str:
    """Return the value of a form's ``csrf_token`` field; the matching cookie is set with the page."""
    access: Access = request.app.state.access
    return sign(access.secret, CSRF, _random_of(request))


async def check_csrf(request: Request) -> None:
    """Reject a form post without a valid token; scripts may send it in the ``X-CSRF-Token`` header."""
    access: Access = request.app.state.access
    sent: str | UploadFile | None = request.headers.get(CSRF_HEADER)
    if sent is None:
        sent = (await request.form()).get(CSRF_FIELD)
    random = request.cookies.get(CSRF, "")
    if not (isinstance(sent, str) and random and is_signed(access.secret, CSRF, random, sent)):
        raise HTTPException(
            403,
            "The form was not sent from a page of this server, or is too old. Reload the page and try again.",
        )


def csrf_cookie(random: str, scheme: str) -> str:
    """Return the header that sets the CSRF cookie."""
    return f"{CSRF}={random}; HttpOnly; Path=/; SameSite=lax" + ("; Secure" if scheme == "https" else "")


def _random_of(request: Request) -> str:
    """Return the browser's random string, or create one; `guards.SafeHeaders` sets it as a cookie."""
    random = request.cookies.get(CSRF) or getattr(request.state, "csrf", None)
    if random is None or not _RANDOM.fullmatch(random):
        random = secrets.token_urlsafe(32)
        request.state.csrf = random
    return str(random)


def sign(secret: bytes, purpose: str, text: str) -> str:
    """Return the signature of a text for one purpose; it is invalid for any other."""
    return hmac.new(secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def is_signed(secret: bytes, purpose: str, text: str, signature: str) -> bool:
    """Return whether a signature is valid, in constant time."""
    return hmac.compare_digest(sign(secret, purpose, text).encode(), signature.encode("utf-8", "replace"))


def _set(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=_is_https(request)
    )


def _is_https(request: Request) -> bool:
    return request.url.scheme == "https"
