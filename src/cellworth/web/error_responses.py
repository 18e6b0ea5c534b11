"""Errors as problem details (RFC 9457): one format, in plain words, without tracebacks."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from cellworth.errors import (
    MOST_WRONG_LINES,
    CellworthError,
    ComputationError,
    ConflictError,
    MissingDependencyError,
    UnknownCampaignError,
    WrongLinesError,
)

MEDIA_TYPE = "application/problem+json"
KINDS = {
    400: ("bad-request", "Invalid request"),
    401: ("sign-in", "Token required"),
    403: ("forbidden", "Not allowed"),
    404: ("not-found", "Not found"),
    405: ("not-possible", "Not possible here"),
    409: ("conflict", "Conflict"),
    413: ("too-large", "Too large"),
    421: ("wrong-host", "Wrong host"),
    422: ("unusable-data", "The data cannot be used"),
    500: ("server-error", "Server error"),
    503: ("not-now", "Not now"),
}
"""For each status, the last part of the type, which never changes, and the title."""
log = logging.getLogger("cellworth.web")


@dataclass(frozen=True)
class ProblemDetails:
    """What went wrong with a request.

    Attributes
    ----------
    status : int
        The HTTP status.
    detail : str
        What was expected, what was received, and what to do.
    errors : list of dict
        One for each error, if there are several: its ``message`` and, if known, its ``line`` and ``field``.
    headers : dict
        Headers of the response.
    """

    status: int
    detail: str
    errors: Sequence[dict[str, Any]] = ()
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The kind of problem, in a few words."""
        return KINDS[self.status][1] if self.status in KINDS else HTTPStatus(self.status).phrase

    @property
    def type(self) -> str:
        """A stable URI reference for the kind of problem."""
        return f"/problems/{KINDS[self.status][0]}" if self.status in KINDS else "about:blank"

    def to_json(self, instance: str) -> dict[str, Any]:
        """Return it as plain data; ``instance`` is the path of the request."""
        data: dict[str, Any] = {
            "type": self.type,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
        }
        return {**data, "errors": list(self.errors)} if self.errors else data

    def response(self, instance: str) -> Response:
        """Return it as a response."""
        # In ASCII: a message may quote a lone surrogate, which UTF-8 cannot encode.
        content = json.dumps(self.to_json(instance)).encode("ascii")
        return Response(content, self.status, self.headers, MEDIA_TYPE)


class SeveralProblemsError(HTTPException):
    """Several parts of a request are wrong; raised for the first, it names all of them."""

    def __init__(self, first: Exception, errors: Sequence[dict[str, Any]]) -> None:
        self.problem = replace(problem_of(first), errors=errors)
        super().__init__(self.problem.status, self.problem.detail)


def problem_of(error: Exception) -> ProblemDetails:
    """Turn an error into a problem; an unexpected one reveals nothing about the server."""
    if isinstance(error, SeveralProblemsError):
        return error.problem
    if isinstance(error, HTTPException):
        return ProblemDetails(error.status_code, str(error.detail), headers=dict(error.headers or {}))
    if isinstance(error, RequestValidationError):
        return _of_validation(error)
    if isinstance(error, WrongLinesError):
        status = 409 if isinstance(error, ConflictError) else 422
        return ProblemDetails(status, str(error), [place._asdict() for place in error.places])
    if isinstance(error, UnknownCampaignError):
        return ProblemDetails(404, str(error))
    if isinstance(error, ConflictError):
        return ProblemDetails(409, str(error))
    if isinstance(error, ComputationError):
        return ProblemDetails(503, str(error), headers={"Retry-After": "5"})
    if isinstance(error, CellworthError) and not isinstance(error, MissingDependencyError):
        return ProblemDetails(422, str(error))
    return ProblemDetails(
        500, "Something went wrong on the server; the error was logged. Nothing was partly recorded."
    )


def install(app: FastAPI) -> None:
    """Make an app return all errors as problems; browsers get a page, see `pages.problem_page`."""
    for kind in (HTTPException, RequestValidationError, CellworthError, Exception):
        app.add_exception_handler(kind, _answer)


async def _answer(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status >= 500 and not isinstance(error, ComputationError):
        name = getattr(request.state, "request_id", None)
        log.error(
            "%s %s", request.method, request.url.path, exc_info=error, extra={"detail": {"request": name}}
        )
        problem = replace(problem, headers={**problem.headers, "X-Request-ID": str(name)})
    show = getattr(request.app.state, "problem_page", None)
    wants_page = "text/html" in request.headers.get("accept", "")
    if show is not None and wants_page and not request.url.path.startswith("/api/"):
        page: Response = await show(request, problem)
        return page
    return problem.response(request.url.path)


def _of_validation(error: RequestValidationError) -> ProblemDetails:
    errors = [
        {"field": ".".join(str(part) for part in each["loc"]), "message": str(each["msg"])}
        for each in itertools.islice(error.errors(), MOST_WRONG_LINES)
    ]
    first = errors[0] if errors else {"field": "the request", "message": "is not as expected"}
    return ProblemDetails(422, f"{first['field']}: {first['message']}.", errors)
