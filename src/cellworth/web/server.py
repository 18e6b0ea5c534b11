"""A server that runs the application until stopped."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.web.app import LARGEST_UPLOAD, create_app
from cellworth.web.connections import ConnectionLimits, sweep, watched
from cellworth.web.monitoring import log_settings
from cellworth.web.security.tokens import Access

PATIENCE = 10
"""Seconds that requests are given to finish when the server stops."""


def serve(
    store: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    access: Access | None = None,
    largest_upload: int = LARGEST_UPLOAD,
    public_url: str | None = None,
    webhooks: Sequence[str] = (),
    webhook_secret: str | None = None,
    log_level: str = "warning",
    log_format: str = "text",
) -> None:
    """Serve the campaigns of a store until interrupted or terminated.

    Parameters
    ----------
    store : str or Path
        The address of the store.
    host : str
        The address to listen on. Any but a loopback address requires tokens.
    port : int
        0 picks a free one. The address is printed once the server is listening.
    access : Access, optional
        By default no token is required.
    largest_upload : int
        Largest request with a file, in bytes.
    public_url : str, optional
        The address under which browsers know the server, if a proxy does not pass the ``Host`` on.
    webhooks, webhook_secret
        As in `create_app`.
    log_level : str
        "info" logs a line per request.
    log_format : {"text", "json"}
        How lines of the log are written.
    """
    check_host(host, access)
    app = create_app(
        store,
        access=access,
        largest_upload=largest_upload,
        public_url=public_url,
        webhooks=webhooks,
        webhook_secret=webhook_secret,
    )
    listening = _listen(host, port)
    print(f"cellworth serves at {_address(host, listening)}", flush=True)
    limits = ConnectionLimits.here()
    config = uvicorn.Config(
        app,
        log_level=log_level,
        log_config=log_settings(log_format, log_level),
        access_log=False,  # our own has the person and the request's id
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
        http=watched(limits),
        backlog=max(16, limits.connections // 8),  # three times as many may be open before they are ended
        lifespan="on",
        ws="none",
    )
    WebServer(config, app).run(sockets=[listening])


def check_host(host: str, access: Access | None) -> None:
    """Raise ParameterError if other machines could reach the server and no tokens are required."""
    if not is_loopback(host) and (access is None or access.open):
        raise ParameterError(
            f"other machines can reach a server on {shorten(host)}, so it must require tokens. Create one "
            "with: cellworth token --who NAME --role manage --tokens FILE; then serve with --tokens FILE. Or "
            "listen on 127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Return whether an address is a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class WebServer(uvicorn.Server):
    """Lets slow clients go; before it ends, releases callers waiting for notifications or results."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    async def on_tick(self, counter: int) -> bool:
        """Every second, let slow clients go."""
        if counter % 10 == 0:  # ten ticks are a second
            sweep(list(self.server_state.connections))
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the notifications and the job queue, then the connections."""
        self._app.state.notifications.close()
        for queue in ("jobs", "file_queue"):
            if hasattr(self._app.state, queue):
                await getattr(self._app.state, queue).close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: asyncio sets TCP_NODELAY only if it knows the socket is TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen()  # from now on, connections wait instead of being refused
    except OSError as error:
        listening.close()
        raise DataError(
            f"the server cannot listen on {host}:{port} ({error.strerror or error}). Choose another port; 0 "
            "picks a free one."
        ) from None
    return listening


def _address(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    name = f"[{host.strip('[]')}]" if ":" in host else host
    return f"http://{name}:{port}"
