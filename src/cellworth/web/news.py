"""What has happened in campaigns, for those who wait to hear of it.

All of it belongs to one event loop: nothing here is locked, and no thread waits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Bulletin:
    """The newest of one campaign.

    Attributes
    ----------
    number : int
        Of the newest event that was heard of.
    findings : dict of str to int
        For each finding, the number of the event that it is as of.
    version : int
        Grows with each piece of news.
    listeners : int
        How many wait.
    """

    number: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    version: int = 0
    listeners: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)


class News:
    """A bulletin for each campaign, and the means to wait for the next."""

    def __init__(self) -> None:
        self._bulletins: defaultdict[str, Bulletin] = defaultdict(Bulletin)
        self.closed = False

    def __getitem__(self, name: str) -> Bulletin:
        return self._bulletins[name]

    def names(self) -> list[str]:
        """Return the campaigns that there was news of."""
        return list(self._bulletins)

    def event(self, name: str, number: int) -> None:
        """Say that a campaign has come to this event; older news is passed over."""
        bulletin = self[name]
        if number > bulletin.number:
            bulletin.number = number
            self._announce(bulletin)

    def finding(self, name: str, what: str, number: int) -> None:
        """Say that a finding was renewed, as of this event."""
        self[name].findings[what] = number
        self._announce(self[name])

    def close(self) -> None:
        """Let everybody go who waits."""
        self.closed = True
        for bulletin in self._bulletins.values():
            bulletin._changed.set()

    async def wait(self, name: str, version: int, seconds: float) -> bool:
        """Wait for news after a version, at most so long; say whether there is any."""
        bulletin = self[name]
        if bulletin.version == version and not self.closed:
            bulletin.listeners += 1
            try:
                await asyncio.wait_for(bulletin._changed.wait(), seconds)
            except TimeoutError:
                pass
            finally:
                bulletin.listeners -= 1
        return bulletin.version != version

    @staticmethod
    def _announce(bulletin: Bulletin) -> None:
        bulletin.version += 1
        # Those who wait hold the old event; whoever comes later waits for the next one.
        bulletin._changed.set()
        bulletin._changed = asyncio.Event()
