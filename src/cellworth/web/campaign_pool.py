"""The open campaigns of a store, shared by concurrent requests."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread

from cellworth.campaign import Campaign
from cellworth.campaign.stores import Store, open_store
from cellworth.errors import DataError, UnknownCampaignError
from cellworth.messages import did_you_mean, shorten
from cellworth.prices import Prices
from cellworth.setting_names import in_this_language
from cellworth.table import Table
from cellworth.web.notifications import Notifications

Result = TypeVar("Result")
log = logging.getLogger("cellworth.web")

THREADS = 8
"""Most concurrent campaign calls and upload reads."""
POLL_SECONDS = 1.0
"""Seconds between polls of the store for events written by other programs."""
IDLE_POLLS = 3
"""Polling stops after this many polls without a listener."""
AT_ONCE = 16
"""Most calls a thread makes in one go: switching threads costs as much as a small call."""

_Waiting = tuple[Callable[[Campaign], Any], "asyncio.Future[Any]"]


class _Slots(NamedTuple):
    reading: _Slot
    writing: _Slot


class CampaignPool:
    """Keeps the campaigns of a store open, and runs functions on them in threads.

    Each campaign is opened twice, once for readers and once for writers, so that readers do not wait for
    answers to reach the disk. Each of the two serves one call at a time; waiting calls hold no thread. A
    call costs O(new events) plus its function. Use `cellworth.web.jobs.JobQueue` for long computations.

    Parameters
    ----------
    store : str or Path
        The address of the store.
    notifications : Notifications, optional
        Announces new events.
    """

    def __init__(self, store: str | Path, notifications: Notifications | None = None) -> None:
        self.notifications = Notifications() if notifications is None else notifications
        self._store: Store = open_store(store)
        self._slots: dict[str, _Slots] = {}
        self._threads = anyio.CapacityLimiter(THREADS)
        self._watchers: dict[str, asyncio.Task[None]] = {}

    async def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        return await self.in_thread(self._store.names)

    async def read(self, name: str, function: Callable[[Campaign], Result]) -> Result:
        """Run ``function(campaign)``, which must not write, in a thread and return its result.

        It sees everything written before the call, and nothing newer while it runs, so that all that it reads
        fits together. Raises UnknownCampaignError if there is no such campaign.
        """
        return await (await self._slots_of(name)).reading.call(function)

    async def write(self, name: str, function: Callable[[Campaign], Result]) -> Result:
        """Like `read`, for a function that writes."""
        return await (await self._slots_of(name)).writing.call(function)

    async def create(
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
        """Create a campaign in the store; see `Campaign.create`."""
        settings: dict[str, Any] = {"prices": prices, "strategy": strategy, "budget": budget, "seed": seed}
        create = partial(Campaign.create, table, store=self._store, name=name, who=who, **settings)
        await self.in_thread(create)

    async def rename(self, name: str, new: str) -> None:
        """Give a campaign another name, once no call is running on it; see `Store.rename`."""
        await self._check_known(name)
        await self._forget(name)
        await self.in_thread(partial(self._store.rename, name, new))
        await self._forget(name)  # somebody may have asked for it meanwhile

    async def _forget(self, name: str) -> None:
        watcher, slots = self._watchers.pop(name, None), self._slots.pop(name, None)
        if watcher is not None:
            watcher.cancel()
        for slot in slots or ():
            await slot.close()

    async def in_thread(self, function: Callable[[], Result]) -> Result:
        """Run a function that needs no campaign in a thread."""
        return await anyio.to_thread.run_sync(function, limiter=self._threads)

    async def number(self, name: str) -> int:
        """Return the number of the newest event; O(new events)."""
        return await self.read(name, lambda campaign: campaign.number)

    async def watch(self, name: str) -> None:
        """Poll the store for events from other programs while anyone listens to the notifications.

        The store is polled once a second, however many listeners there are.
        """
        await self.number(name)
        if name not in self._watchers or self._watchers[name].done():
            self._watchers[name] = asyncio.create_task(self._poll(name))

    async def close(self) -> None:
        """Close the store once no call is running."""
        for watcher in self._watchers.values():
            watcher.cancel()
        await asyncio.gather(*self._watchers.values(), return_exceptions=True)
        for slots in self._slots.values():
            await slots.reading.close()
            await slots.writing.close()
        await self.in_thread(self._store.close)

    async def _poll(self, name: str) -> None:
        idle = 0
        while not self.notifications.closed and idle < IDLE_POLLS:
            await asyncio.sleep(POLL_SECONDS)
            idle = 0 if self.notifications[name].listeners else idle + 1
            try:
                await self.number(name)
            except DataError as error:  # the store is temporarily unavailable
                log.warning("campaign %r could not be read: %s", name, error)

    async def _slots_of(self, name: str) -> _Slots:
        if name not in self._slots:
            await self._check_known(name)
            parts = (self._store, name, self._threads, self.notifications)
            self._slots.setdefault(name, _Slots(_Slot(*parts, reads=True), _Slot(*parts, reads=False)))
        return self._slots[name]

    async def _check_known(self, name: str) -> None:
        names = await self.names()
        if name not in names:
            raise UnknownCampaignError(f"There is no campaign {shorten(name)}.{did_you_mean(name, names)}")


class _Slot:
    """One `Campaign` object, opened on the first call, and the calls waiting for it.

    A thread runs only while calls are waiting. A call cancelled while waiting is skipped; a running one
    finishes. Calls that read and have waited for each other share one look at the store.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        threads: anyio.CapacityLimiter,
        notifications: Notifications,
        *,
        reads: bool,
    ) -> None:
        self._store = store
        self._name = name
        self._threads = threads
        self._notifications = notifications
        self._reads = reads
        self._campaign: Campaign | None = None
        self._waiting: deque[_Waiting] = deque()
        self._task: asyncio.Task[None] | None = None

    async def call(self, function: Callable[[Campaign], Result]) -> Result:
        """Run ``function(campaign)`` in a thread, after all earlier calls."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((in_this_language(function), future))
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """Wait until all calls are done."""
        if self._task is not None:
            await self._task

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                some = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                await anyio.to_thread.run_sync(partial(self._run, loop, some), limiter=self._threads)
        finally:
            self._task = None

    def _run(self, loop: asyncio.AbstractEventLoop, some: list[_Waiting]) -> None:
        """Make the calls, in a thread; pass each result on immediately."""
        try:
            if self._campaign is None:
                self._campaign = Campaign.open(self._store, self._name)
            with self._campaign.at_one_moment() if self._reads else nullcontext():
                for function, future in some:
                    if future.cancelled():
                        continue
                    try:
                        settle = partial(_give, future, function(self._campaign))
                    except Exception as error:
                        settle = partial(_fail, future, error)
                    loop.call_soon_threadsafe(self._pass_on, settle, self._campaign.last_read)
        except Exception as error:  # the store cannot be read
            for _, future in some:
                loop.call_soon_threadsafe(self._pass_on, partial(_fail, future, error), 0)

    def _pass_on(self, settle: Callable[[], None], number: int) -> None:
        self._notifications.event(self._name, number)
        settle()


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
