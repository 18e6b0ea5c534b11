"""Connections that are let go: too many, too slow to say what they want, or too slow to hear the answer.

Uvicorn waits for ever for the rest of a request. Here `sweep`, called every second, ends what has been silent
for too long, and what is beyond the limit is ended at once, before it costs a file handle for longer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger("cellworth.web")

SAY_AGAIN = 60.0
"""Seconds between two lines of the log about the same thing."""


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
