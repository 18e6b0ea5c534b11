"""What all REST routes share, and their description for programs: OpenAPI."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request
from starlette.responses import JSONResponse

from cellworth.web.api.models import ProblemOut
from cellworth.web.dependencies import WHO_HEADER, require_role
from cellworth.web.error_responses import MEDIA_TYPE
from cellworth.web.security.tokens import Identity, Role

PREFIX = "/api/v1"
LARGEST_PAGE = 1000

After = Annotated[int, Query(ge=0, le=2**53, description="The `next` of the page before; 0 at first.")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Most items of the page.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Of this request: with the same key it is carried out once, however often it is sent.",
    ),
]
_WHO_PARAMETER = {
    "name": WHO_HEADER.title(),
    "in": "header",
    "required": False,
    "description": "Who does this, for the log, percent-encoded; only where no token is asked for.",
    "schema": {"type": "string"},
}
_WRITES = ("post", "put", "patch", "delete")

router = APIRouter(prefix=PREFIX, include_in_schema=False)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the problems that a route may answer with; those of access and wrong input are always there."""
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


@router.get("/openapi.json", dependencies=[require_role("read")])
async def schema(request: Request) -> JSONResponse:
    """Return the description of the interface."""
    return JSONResponse(describe(request.app))


def describe(app: Any) -> dict[str, Any]:
    """Return the OpenAPI document of an app, with the form of problems and how to send a token."""
    document: dict[str, Any] = app.openapi()
    parts = document.setdefault("components", {})
    form = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
    parts.setdefault("schemas", {}).update({**form.pop("$defs", {}), "ProblemOut": form})
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}, {}]
    for operations in document["paths"].values():
        for method, operation in operations.items():
            parameters = operation.setdefault("parameters", [])
            if method in _WRITES and _WHO_PARAMETER not in parameters:
                parameters.append(_WHO_PARAMETER)
    return document
