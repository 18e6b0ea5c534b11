"""The worker: jobs in order, errors in words, death and restart, and summaries that are renewed."""

import asyncio
import os
import signal
import time

import pytest

from cellworth.campaign import Campaign
from cellworth.errors import ComputationError, ConflictError, DataError
from cellworth.web import jobs as module
from cellworth.web import worker
from cellworth.web.jobs import JobQueue, WorkDone
from cellworth.web.notifications import Notifications
from tests.campaign.campaigns import make_table
from tests.web import jobs
from tests.web.servers import begin, is_there, until

SUMMARIES = {"count": jobs.count_runs, "never": jobs.raise_always, "dies": jobs.die, "slow": jobs.slow}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    address = f"sqlite:///{tmp_path_factory.mktemp('jobs')}/study.db"
    begin(address, make_table())
    return address


@pytest.fixture(autouse=True, scope="module")
def worker_as_it_is():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WORKER", worker.__name__)
        patch.setenv("OMP_NUM_THREADS", "2")  # the worker takes one nevertheless
        yield


@pytest.fixture(scope="module")
def play(url):
    """Run coroutine functions of one job queue: starting a worker takes seconds."""
    with asyncio.Runner() as runner:

        async def start():
            queue = JobQueue(url, SUMMARIES, Notifications())
            queue.start()
            return queue

        queue = runner.run(start())
        yield lambda work: runner.run(asyncio.wait_for(work(queue), 300))
        pid = queue.worker
        runner.run(queue.close())
    assert pid is None or not is_there(pid)


def test_a_job_runs_elsewhere_niced_and_with_one_thread(play):
    async def work(queue):
        assert await queue.run("study", jobs.add, 2, other=3) == ("study", 5)
        pid, niceness, threads = await queue.run("study", jobs.process)
        assert (pid, niceness >= 10, threads) == (queue.worker, True, "1")
        assert pid != os.getpid()
        assert len(await queue.run("study", jobs.large, 300_000)) == 300_000

    play(work)


