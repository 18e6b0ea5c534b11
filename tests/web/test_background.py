"""The worker: jobs in order, errors in words, death and restart, and findings that are renewed."""

import asyncio
import os
import signal
import time

import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ComputationError, ConflictError, DataError
from cellworth.web import background as module
from cellworth.web.background import Background
from cellworth.web.news import News
from tests.campaign.campaigns import make_table
from tests.web import jobs
from tests.web.servers import begin, is_there, until

FINDINGS = {"count": jobs.count_runs, "never": jobs.raise_always, "dies": jobs.die}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    address = f"sqlite:///{tmp_path_factory.mktemp('background')}/study.db"
    begin(address, make_table())
    return address


@pytest.fixture(scope="module")
def play(url):
    """Run coroutine functions of one background: starting a worker takes seconds."""
    with asyncio.Runner() as runner:

        async def start():
            background = Background(url, FINDINGS, News())
            background.start()
            return background

        background = runner.run(start())
        yield lambda work: runner.run(asyncio.wait_for(work(background), 60))
        pid = background.worker
        runner.run(background.close())
    assert pid is None or not is_there(pid)


def test_a_job_runs_elsewhere_niced_and_with_one_thread(play):
    async def work(background):
        assert await background.run("study", jobs.add, 2, other=3) == ("study", 5)
        pid, niceness, threads = await background.run("study", jobs.process)
        assert (pid, niceness >= 10, threads) == (background.worker, True, "1")
        assert pid != os.getpid()
        assert len(await background.run("study", jobs.large, 300_000)) == 300_000

    play(work)


def test_errors_come_back_in_words(play):
    async def work(background):
        with pytest.raises(ConflictError, match="somebody was first"):
            await background.run("study", jobs.conflict)
        with pytest.raises(ComputationError, match="the server has noted why"):
            await background.run("study", jobs.fail)
        with pytest.raises(DataError, match="no campaign 'stuby'"):
            await background.run("stuby", jobs.add, 1)
        assert await background.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_a_worker_that_dies_fails_its_job_and_the_next_job_starts_another(play):
    async def work(background):
        (first, *_) = await background.run("study", jobs.process)
        with pytest.raises(ComputationError, match="Try again"):
            await background.run("study", jobs.die)
        (second, *_) = await background.run("study", jobs.process)
        assert second != first
        os.kill(background.worker, signal.SIGKILL)  # while it has nothing to do
        await asyncio.sleep(0.3)
        assert await background.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_what_people_wait_for_comes_before_findings(play, tmp_path):
    path = str(tmp_path / "order")

    async def work(background):
        first = asyncio.create_task(background.run("study", jobs.sleep, 0.5))
        await asyncio.sleep(0.1)
        later = [
            asyncio.create_task(background._submit(module.LATER, "study", jobs.note, (path, word)))
            for word in ("a", "b")
        ]
        await asyncio.sleep(0.05)
        await background.run("study", jobs.note, path, "urgent")
        await asyncio.gather(first, *later)

    play(work)
    assert (tmp_path / "order").read_text().split() == ["urgent", "a", "b"]


def test_findings_are_renewed_after_events_but_not_all_the_time(play, url, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.5)

    async def until_as_of(background, news, number):
        end = time.monotonic() + 20
        while (found := background.latest("study", "count")) is None or found[0] < number:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        return found

    async def work(background):
        news = background._news
        assert background.latest("study", "count") is None
        assert background.is_renewing("study", "count")
        number, data = await until_as_of(background, news, 0)
        assert (number, data["runs"]) == (0, 0)
        assert not background.is_renewing("study", "count")
        await asyncio.sleep(1.0)
        assert background.latest("study", "count")[1]["runs"] == 0  # nothing has happened since
        with Campaign.open(url) as campaign:
            for age in range(20, 30):  # a burst of events is one renewal, or two
                campaign.correct("p0", "age", age)
                news.event("study", campaign.number)
            last = campaign.number
        assert background.is_renewing("study", "count")
        number, data = await until_as_of(background, news, last)
        assert data["runs"] <= 3
        assert news["study"].findings["count"] == last

    play(work)


def test_a_finding_that_fails_is_tried_again_only_after_news(play, monkeypatch, caplog):
    monkeypatch.setattr(module, "LONG_PAUSE", 0.1)
    monkeypatch.setattr(module, "PAUSE", 0.1)

    async def work(background):
        background.latest("study", "never")
        until_said = time.monotonic() + 20
        while "could not be found" not in caplog.text:
            assert time.monotonic() < until_said
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        assert caplog.text.count("could not be found") == 1
        assert background.error("study", "never") == "never"
        assert not background.is_renewing("study", "never")
        background._news.event("study", background._news["study"].number + 1)
        while caplog.text.count("could not be found") < 2:
            assert time.monotonic() < until_said
            await asyncio.sleep(0.05)
        assert background.latest("study", "never") is None

    play(work)


def test_a_worker_that_dies_over_a_finding_is_no_end_of_it(play, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.1)

    async def work(background):
        background.latest("study", "dies")
        while background.error("study", "dies") is None:
            await asyncio.sleep(0.05)
        assert background.latest("study", "dies") is None
        assert "Try again" in background.error("study", "dies")
        assert await background.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_closing_ends_a_busy_worker_and_lets_go_who_waits(play):
    """The last test of this background."""

    async def work(background):
        await background.run("study", jobs.add, 1)
        pid = background.worker
        tasks = [asyncio.create_task(background.run("study", jobs.sleep, 60)) for _ in range(3)]
        await asyncio.sleep(0.3)
        await background.close()
        for task in tasks:
            with pytest.raises(ComputationError, match="closing"):
                await task
        with pytest.raises(ComputationError, match="closing"):
            await background.run("study", jobs.add, 1)
        until(lambda: not is_there(pid), 5)

    play(work)
