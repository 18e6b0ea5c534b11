"""A server that runs the application until stopped."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.web.app import LARGEST_UPLOAD, create_app
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
    log_level: str = "warning",
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
    log_level : str
        Log level of uvicorn; "info" logs a line per request.
    """
    check_host(host, access)
    listening = _listen(host, port)
    app = create_app(store, access=access, largest_upload=largest_upload, public_url=public_url)
    print(f"cellworth serves at {_address(host, listening)}", flush=True)
    config = uvicorn.Config(
        app,
        log_level=log_level,
        access_log=log_level in ("info", "debug"),
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
        lifespan="on",
        ws="none",
    )
    _Server(config, app).run(sockets=[listening])


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


class _Server(uvicorn.Server):
    """Releases callers waiting for notifications or results before shutting down."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

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
