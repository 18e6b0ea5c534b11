"""Who waits hears of every change, once, and is let go in the end."""

import asyncio
import json

from cellworth.web import notifications as module
from cellworth.web.notifications import Notifications


def test_who_waits_is_woken_by_newer_events_only():
    async def work():
        news = Notifications()
        news.event("study", 3)
        version = news["study"].version
        waiting = asyncio.create_task(news.wait("study", version, 10))
        await asyncio.sleep(0)
        assert news["study"].listeners == 1
        news.event("study", 2)
        news.event("other", 9)
        await asyncio.sleep(0)
        assert not waiting.done()
        news.event("study", 4)
        assert await waiting
        assert (news["study"].number, news["study"].listeners) == (4, 0)
        assert await news.wait("study", version, 10)  # who comes late need not wait
        assert not await news.wait("study", news["study"].version, 0.01)

    asyncio.run(work())


def test_a_stream_tells_the_newest_at_once_and_ends_when_closed(monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0)
    monkeypatch.setattr(module, "HEARTBEAT", 0.01)

    async def work():
        news = Notifications()
        news.event("study", 3)
        stream = news.stream("study")
        assert (await anext(stream)).startswith("retry:")
        first = await anext(stream)
        assert first.startswith("event: notification\nid: 3\n")
        assert await anext(stream) == ": still here\n\n"
        news.summary("study", "overview", 3)
        told = json.loads((await anext(stream)).rpartition("data: ")[2])
        assert told == {"number": 3, "summaries": {"overview": 3}, "progress": {}}
        news.close()
        assert [message async for message in stream if not message.startswith(":")] == []

    asyncio.run(work())
