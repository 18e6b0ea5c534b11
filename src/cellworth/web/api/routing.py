"""What all REST routes share, and their OpenAPI description."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request
from starlette.responses import JSONResponse

from cellworth.web.api.json_bodies import ProblemOut
from cellworth.web.dependencies import WHO_HEADER, require_role
from cellworth.web.error_responses import MEDIA_TYPE
from cellworth.web.security.tokens import Identity, Role

PREFIX = "/api/v1"
LARGEST_PAGE = 1000

After = Annotated[int, Query(ge=0, le=2**53, description="The `next` of the previous page; 0 for the first.")]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Most items per page.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A request with the same key is carried out once, however often it is sent.",
    ),
]
_WHO_PARAMETER = {
    "name": WHO_HEADER.title(),
    "in": "header",
    "required": False,
    "description": "Your name for the log, percent-encoded; only if the server requires no token.",
    "schema": {"type": "string"},
}
_WRITES = ("post", "put", "patch", "delete")

router = APIRouter(prefix=PREFIX, include_in_schema=False)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the problems a route may return; access and input errors are always included."""
    reference = {"schema": {"$ref": "#/components/schemas/ProblemOut"}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: reference}}
        for status in sorted({400, 401, 403, 413, 421, 422, *statuses})
    }


def make_router(tag: str) -> APIRouter:
    """Return a router for the API; its routes may return 404 for an unknown campaign."""
    return APIRouter(prefix=PREFIX, tags=[tag], responses=problems(404))


def must_manage(identity: Identity, what: str) -> None:
    """Reject a request if a part of it needs the role manage and the sender lacks it."""
    if identity.role < Role.MANAGE:
        raise HTTPException(403, f"{what} needs the role 'manage'; yours is {identity.role.name.lower()!r}.")


@router.get("/openapi.json", dependencies=[require_role("read")])
async def schema(request: Request) -> JSONResponse:
    """Return the OpenAPI document."""
    return JSONResponse(describe(request.app))


def describe(app: Any) -> dict[str, Any]:
    """Return the OpenAPI document of an app, including the problem schema and the token scheme."""
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
