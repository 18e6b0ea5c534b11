"""The open campaigns of one store, for many requests at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread

from cellworth.campaign import Campaign
from cellworth.campaign.stores import Store, open_store
from cellworth.errors import DataError, UnknownCampaignError
from cellworth.prices import Prices
from cellworth.table import Table
from cellworth.web.news import News
from cellworth.web.window import Window
from cellworth.wording import did_you_mean, shorten

Result = TypeVar("Result")
log = logging.getLogger("cellworth.web")

THREADS = 8
"""Most campaigns that are worked on at the same time, and most uploads that are read."""
LOOK_EVERY = 1.0
"""Seconds between two looks into the store for what other programs have written."""
IDLE_LOOKS = 3
"""Looks without a listener after which there are no more."""


class _Windows(NamedTuple):
    reading: Window
    writing: Window


class Desk:
    """Keeps the campaigns of a store open, and lets requests work on them, in threads.

    Each campaign is opened twice, once for those who read and once for those who write: who reads does not
    wait until an answer is on the disk. At each of the two windows one request is served at a time; those
    that wait hold no thread. A call costs O(new events) and what its function does. A function that takes
    long belongs to `cellworth.web.background.Background`.

    Parameters
    ----------
    store : str or Path
        The address of the store.
    news : News, optional
        Hears of new events.
    """

    def __init__(self, store: str | Path, news: News | None = None) -> None:
        self.url = store
        self.news = News() if news is None else news
        self._store: Store = open_store(store)
        self._windows: dict[str, _Windows] = {}
        self._threads = anyio.CapacityLimiter(THREADS)
        self._watchers: dict[str, asyncio.Task[None]] = {}

    async def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        return await self.aside(self._store.names)

    async def read(self, name: str, function: Callable[[Campaign], Result]) -> Result:
        """Run ``function(campaign)`` in a thread and return what it returns; it must not write.

        Whatever was written before is seen.

        Raises
        ------
        UnknownCampaignError
        """
        return await (await self._windows_of(name)).reading.call(function)

    async def write(self, name: str, function: Callable[[Campaign], Result]) -> Result:
        """As `read`, for a function that writes."""
        return await (await self._windows_of(name)).writing.call(function)

    async def begin(
        self,
        table: Table,
        *,
        name: str,
        prices: Prices | None = None,
        strategy: str = "recommended",
        budget: float | None = None,
        seed: int = 0,
        who: str | None = None,
    ) -> None:
        """Begin a campaign in the store; see `Campaign.create`."""
        settings: dict[str, Any] = {"prices": prices, "strategy": strategy, "budget": budget, "seed": seed}
        await self.aside(partial(Campaign.create, table, store=self._store, name=name, who=who, **settings))

    async def aside(self, function: Callable[[], Result]) -> Result:
        """Run a function that needs no campaign in a thread."""
        return await anyio.to_thread.run_sync(function, limiter=self._threads)

    async def number(self, name: str) -> int:
        """Return the number of the newest event; O(new events)."""
        return await self.read(name, lambda campaign: campaign.number)

    async def watch(self, name: str) -> None:
        """Look into the store for news of other programs as long as somebody listens to the `news`.

        However many listen, there is one look a second.
        """
        await self.number(name)
        if name not in self._watchers or self._watchers[name].done():
            self._watchers[name] = asyncio.create_task(self._look(name))

    async def close(self) -> None:
        """Let go of the store, once nobody works on it."""
        for watcher in self._watchers.values():
            watcher.cancel()
        await asyncio.gather(*self._watchers.values(), return_exceptions=True)
        for windows in self._windows.values():
            await windows.reading.close()
            await windows.writing.close()
        await self.aside(self._store.close)

    async def _look(self, name: str) -> None:
        idle = 0
        while not self.news.closed and idle < IDLE_LOOKS:
            await asyncio.sleep(LOOK_EVERY)
            idle = 0 if self.news[name].listeners else idle + 1
            try:
                await self.number(name)
            except DataError as error:  # a store that is away for a while
                log.warning("campaign %r could not be looked at: %s", name, error)

    async def _windows_of(self, name: str) -> _Windows:
        if name not in self._windows:
            await self._check_known(name)
            reading, writing = (Window(self._store, name, self._threads, self.news) for _ in range(2))
            self._windows.setdefault(name, _Windows(reading, writing))
        return self._windows[name]

    async def _check_known(self, name: str) -> None:
        names = await self.names()
        if name not in names:
            raise UnknownCampaignError(f"There is no campaign {shorten(name)}.{did_you_mean(name, names)}")
