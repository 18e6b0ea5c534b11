"""The interface described for programs: OpenAPI."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from cellworth.web.api.models import ProblemOut
from cellworth.web.api.parts import PREFIX, WHO_PARAMETER
from cellworth.web.dependencies import require_role

router = APIRouter(prefix=PREFIX, include_in_schema=False)

_WRITES = ("post", "put", "patch", "delete")


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
            if method in _WRITES and WHO_PARAMETER not in parameters:
                parameters.append(WHO_PARAMETER)
    return document
