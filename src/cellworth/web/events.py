"""Live news for pages, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from cellworth.web.dependencies import CampaignName, DeskDep, require_role
from cellworth.web.news import News

router = APIRouter(include_in_schema=False)

BREATH = 0.3
"""Seconds at least between two messages: what comes in between is told together."""
HEARTBEAT = 15.0
"""Seconds after which a line is sent though there is no news, so that proxies keep the line open."""


@router.get("/campaigns/{name}/events", dependencies=[require_role("read")], name="events")
async def events(name: CampaignName, desk: DeskDep) -> StreamingResponse:
    """Send what is new in a campaign, until the reader goes or the server ends.

    Each message is ``event: news`` with JSON: ``number`` of the newest event, and ``findings``, for each the
    number of the event that it is as of. The first comes at once.
    """
    await desk.watch(name)
    stream = _stream(name, desk.news)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(name: str, news: News) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    version = -1
    while not news.closed:
        bulletin = news[name]
        if bulletin.version != version:
            version = bulletin.version
            data = {"number": bulletin.number, "findings": bulletin.findings}
            yield f"event: news\nid: {bulletin.number}\ndata: {json.dumps(data)}\n\n"
            await asyncio.sleep(BREATH)
        elif not await news.wait(name, version, HEARTBEAT):
            yield ": still here\n\n"
