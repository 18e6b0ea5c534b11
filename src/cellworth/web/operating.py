"""For those who operate the server: whether it is well, and what it does."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from cellworth.web.dependencies import JobsDep, PoolDep, UploadsDep, require_role
from cellworth.web.observation import Metrics

router = APIRouter(include_in_schema=False)
log = logging.getLogger("cellworth.web")

STORE_SECONDS = 5.0
"""How long the store may take to answer."""
CHECKED = 1.0
"""Seconds for which a check of the store holds, so that strangers cannot keep the store busy."""


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
