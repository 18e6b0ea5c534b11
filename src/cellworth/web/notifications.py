"""News of campaigns, for callers that wait for it, and as server-sent events for pages.

Everything here runs in one event loop: there are no locks, and no thread blocks.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

PAUSE = 0.3
"""Minimum seconds between messages: changes in between are sent together."""
HEARTBEAT = 15.0
"""Seconds after which a comment is sent if nothing is new, so that proxies keep the connection open."""


@dataclass
class Notification:
    """The latest news of one campaign.

    Attributes
    ----------
    number : int
        The number of the newest event known here.
    summaries : dict of str to int
        For each summary, the number of the event it describes.
    progress : dict of str to (float, float or None)
        For each summary that is being computed for the first time: how much is done, and the seconds left.
    version : int
        Increases with each change of those above.
    listeners : int
        Number of callers waiting for the next version.
    """

    number: int = 0
    summaries: dict[str, int] = field(default_factory=dict)
    progress: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    version: int = 0
    listeners: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def announce(self) -> None:
        """Wake all waiting callers."""
        self.version += 1
        # Current waiters hold the old event; later ones wait for the new one.
        self.changed.set()
        self.changed = asyncio.Event()


class Notifications:
    """The newest notification of each campaign, and a way to wait for the next."""

    def __init__(self) -> None:
        self._newest: defaultdict[str, Notification] = defaultdict(Notification)
        self.closed = False
        self.any_event = asyncio.Event()
        """Set with the next event of any campaign, or when closed; then replaced."""

    def numbers(self) -> dict[str, int]:
        """Return the number of the newest event of each campaign heard of."""
        return {name: each.number for name, each in self._newest.items() if each.number}

    def __getitem__(self, name: str) -> Notification:
        return self._newest[name]

    @property
    def listeners(self) -> int:
        """How many callers wait for news of any campaign."""
        return sum(each.listeners for each in self._newest.values())

    def event(self, name: str, number: int) -> None:
        """Announce that a campaign has reached this event; older numbers are ignored."""
        newest = self[name]
        if number > newest.number:
            newest.number = number
            newest.announce()
            self.any_event.set()
            self.any_event = asyncio.Event()

    def summary(self, name: str, what: str, number: int) -> None:
        """Announce that a summary was updated to this event."""
        self[name].progress.pop(what, None)
        self[name].summaries[what] = number
        self[name].announce()

    def progress(self, name: str, what: str, progress: tuple[float, float | None]) -> None:
        """Announce how much of a first summary is done, and about how many seconds are left."""
        self[name].progress[what] = progress
        self[name].announce()

    def close(self) -> None:
        """Release all waiting callers."""
        self.closed = True
        self.any_event.set()
        for newest in self._newest.values():
            newest.changed.set()

    async def wait(self, name: str, version: int, seconds: float) -> bool:
        """Wait up to ``seconds`` for a change since a version; return whether there was one."""
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
        """Yield news of a campaign as server-sent events, the first immediately, until closed.

        Each message is ``event: notification`` with JSON data: ``number``, that of the newest event, and
        ``summaries``, the number of the event each summary describes, and ``progress``, how much is done of
        those that are computed for the first time, with the seconds left.
        """
        yield "retry: 2000\n\n"
        version = -1
        while not self.closed:
            newest = self[name]
            if newest.version != version:
                version = newest.version
                data = {"number": newest.number, "summaries": newest.summaries, "progress": newest.progress}
                yield f"event: notification\nid: {newest.number}\ndata: {json.dumps(data)}\n\n"
                await asyncio.sleep(PAUSE)
            elif not await self.wait(name, version, HEARTBEAT):
                yield ": still here\n\n"
