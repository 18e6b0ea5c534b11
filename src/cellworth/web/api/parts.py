"""What all routes of the interface share."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query

from cellworth.web.dependencies import WHO_HEADER
from cellworth.web.problems import MEDIA_TYPE
from cellworth.web.security.access import Identity, Role

PREFIX = "/api/v1"
LARGEST_PAGE = 1000

After = Annotated[int, Query(ge=0, le=2**53, description="What the page before gave as next; 0 at first.")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Most items of the page.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Of this request: with the same key it is carried out once, however often it is sent.",
    ),
]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the problems that a route may answer with; those of access and wrong input always can."""
    reference = {"schema": {"$ref": "#/components/schemas/ProblemOut"}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: reference}}
        for status in sorted({400, 401, 403, 413, 421, 422, *statuses})
    }


def make_router(tag: str) -> APIRouter:
    """Return a router of the interface; its routes are about a campaign, which may not be there."""
    return APIRouter(prefix=PREFIX, tags=[tag], responses=problems(404))


def must_manage(identity: Identity, what: str) -> None:
    """Refuse a part of a request that needs a higher role than the rest."""
    if identity.role < Role.MANAGE:
        raise HTTPException(403, f"{what} needs the role 'manage'; yours is {identity.role.name.lower()!r}.")


WHO_PARAMETER = {
    "name": WHO_HEADER.title(),
    "in": "header",
    "required": False,
    "description": "Who does this, for the log, percent-encoded; only where no token is asked for.",
    "schema": {"type": "string"},
}