def test_a_job_ends_with_its_caller_if_it_says_so(play):
    async def work(queue):
        await queue.run("study", jobs.add, 1)
        pid = queue.worker
        tasks = [asyncio.create_task(queue.run_while_wanted("study", jobs.sleep, 1000)) for _ in range(2)]
        await asyncio.sleep(0.2)
        for task in reversed(tasks):  # the one that waits, and the one that runs
            task.cancel()
        assert await queue.run("study", jobs.add, 1) == ("study", 1)
        assert queue.worker != pid
        assert not is_there(pid)
        assert await queue.run_while_wanted("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_errors_come_back_in_words(play):
    async def work(queue):
        with pytest.raises(ConflictError, match="somebody was first"):
            await queue.run("study", jobs.conflict)
        with pytest.raises(ComputationError, match="the error was logged"):
            await queue.run("study", jobs.fail)
        with pytest.raises(DataError, match="no campaign 'stuby'"):
            await queue.run("stuby", jobs.add, 1)
        assert await queue.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_a_worker_that_dies_fails_its_job_and_the_next_job_starts_another(play):
    async def work(queue):
        (first, *_) = await queue.run("study", jobs.process)
        with pytest.raises(ComputationError, match="Try again"):
            await queue.run("study", jobs.die)
        (second, *_) = await queue.run("study", jobs.process)
        assert second != first
        os.kill(queue.worker, signal.SIGKILL)  # while it has nothing to do
        await asyncio.sleep(0.3)
        assert await queue.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_what_people_wait_for_comes_before_summaries(play):
    async def work(queue):
        first = asyncio.create_task(queue.run("study", jobs.sleep, 0.8))
        await asyncio.sleep(0.1)
        queue.latest("study", "slow")
        await asyncio.sleep(0.5)  # by now it waits for its turn
        assert await queue.run("study", jobs.add, 1) == ("study", 1)
        assert queue.latest("study", "slow") is None
        await first

    play(work)


def test_summaries_are_renewed_after_events_but_not_all_the_time(play, url, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.5)

    async def until_as_of(queue, number):
        end = time.monotonic() + 20
        while (found := queue.latest("study", "count")) is None or found[0] < number:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        return found

    async def work(queue):
        notifications = queue.notifications
        assert queue.latest("study", "count") is None
        assert queue.is_renewing("study", "count")
        number, data = await until_as_of(queue, 0)
        assert (number, data["runs"]) == (0, 0)
        assert not queue.is_renewing("study", "count")
        await asyncio.sleep(1.0)
        assert queue.latest("study", "count")[1]["runs"] == 0  # nothing has happened since
        with Campaign.open(url) as campaign:
            for age in range(20, 30):  # a burst of events is one renewal, or two
                campaign.correct("p0", "age", age)
                notifications.event("study", campaign.number)
            last = campaign.number
        assert queue.is_renewing("study", "count")
        number, data = await until_as_of(queue, last)
        assert data["runs"] <= 3
        assert notifications["study"].summaries["count"] == last

    play(work)


def test_a_summary_that_fails_is_tried_again_only_after_an_event(play, monkeypatch, caplog):
    monkeypatch.setattr(module, "LONG_PAUSE", 0.1)
    monkeypatch.setattr(module, "PAUSE", 0.1)

    async def work(queue):
        queue.latest("study", "never")
        until_said = time.monotonic() + 20
        while "could not be computed" not in caplog.text:
            assert time.monotonic() < until_said
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        assert caplog.text.count("could not be computed") == 1
        assert queue.error("study", "never") == "never"
        assert queue.notifications["study"].summaries["never"] == module.FAILED  # pages that wait hear of it
        assert not queue.is_renewing("study", "never")
        queue.notifications.event("study", queue.notifications["study"].number + 1)
        while caplog.text.count("could not be computed") < 2:
            assert time.monotonic() < until_said
            await asyncio.sleep(0.05)
        assert queue.latest("study", "never") is None

    play(work)


def test_a_worker_that_dies_over_a_summary_is_no_end_of_it(play, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.1)

    async def work(queue):
        queue.latest("study", "dies")
        while queue.error("study", "dies") is None:
            await asyncio.sleep(0.05)
        assert queue.latest("study", "dies") is None
        assert "Try again" in queue.error("study", "dies")
        assert await queue.run("study", jobs.add, 1) == ("study", 1)

    play(work)


def test_closing_ends_a_busy_worker_and_releases_who_waits(play):
    """The last test of this job queue."""

    async def work(queue):
        await queue.run("study", jobs.add, 1)
        pid = queue.worker
        tasks = [asyncio.create_task(queue.run("study", jobs.sleep, 60)) for _ in range(3)]
        await asyncio.sleep(0.3)
        await queue.close()
        for task in tasks:
            with pytest.raises(ComputationError, match="shutting down"):
                await task
        with pytest.raises(ComputationError, match="shutting down"):
            await queue.run("study", jobs.add, 1)
        until(lambda: not is_there(pid), 5)

    play(work)


def test_a_sample_comes_before_the_first_summary(url):
    async def look():
        queue = JobQueue(url, {"slow": jobs.slow}, first_looks={"slow": jobs.sample})
        queue.start()
        try:
            assert queue.latest("study", "slow") is None
            queue.notifications.event("study", 1)
            await soon(lambda: queue.sample("study", "slow"))
            assert queue.sample("study", "slow") == {"rows": 1}
            assert queue.latest("study", "slow") is None
            await soon(lambda: (queue.progress("study", "slow") or WorkDone(0, None)).seconds_left)
            done, left = queue.progress("study", "slow")
            assert done == 0.5  # as the job says
            assert left > 0.3  # as long again as it has taken so far
            assert queue.notifications["study"].progress["slow"][0] == 0.5
            assert queue.notifications["study"].summaries["slow"] == module.SAMPLED
            await soon(lambda: queue.latest("study", "slow"))
            assert queue.progress("study", "slow") is None
            assert queue.notifications["study"].progress == {}
        finally:
            await queue.close()

    async def soon(found):
        for _ in range(1200):
            if found() is not None:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("it did not come")

    asyncio.run(look())
