"""What operators see: health, metrics for Prometheus, request ids, and the log."""

from __future__ import annotations

import asyncio
import bisect
import json
import logging
import re
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellworth.web.dependencies import JobsDep, PoolDep, UploadsDep, require_role

access_log = logging.getLogger("cellworth.access")
router = APIRouter(include_in_schema=False)
log = logging.getLogger("cellworth.web")

STORE_SECONDS = 5.0
"""How long the store may take to answer."""
CHECKED = 1.0
"""Seconds for which a check of the store holds, so that strangers cannot keep the store busy."""
REQUEST_ID = "X-Request-ID"
BOUNDS = (0.005, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
"""Seconds: the buckets of request times."""
_OWN_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
_request: ContextVar[str | None] = ContextVar("request", default=None)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts and times of requests, in one event loop; written in Prometheus's text format.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("GET", "/health", 200, 0.003)
    >>> print(metrics.text({}).splitlines()[2])
    cellworth_requests_total{method="GET",route="/health",status="200"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[Labels] = Counter()
        self._buckets: dict[Labels, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: defaultdict[Labels, float] = defaultdict(float)
        self.active = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the pattern of its path, so that names of campaigns stay out."""
        where = (("method", method if method in _METHODS else "other"), ("route", route))
        self._requests[(*where, ("status", str(status)))] += 1
        self._buckets[where][bisect.bisect_left(BOUNDS, seconds)] += 1
        self._seconds[where] += seconds

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return everything as text; ``gauges`` maps further names to their help and value."""
        lines = [*_head("cellworth_requests_total", "counter", "Requests answered.")]
        lines += [
            f"cellworth_requests_total{_labels(labels)} {count}"
            for labels, count in sorted(self._requests.items())
        ]
        lines += _head("cellworth_request_seconds", "histogram", "Seconds from a request to its answer.")
        for labels, counts in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                total += count
                lines.append(f"cellworth_request_seconds_bucket{_labels((*labels, ('le', bound)))} {total}")
            lines.append(f"cellworth_request_seconds_sum{_labels(labels)} {self._seconds[labels]:.6f}")
            lines.append(f"cellworth_request_seconds_count{_labels(labels)} {total}")
        for name, (what, value) in {
            "requests_active": ("Requests in progress.", self.active),
            **gauges,
        }.items():
            lines += [*_head(f"cellworth_{name}", "gauge", what), f"cellworth_{name} {value:g}"]
        return "\n".join(lines) + "\n"


class Observation:
    """Names, counts and logs each request. It stands before all other middleware."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its id with the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID, "")
        name = sent if _OWN_ID.fullmatch(sent) else secrets.token_hex(8)
        named = _request.set(name)
        scope.setdefault("state", {})["request_id"] = name
        begun, status = time.perf_counter(), 500

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = name
            await send(message)

        self._metrics.active += 1
        try:
            await self._app(scope, receive, send_named)
        finally:
            self._metrics.active -= 1
            self._note(scope, status, time.perf_counter() - begun)
            _request.reset(named)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None)
        if route is None:
            route = "/static" if scope["path"].startswith("/static/") else "none"
        self._metrics.count(scope["method"], route, status, seconds)
        identity = scope.get("state", {}).get("identity")
        detail = {
            "method": scope["method"],
            "path": quote(scope["path"]),  # as sent: a name may have line breaks
            "status": status,
            "seconds": round(seconds, 6),
            "who": getattr(identity, "who", None),
            "client": (scope.get("client") or [None])[0],
        }
        access_log.info("%(method)s %(path)s %(status)d %(seconds).3f s", detail, extra={"detail": detail})


class JsonLines(logging.Formatter):
    """Formats each record of the log as one line of JSON, with the id of the request it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": _request.get(),
            **getattr(record, "detail", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None})


def log_settings(kind: str, level: str) -> dict[str, Any]:
    """Return the settings of the log, for uvicorn: "text" or "json" lines on standard error."""
    plain = {"format": "%(asctime)s %(levelname)s %(message)s"}
    formatter = {"()": "cellworth.web.monitoring.JsonLines"} if kind == "json" else plain
    logger = {"handlers": ["out"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": formatter},
        "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "loggers": {"uvicorn": logger, "cellworth": logger},
    }


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: Labels) -> str:
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"


@router.get("/health")
async def is_healthy(request: Request, pool: PoolDep) -> Response:
    """Report whether the server is up and its store can be read, and nothing else."""
    state: Any = request.app.state
    when, well = getattr(state, "checked", (-CHECKED, False))
    if time.monotonic() - when >= CHECKED:
        try:
            await asyncio.wait_for(pool.names(), STORE_SECONDS)
            well = True
        except Exception as error:
            log.warning("the store cannot be read: %s", error)
            well = False
        state.checked = (time.monotonic(), well)
    if well:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "the store cannot be read"}, 503, headers={"Retry-After": "5"})


@router.get("/metrics", dependencies=[require_role("read")])
async def metrics(request: Request, jobs: JobsDep, uploads: UploadsDep) -> Response:
    """Return counts and times in Prometheus's text format."""
    found: Metrics = request.app.state.metrics
    gauges = {
        "jobs_waiting": ("Computations that wait for the worker.", jobs.waiting),
        "worker_up": ("Whether the worker process runs.", jobs.worker is not None),
        "listeners": ("Pages that wait for news.", request.app.state.notifications.listeners),
        "uploads_bytes": ("Bytes of files that wait to be saved.", uploads.size),
    }
    return PlainTextResponse(found.text(gauges), media_type="text/plain; version=0.0.4")
