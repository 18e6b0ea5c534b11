"""Forms that only our own pages can send.

Each form has a field ``csrf_token``: the signature of a random cookie that other sites can neither read nor
set. Requests that change something must also come from our own origin, forms or not; see `guards`.
"""

from __future__ import annotations

import re
import secrets

from fastapi import HTTPException, Request
from starlette.datastructures import UploadFile

from cellworth.web.security.access import Access
from cellworth.web.security.signing import is_signed, sign

COOKIE = "cellworth_csrf"
FIELD = "csrf_token"
HEADER = "x-csrf-token"
_RANDOM = re.compile(r"[\w-]{43}")


def csrf_token(request: Request) -> str:
    """Return what the field ``csrf_token`` of a form must hold. The cookie that it goes with is set along."""
    access: Access = request.app.state.access
    return sign(access.secret, COOKIE, _random_of(request))


async def check_csrf(request: Request) -> None:
    """Refuse a form post without the right field; scripts may send the header ``X-CSRF-Token`` instead."""
    access: Access = request.app.state.access
    sent: str | UploadFile | None = request.headers.get(HEADER)
    if sent is None:
        sent = (await request.form()).get(FIELD)
    random = request.cookies.get(COOKIE, "")
    good = isinstance(sent, str) and bool(random) and is_signed(access.secret, COOKIE, random, sent)
    if not good:
        raise HTTPException(
            403,
            "The form was not sent from a page of this server, or is too old. Load the "
            "page again, and send it once more.",
        )


def _random_of(request: Request) -> str:
    """Return the random text of the browser, or make one; `headers` sets it as a cookie."""
    random = request.cookies.get(COOKIE) or getattr(request.state, "csrf", None)
    if random is None or not _RANDOM.fullmatch(random):
        random = secrets.token_urlsafe(32)
        request.state.csrf = random
    return str(random)
