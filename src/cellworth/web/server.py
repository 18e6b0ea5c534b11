"""A server that runs the application until stopped, and lets go of connections that cost too much.

These are too many, too slow to say what they want, or too slow to hear the answer. Uvicorn waits for ever for
the rest of a request. Here `sweep`, called every second, ends what has been silent for too long, and what is
beyond the limit is ended at once, before it costs a file handle for longer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.web.app import LARGEST_UPLOAD, create_app
from cellworth.web.monitoring import log_settings
from cellworth.web.security.tokens import Access

PATIENCE = 10
"""Seconds that requests are given to finish when the server stops."""
SAY_AGAIN = 60.0
"""Seconds between two lines of the log about the same thing."""

log = logging.getLogger("cellworth.web")


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


@dataclass(frozen=True)
class ConnectionLimits:
    """How long to wait for clients, in seconds, and how many of them.

    Attributes
    ----------
    head : float
        For the whole head of a request.
    silence : float
        Between two pieces of a body, or until a client reads more of an answer.
    body : float
        For the whole of a body.
    connections : int
    """

    head: float = 15.0
    silence: float = 30.0
    body: float = 600.0
    connections: int = 512

    @classmethod
    def here(cls) -> ConnectionLimits:
        """Return the usual limits, with at most half of the files that this process may open."""
        try:
            import resource
        except ImportError:  # not on every system
            return cls()
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return cls() if most <= 0 else cls(connections=max(8, min(cls.connections, most // 2)))


class WatchedConnection(H11Protocol):
    """An HTTP connection that knows since when it waits for its client."""

    limits = ConnectionLimits()
    _told = -SAY_AGAIN

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._since = self._heard = self._sent = time.monotonic()
        self._state: object = None
        self._unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or end at once if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            now = time.monotonic()
            if now - WatchedConnection._told >= SAY_AGAIN:
                WatchedConnection._told = now
                log.warning("more than %d connections: further ones are ended", self.limits.connections)

    def data_received(self, data: bytes) -> None:
        """Note that something came, and pass it on."""
        self._heard = time.monotonic()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._since = time.monotonic()
        super().on_response_complete()

    def is_too_slow(self, now: float) -> bool:
        """Return whether the client has kept us waiting for too long."""
        state = self.conn.their_state
        if state is not self._state:
            self._state, self._since = state, now
        if state is h11.IDLE and now - self._since > self.limits.head:
            return True
        if state is h11.SEND_BODY and not self.flow.read_paused:
            silent = now - max(self._heard, self._since) > self.limits.silence
            if silent or now - self._since > self.limits.body:
                return True
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._sent = now
        self._unsent = unsent
        return unsent > 0 and now - self._sent > self.limits.silence

    def let_go(self) -> None:
        """End the connection without waiting for anything."""
        self.transport.abort()


def sweep(connections: Iterable[Any]) -> int:
    """End the connections whose clients are too slow, and return how many; O(connections)."""
    now = time.monotonic()
    slow = [each for each in connections if isinstance(each, WatchedConnection) and each.is_too_slow(now)]
    for each in slow:
        each.let_go()
    return len(slow)


def watched(limits: ConnectionLimits) -> type[WatchedConnection]:
    """Return the class of connections with these limits."""
    return type("PatientConnection", (WatchedConnection,), {"limits": limits})
