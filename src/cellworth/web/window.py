"""One campaign object, used by one request after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from cellworth.campaign import Campaign
from cellworth.campaign.stores import Store
from cellworth.web.news import News

Result = TypeVar("Result")
Waiting = tuple[Callable[[Campaign], Any], "asyncio.Future[Any]"]

AT_ONCE = 16
"""Most functions that are run in one go: changing threads costs as much as a small one of them."""


class Window:
    """A `Campaign`, opened at the first call, and those who wait to use it.

    A thread runs only while somebody waits. A request that is given up while it waits is passed over; one
    that runs is run to its end.

    Parameters
    ----------
    store : Store
    name : str
    threads : anyio.CapacityLimiter
        Of the threads that all windows share.
    news : News
        Hears of new events.
    """

    def __init__(self, store: Store, name: str, threads: anyio.CapacityLimiter, news: News) -> None:
        self._store = store
        self._name = name
        self._threads = threads
        self._news = news
        self._campaign: Campaign | None = None
        self._waiting: deque[Waiting] = deque()
        self._task: asyncio.Task[None] | None = None

    async def call(self, function: Callable[[Campaign], Result]) -> Result:
        """Run ``function(campaign)`` in a thread, after those who came before."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((function, future))
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """Wait until nobody waits any more."""
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

    def _run(self, loop: asyncio.AbstractEventLoop, some: list[Waiting]) -> None:
        """Run the functions, in a thread; each result is passed on at once."""
        for function, future in some:
            if future.cancelled():
                continue
            try:
                if self._campaign is None:
                    self._campaign = Campaign.open(self._store, self._name)
                settle = partial(_give, future, function(self._campaign))
            except Exception as error:
                settle = partial(_fail, future, error)
            number = 0 if self._campaign is None else self._campaign.last_read
            loop.call_soon_threadsafe(self._pass_on, settle, number)

    def _pass_on(self, settle: Callable[[], None], number: int) -> None:
        self._news.event(self._name, number)
        settle()


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
