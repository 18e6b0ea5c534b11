"""REST routes for the people who use the server: their tokens, without the secrets, and how to revoke one."""

from __future__ import annotations

from typing import Annotated

from fastapi import HTTPException, Path, Request

from cellworth.errors import DataError
from cellworth.web.api.models import Recorded, TokenOut, TokensOut
from cellworth.web.api.routing import make_router, problems
from cellworth.web.dependencies import IdentityDep, require_role
from cellworth.web.security.tokens import Access

router = make_router("people")

TokenId = Annotated[str, Path(max_length=100, description="The id of a token, from the list.")]


@router.get("/tokens", dependencies=[require_role("manage")])
async def list_tokens(request: Request) -> TokensOut:
    """List the tokens: whose they are, what they allow, and when they end; empty if none are required."""
    access: Access = request.app.state.access
    return TokensOut(items=[TokenOut.model_validate(each) for each in access.tokens])


@router.delete("/tokens/{token}", dependencies=[require_role("manage")], responses=problems(404, 409))
async def revoke_token(request: Request, token: TokenId, identity: IdentityDep) -> Recorded:
    """Remove a token for good, and end its sessions; you cannot remove your own."""
    access: Access = request.app.state.access
    if token == identity.token:
        raise HTTPException(409, "This is your own token. Let somebody else who manages remove it.")
    try:
        access.remove(token)
    except DataError as error:
        raise HTTPException(404, f"There is no token with this id: {error}") from None
    return Recorded(new=1)


@router.post("/tokens/{token}/end-sessions", dependencies=[require_role("manage")], responses=problems(404))
async def end_sessions(request: Request, token: TokenId) -> Recorded:
    """Sign a token's owner out of all browsers; the token itself stays valid."""
    access: Access = request.app.state.access
    if access.holder(token) is None:
        raise HTTPException(404, "There is no token with this id.")
    access.ended.end_all(token)
    return Recorded(new=1)
