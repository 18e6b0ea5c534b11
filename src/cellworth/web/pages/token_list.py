"""The people who may use the server: their tokens, made, listed, limited in time and revoked."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import segno
from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from cellworth.errors import CellworthError, DataError
from cellworth.web.dependencies import IdentityDep, require_role
from cellworth.web.pages.flash_messages import back, rejected, typed_in
from cellworth.web.pages.forms import OptionalText, Text
from cellworth.web.pages.language import message
from cellworth.web.pages.page_layout import show, text_of
from cellworth.web.security.sessions import check_csrf
from cellworth.web.security.tokens import Access, Token, end_of, id_of, link_of

router = APIRouter(include_in_schema=False)

MAY_MANAGE = [require_role("manage"), Depends(check_csrf)]
MOST_WAITING = 20
"""New tokens that wait to be shown."""
ROLES = {
    "read": message("look at everything"),
    "answer": message("look, and answer"),
    "manage": message("everything: ask, change, make tokens"),
}
NO_DAY = message("Expected a day such as 2031-12-31, or nothing for no end.")
OWN = message("This is your own token. Let somebody else who manages remove it.")


class NewSecret(NamedTuple):
    """What is shown once: a token, if it is new, and a link that signs in once, with its QR code."""

    who: str
    token: str | None
    link: str
    code: str
    size: int


@router.get("/people", dependencies=[require_role("manage")], name="people")
async def people(request: Request, identity: IdentityDep, new: str = "") -> Response:
    """List the tokens, without their secrets; ``new`` names one to be shown once."""
    access: Access = request.app.state.access
    now = datetime.now(UTC)
    lines = [
        {
            "token": each,
            "own": each.id == identity.token,
            "last": None if each.expires is None else _last_day(each.expires),
            "over": each.expires is not None and datetime.fromisoformat(each.expires) <= now,
        }
        for each in access.tokens
    ]
    return show(
        request,
        "people.html",
        is_open=access.open,
        lines=lines,
        roles=ROLES,
        typed=typed_in(request).get("typed", {}),
        secret=_waiting(request).pop(new, None),
    )


@router.post("/people", dependencies=MAY_MANAGE)
async def make_token(
    request: Request, who: OptionalText = "", role: OptionalText = "answer", expires: OptionalText = ""
) -> Response:
    """Make a token, and a link that signs in with it once."""
    access: Access = request.app.state.access
    try:
        token = access.add(who=who.strip(), role=role, expires=_end(request, expires))
    except CellworthError as error:
        typed = {"who": who, "role": role, "expires": expires}
        return rejected(request, "/people", str(error), typed=typed)
    return _shown_once(request, who.strip(), token, id_of(token))


@router.post("/people/link", dependencies=MAY_MANAGE, name="token_link")
async def make_link(request: Request, token: Text) -> Response:
    """Make another link that signs in once."""
    found = _known(request, token)
    return _shown_once(request, found.who, None, token)


@router.post("/people/expiry", dependencies=MAY_MANAGE, name="token_expiry")
async def change_expiry(request: Request, token: Text, expires: OptionalText = "") -> Response:
    """Say after which day a token ends."""
    access: Access = request.app.state.access
    return _done(request, token, "token-ends", lambda: access.expire(token, _end(request, expires)))


@router.post("/people/end-sessions", dependencies=MAY_MANAGE, name="token_sessions")
async def end_sessions(request: Request, token: Text) -> Response:
    """Sign a token's owner out of all browsers; the token stays valid."""
    access: Access = request.app.state.access
    return _done(request, token, "signed-out", lambda: access.ended.end_all(token))


@router.post("/people/revoke", dependencies=MAY_MANAGE, name="token_revoke")
async def revoke(request: Request, token: Text, identity: IdentityDep) -> Response:
    """Remove a token for good; nobody can remove their own."""
    access: Access = request.app.state.access
    if token == identity.token:
        return rejected(request, "/people", OWN)
    return _done(request, token, "token-removed", lambda: access.remove(token))


def _done(request: Request, token: str, done: str, change: Callable[[], None]) -> Response:
    """Change a token and say so, or say what is wrong."""
    found = _known(request, token)
    try:
        change()
    except CellworthError as error:
        return rejected(request, "/people", str(error))
    return back(request, "/people", done, who=found.who)


def _known(request: Request, token: str) -> Token:
    access: Access = request.app.state.access
    for each in access.tokens:
        if each.id == token:
            return each
    raise DataError("There is no token with this id: somebody has removed it.")


def _shown_once(request: Request, who: str, token: str | None, token_id: str) -> Response:
    """Redirect to the list, which shows the secret once: a reloaded page has it no longer."""
    access: Access = request.app.state.access
    address = request.app.state.public_url or str(request.base_url)
    link = link_of(address, access.link(token_id))
    waiting = _waiting(request)
    key = secrets.token_urlsafe(12)
    waiting[key] = NewSecret(who, token, link, *qr_code(link))
    while len(waiting) > MOST_WAITING:
        waiting.popitem(last=False)
    return RedirectResponse(f"/people?new={key}", 303)


def _waiting(request: Request) -> OrderedDict[str, NewSecret]:
    state: Any = request.app.state
    if not hasattr(state, "new_secrets"):
        state.new_secrets = OrderedDict()
    found: OrderedDict[str, NewSecret] = state.new_secrets
    return found


def qr_code(text: str) -> tuple[str, int]:
    """Return a QR code as the path of an SVG in units of its modules, and its width with its quiet zone.

    >>> path, width = qr_code("a")
    >>> path[:10], width
    ('M0 0h1v1h-', 29)
    """
    rows = segno.make(text, micro=False, error="m").matrix
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
    return path, len(rows) + 8


def _end(request: Request, text: str) -> datetime | None:
    try:
        return end_of(date.fromisoformat(text.strip()) if text.strip() else None)
    except (ValueError, OverflowError):
        raise DataError(text_of(request, NO_DAY)) from None


def _last_day(expires: str) -> str:
    """Return the last day on which a token is valid, on the server's clock."""
    last = datetime.fromisoformat(expires).astimezone() - timedelta(seconds=1)
    return last.date().isoformat()
