"""Signing in by a link that works once, and signing out everywhere.

Programs that preview links only look, so the link shows a page, and its button signs in.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from cellworth.web.dependencies import require_role
from cellworth.web.pages.forms import OptionalText, Text
from cellworth.web.pages.page_layout import show
from cellworth.web.security.sessions import check_csrf, sign_out, start_session
from cellworth.web.security.tokens import LINK_PATH, Access

router = APIRouter(include_in_schema=False)

_GONE = "This link was used before, is too old, or is not complete. Ask for a new one, or sign in by a token."


@router.get(LINK_PATH, name="login_link")
async def look_at_link(request: Request, code: str = "") -> Response:
    """Show whom the link signs in; it can still be used."""
    access: Access = request.app.state.access
    owner = access.owner_of_link(code)
    if owner is None:
        raise HTTPException(403, _GONE)
    return show(request, "link.html", code=code, owner=owner)


@router.post(LINK_PATH, dependencies=[Depends(check_csrf)])
async def use_link(request: Request, code: Text, stay: OptionalText = "") -> Response:
    """Start a session; the link cannot be used again."""
    access: Access = request.app.state.access
    response = RedirectResponse("/", 303)
    if start_session(request, response, access.use_link(code), stay=bool(stay)) is None:
        raise HTTPException(403, _GONE)
    return response


@router.post("/logout/everywhere", dependencies=[require_role("read"), Depends(check_csrf)])
async def log_out_everywhere(request: Request) -> Response:
    """End all sessions of the sender's token, in whatever browser."""
    response = RedirectResponse("/", 303)
    sign_out(request, response, everywhere=True)
    return response
