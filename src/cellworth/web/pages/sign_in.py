"""Signing in with a token, by a link that works once, or by just giving a name; and signing out."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from cellworth.web.dependencies import require_role
from cellworth.web.pages.flash_messages import rejected
from cellworth.web.pages.forms import OptionalText, Text
from cellworth.web.pages.language import COOKIE, COOKIE_SECONDS, LANGUAGES, message
from cellworth.web.pages.page_layout import show
from cellworth.web.security.sessions import check_csrf, remember_who, sign_in, sign_out, start_session
from cellworth.web.security.tokens import LINK_PATH, Access

router = APIRouter(include_in_schema=False)

LONGEST_NAME = 80
_GONE = "This link was used before, is too old, or is not complete. Ask for a new one, or sign in by a token."
UNKNOWN = message("This token is not known here. Check that you copied all of it, or ask for a new one.")


@router.get("/login", name="login")
async def login(request: Request, to: str = "/") -> Response:
    """Show the sign-in form; redirect to the campaigns if the server requires no token."""
    access: Access = request.app.state.access
    return RedirectResponse("/", 303) if access.open else show(request, "login.html", to=own_path(to))


@router.post("/login", dependencies=[Depends(check_csrf)])
async def take_token(
    request: Request, token: OptionalText = "", to: OptionalText = "/", stay: OptionalText = ""
) -> Response:
    """Start a session."""
    response = RedirectResponse(own_path(to), 303)
    if sign_in(request, response, token.strip(), stay=bool(stay)) is None:
        return rejected(request, "/login", UNKNOWN, f"to={quote(own_path(to), safe='')}")
    return response


@router.post("/logout", dependencies=[require_role("read"), Depends(check_csrf)], name="logout")
async def logout(request: Request) -> Response:
    """End the session and forget the name."""
    response = RedirectResponse("/", 303)
    sign_out(request, response)
    return response


@router.post("/name", dependencies=[require_role("read"), Depends(check_csrf)], name="name")
async def give_name(request: Request, who: Text, to: OptionalText = "/") -> Response:
    """Remember the name of a user without a token."""
    response = RedirectResponse(own_path(to), 303)
    name = " ".join(who.split())[:LONGEST_NAME]
    if name:
        remember_who(request, response, name)
    return response


@router.post("/login/language", dependencies=[Depends(check_csrf)], name="language")
async def choose_language(language: Text, to: OptionalText = "/") -> Response:
    """Remember the language of the pages in this browser; it needs no sign-in."""
    response = RedirectResponse(own_path(to), 303)
    if language in LANGUAGES:
        response.set_cookie(COOKIE, language, COOKIE_SECONDS, path="/", httponly=True, samesite="lax")
    return response


def own_path(to: str) -> str:
    """Return a path on this server to redirect to; "/" for anything that might lead elsewhere.

    >>> own_path("/campaigns/a?page=2"), own_path("//elsewhere.example"), own_path("https://elsewhere.example")
    ('/campaigns/a?page=2', '/', '/')
    """
    parts = urlsplit(to)
    plain = not parts.scheme and not parts.netloc and not any(ord(each) < 33 for each in to)
    return to if plain and to.startswith("/") and not to.startswith(("//", "/\\")) else "/"


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
