"""What the pages' scripts load: Plotly, from its Python package, and live notifications."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from cellworth.web.dependencies import CampaignName, PoolDep, require_role

router = APIRouter(include_in_schema=False)


@router.get("/campaigns/{name}/events", dependencies=[require_role("read")], name="events")
async def events(name: CampaignName, pool: PoolDep) -> StreamingResponse:
    """Stream news of a campaign until the client disconnects or the server stops."""
    await pool.watch(name)
    stream = pool.notifications.stream(name)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


@router.get("/static/plotly.min.js", name="plotly")
def plotly(request: Request) -> Response:
    """Send the script, compressed if the browser accepts it; browsers may cache it."""
    plain, packed, tag = _script()
    headers = {"ETag": tag, "Cache-Control": "max-age=86400", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type="text/javascript")
    return Response(plain, headers=headers, media_type="text/javascript")


@cache
def _script() -> tuple[bytes, bytes, str]:
    content = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    return content, gzip.compress(content, 6, mtime=0), f'"{sha256(content).hexdigest()[:32]}"'
