"""What is new in campaigns, for those who wait to hear of it, and as server-sent events for pages.

All of it belongs to one event loop: nothing here is locked, and no thread waits.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

PAUSE = 0.3
"""Seconds at least between two messages: what comes in between is sent together."""
HEARTBEAT = 15.0
"""Seconds after which a line is sent even if nothing is new, so that proxies keep the connection open."""


@dataclass
class Notification:
    """The newest of one campaign.

    Attributes
    ----------
    number : int
        Of the newest event that is known here.
    summaries : dict of str to int
        For each summary, the number of the event that it is as of.
    version : int
        Grows with each change of the two above.
    listeners : int
        How many are waiting for the next version.
    """

    number: int = 0
    summaries: dict[str, int] = field(default_factory=dict)
    version: int = 0
    listeners: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def announce(self) -> None:
        """Wake those who wait."""
        self.version += 1
        # Those who wait hold the old event; whoever comes later waits for the next one.
        self.changed.set()
        self.changed = asyncio.Event()


class Notifications:
    """The newest notification of each campaign, and the means to wait for the next."""

    def __init__(self) -> None:
        self._newest: defaultdict[str, Notification] = defaultdict(Notification)
        self.closed = False

    def __getitem__(self, name: str) -> Notification:
        return self._newest[name]

    def event(self, name: str, number: int) -> None:
        """Announce that a campaign has come to this event; older numbers are ignored."""
        newest = self[name]
        if number > newest.number:
            newest.number = number
            newest.announce()

    def summary(self, name: str, what: str, number: int) -> None:
        """Announce that a summary was renewed, as of this event."""
        self[name].summaries[what] = number
        self[name].announce()

    def close(self) -> None:
        """Release everybody who waits."""
        self.closed = True
        for newest in self._newest.values():
            newest.changed.set()

    async def wait(self, name: str, version: int, seconds: float) -> bool:
        """Wait up to ``seconds`` for a change after a version; say whether there was one."""
        newest = self[name]
        if newest.version == version and not self.closed:
            newest.listeners += 1
            try:
                await asyncio.wait_for(newest.changed.wait(), seconds)
            except TimeoutError:
                pass
            finally:
                newest.listeners -= 1
        return newest.version != version

    async def stream(self, name: str) -> AsyncIterator[str]:
        """Yield what is new in a campaign as server-sent events, the first at once, until closed.

        Each message is ``event: notification`` with JSON: ``number`` of the newest event, and ``summaries``,
        for each the number of the event that it is as of.
        """
        yield "retry: 2000\n\n"
        version = -1
        while not self.closed:
            newest = self[name]
            if newest.version != version:
                version = newest.version
                data = {"number": newest.number, "summaries": newest.summaries}
                yield f"event: notification\nid: {newest.number}\ndata: {json.dumps(data)}\n\n"
                await asyncio.sleep(PAUSE)
            elif not await self.wait(name, version, HEARTBEAT):
                yield ": still here\n\n"
