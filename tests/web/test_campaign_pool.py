"""Many requests at one pool of campaigns."""

import asyncio
import time

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.log import Log
from cellworth.errors import UnknownCampaignError
from cellworth.web.campaign_pool import AT_ONCE, CampaignPool
from tests.campaign.campaigns import VALUES, make_table


def play(url, work):
    async def main():
        pool = CampaignPool(url)
        try:
            return await asyncio.wait_for(work(pool), 60)
        finally:
            await pool.close()

    return asyncio.run(main())


def test_nothing_is_lost_when_all_answer_at_once(url):
    with Campaign.open(url) as campaign:
        batch = campaign.ask(count=30, lease=None)

    async def work(pool):
        async def answer(purchase):
            value = VALUES[purchase.column]
            return await pool.write(
                "study", lambda c: c.tell([(purchase.row, purchase.column, value)], who="Ann")
            )

        new = await asyncio.gather(*map(answer, batch))
        assert new == [1] * 30
        assert pool.notifications["study"].number == 31
        return await pool.read("study", lambda c: c.totals().bought)

    assert play(url, work) == 30
    with Campaign.open(url) as campaign:
        assert campaign.totals().bought == 30


def test_what_others_write_is_seen_and_a_watcher_hears_of_it(url):
    async def work(pool):
        await pool.watch("study")
        await asyncio.sleep(0.1)
        tasks = len(asyncio.all_tasks())
        await pool.watch("study")
        await asyncio.sleep(0.1)
        assert len(asyncio.all_tasks()) == tasks  # one poll for all who listen
        seen = pool.notifications["study"].version  # the poll may see the batch before ask returns
        with Campaign.open(url) as campaign:
            await asyncio.to_thread(campaign.ask, count=1)
        assert await pool.notifications.wait("study", seen, 10)
        assert pool.notifications["study"].number == 1
        assert await pool.number("study") == 1

    play(url, work)


def test_an_error_frees_the_campaign_and_a_new_campaign_is_found(url):
    async def work(pool):
        with pytest.raises(UnknownCampaignError, match="Did you mean 'study'"):
            await pool.read("stuby", lambda c: c.left)
        with pytest.raises(ZeroDivisionError):
            await pool.read("study", lambda c: 1 / 0)
        assert await pool.read("study", lambda c: c.left) == 50.0
        await pool.create(make_table(12), name="stuby", who="Ann")
        assert await pool.names() == ["stuby", "study"]
        assert await pool.read("stuby", lambda c: c.left) is None

    play(url, work)


def test_a_request_that_is_given_up_runs_to_its_end_and_one_that_waits_is_passed_over(url):
    async def work(pool):
        inside = []

        def slow(campaign):
            inside.append("in")
            time.sleep(0.4)
            inside.append("out")

        running = asyncio.create_task(pool.write("study", slow))
        await asyncio.sleep(0.2)
        waiting = asyncio.create_task(pool.write("study", lambda c: inside.append("never")))
        await asyncio.sleep(0.05)
        running.cancel()
        waiting.cancel()
        await pool.read("study", lambda c: inside.append("read"))  # does not wait for who writes
        await pool.write("study", lambda c: inside.append("next"))
        assert inside == ["in", "read", "out", "next"]

    play(url, work)


def test_who_has_written_reads_it_at_once(url):
    async def work(pool):
        async def write_and_read(i):
            row = f"new {i}"
            await pool.write("study", lambda c: c.extend({row: {"age": i}}))
            return await pool.read("study", lambda c: c.row(row).cells[1].value)

        assert await asyncio.gather(*map(write_and_read, range(30))) == list(range(30))

    play(url, work)


def test_readers_that_wait_together_look_at_the_store_once(url, monkeypatch):
    """A look at the store costs as much as a small reading; all that wait together may share it."""
    looks = []
    refresh = Log.refresh
    monkeypatch.setattr(Log, "refresh", lambda log: (looks.append(log), refresh(log))[1])

    async def work(pool):
        await pool.number("study")
        looks.clear()
        found = await asyncio.gather(
            *(pool.read("study", lambda c: c.totals().number) for _ in range(AT_ONCE))
        )
        shared = len(looks)
        with Campaign.open(url) as campaign:
            campaign.ask(count=1)
        return found, shared, await pool.number("study")

    found, shared, newest = play(url, work)
    assert shared <= 2
    assert set(found) == {newest - 1}
