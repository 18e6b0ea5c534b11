"""Webhooks: other programs hear of asks and answers at addresses that the operator has configured.

Each event is posted as JSON: ``campaign``, ``number``, ``kind``, ``time``, ``who`` and ``cells``, how many.
The header ``Cellworth-Signature`` is ``sha256=`` and the HMAC of the body with the shared secret, in
hexadecimal. An event that cannot be delivered is tried again a few times, then dropped, and logged; the log
of the campaign has it all. Nothing here keeps a request waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx

from cellworth.campaign import Campaign
from cellworth.campaign.event_codec import Event
from cellworth.errors import CellworthError, ParameterError
from cellworth.messages import shorten
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.notifications import Notifications

log = logging.getLogger("cellworth.web")

SIGNATURE = "Cellworth-Signature"
KINDS = ("asked", "told")
TIMEOUT = 5.0
"""Seconds for one attempt."""
PAUSES = (1.0, 5.0, 30.0)
"""Seconds before each further attempt."""
MOST_WAITING = 1000
"""Events that wait to be sent; further ones are dropped."""
MOST_BEFORE = 50
"""Events read when a campaign is first heard of; those from before the server's start are not sent."""


def check_webhooks(urls: Sequence[str], secret: str | None) -> None:
    """Raise ParameterError if an address cannot be used, or there is no secret to sign with."""
    for url in urls:
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(f"a webhook must be an address of http or https; got {shorten(url)}.")
    if urls and not secret:
        raise ParameterError(
            "webhooks are signed: set the environment variable CELLWORTH_WEBHOOK_SECRET to a secret that the "
            "receiver knows, too."
        )


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header `SIGNATURE`.

    >>> signature("key", b"{}")[:15]
    'sha256=a777724d'
    """
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


class Webhooks:
    """Posts each new ask and answer of all campaigns to some addresses, in order.

    Parameters
    ----------
    urls : sequence of str
    secret : str
        Signs the bodies.
    pool : CampaignPool
        Where events are read.
    notifications : Notifications
        Says when there are new ones.
    pauses : sequence of float
        See `PAUSES`.
    transport : httpx.AsyncBaseTransport, optional
        Replaces the network, for tests.
    """

    def __init__(
        self,
        urls: Sequence[str],
        secret: str,
        pool: CampaignPool,
        notifications: Notifications,
        *,
        pauses: Sequence[float] = PAUSES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._urls, self._secret, self._pool, self._notifications = urls, secret, pool, notifications
        self._pauses = pauses
        self._http = httpx.AsyncClient(timeout=TIMEOUT, transport=transport, follow_redirects=False)
        self._sent: dict[str, int] = {}
        self._since = datetime.now(UTC)
        self._queues: dict[str, asyncio.Queue[bytes]] = {url: asyncio.Queue(MOST_WAITING) for url in urls}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to listen and to send, in the running event loop."""
        self._tasks = [asyncio.create_task(self._send(url, queue)) for url, queue in self._queues.items()]
        self._tasks.append(asyncio.create_task(self._listen()))

    async def close(self) -> None:
        """Stop; what is not sent yet is dropped."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.aclose()

    async def _listen(self) -> None:
        while not self._notifications.closed:
            news = self._notifications.any_event
            for name, number in self._notifications.numbers().items():
                if number > self._sent.get(name, 0):
                    with contextlib.suppress(CellworthError):  # read again with the next news
                        await self._read(name, number)
            await news.wait()

    async def _read(self, name: str, number: int) -> None:
        """Queue the events of a campaign up to a number."""
        known = self._sent.get(name)
        after = max(0, number - MOST_BEFORE) if known is None else known
        found = await self._pool.read(name, partial(Campaign.events, after=after))
        for event in found:
            if event.kind in KINDS and (known is not None or event.time >= self._since):
                self._queue(_body(name, event))
        self._sent[name] = max([number, *(event.number for event in found)])

    def _queue(self, body: bytes) -> None:
        for url, queue in self._queues.items():
            try:
                queue.put_nowait(body)
            except asyncio.QueueFull:
                log.warning("a webhook is too slow, an event was dropped: %s", _host(url))

    async def _send(self, url: str, queue: asyncio.Queue[bytes]) -> None:
        while True:
            body = await queue.get()
            headers = {"Content-Type": "application/json", SIGNATURE: signature(self._secret, body)}
            for pause in (*self._pauses, None):
                problem = await self._post(url, body, headers)
                if problem is None:
                    break
                if pause is None:
                    log.warning(
                        "a webhook did not take an event, it was dropped: %s, %s", _host(url), problem
                    )
                else:
                    await asyncio.sleep(pause)

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> str | None:
        try:
            answer = await self._http.post(url, content=body, headers=headers)
        except httpx.HTTPError as error:
            return type(error).__name__
        return None if answer.is_success else f"status {answer.status_code}"


def _body(name: str, event: Event) -> bytes:
    plain: dict[str, Any] = {
        "campaign": name,
        "number": event.number,
        "kind": event.kind,
        "time": event.time.isoformat(),
        "who": event.who,
        "cells": event.content.size,
    }
    return json.dumps(plain).encode("ascii")


def _host(url: str) -> str:
    return urlsplit(url).hostname or "?"
