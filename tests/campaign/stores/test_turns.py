"""A store lets one writer work alone, and one of several work out a round, while the others wait."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError
from cellworth.strategy.choose_batch import Adviser
from tests.campaign.campaigns import Clock, begin


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def stores(request):
    """Two openings of the same store."""
    if request.param == "memory":
        store = MemoryStore()
        yield store, store
        return
    url = request.getfixturevalue(f"{request.param}_url")
    both = open_store(url), open_store(url)
    yield both
    for each in both:
        each.close()


def test_the_others_wait(stores):
    mine, theirs = stores
    campaign = begin(store=mine, strategy="linear-impact")
    other = Campaign.open(theirs)
    waiting, order = threading.Event(), []

    def write():
        waiting.set()
        other.correct("p0", "dose", 1.5)
        order.append("theirs")

    thread = threading.Thread(target=write)
    with mine.alone("study"):
        thread.start()
        waiting.wait(10)
        campaign.correct("p1", "dose", 2.5)
        order.append("mine")
    thread.join(30)
    assert order == ["mine", "theirs"]
    assert [event["row"] for event in Campaign.open(mine).history()] == ["p1", "p0"]


def test_a_block_that_fails_has_written_nothing(stores):
    mine, theirs = stores
    begin(store=mine, strategy="linear-impact")
    with suppress(ZeroDivisionError), mine.alone("study"):
        Campaign.open(mine).correct("p1", "dose", 2.5)
        raise ZeroDivisionError
    assert theirs.events("study") == []
    with mine.alone("study"), pytest.raises(ConflictError):
        mine.append("study", 7, [])
    with pytest.raises(DataError, match="no campaign"), mine.alone("stdy"):
        pass
    Campaign.open(theirs).correct("p1", "dose", 2.5)
    assert len(mine.events("study")) == 1


HOLD_TURN = """
import sys, time
from cellworth.campaign.stores import open_store
with open_store(sys.argv[1]).turn("study", 0) as taken:
    print(taken, flush=True)
    time.sleep(60)
"""


def in_a_thread(work):
    """Run something in another thread, and return its result."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(60)


def got(store, patience):
    with store.turn("study", patience) as taken:
        return taken


def test_one_at_a_time_has_the_turn_at_the_rounds_and_others_write_meanwhile(stores):
    mine, theirs = stores
    begin(store=mine, strategy="linear-impact")
    with mine.turn("study", 0) as taken:
        assert taken
        assert not in_a_thread(lambda: got(theirs, 0.05))
        Campaign.open(theirs).correct("p1", "dose", 2.5)
    assert in_a_thread(lambda: got(theirs, 0.05))
    assert got(mine, 0)


def test_who_waits_gets_the_turn_once_it_ends(stores):
    mine, theirs = stores
    begin(store=mine, strategy="linear-impact")
    with ThreadPoolExecutor(1) as pool:
        with mine.turn("study", 0):
            waiting = pool.submit(lambda: got(theirs, 30))
            time.sleep(0.05)
            assert not waiting.done()
        assert waiting.result(30)


def test_a_killed_process_has_no_turn(url, opened):
    store = opened(url)
    begin(store=store, strategy="linear-impact")
    command = [sys.executable, "-c", HOLD_TURN, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "True\n"
        assert not got(store, 0)
        holder.kill()
    assert got(store, 10)


@contextmanager
def held_up():
    """Hold up the next completion; yield a wait for it to begin, and a call that lets it go on."""
    at_work, go_on = threading.Event(), threading.Event()
    complete = Adviser.complete

    def slowly(*arguments):
        at_work.set()
        assert go_on.wait(30)
        complete(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Adviser, "complete", slowly)

        def wait(then=complete):
            assert at_work.wait(30)
            patch.setattr(Adviser, "complete", then)

        yield wait, go_on.set


def rounds_asked(campaign):
    return [(e["round"], e["based_on"]) for e in campaign.history() if e["kind"] == "asked"]


def test_an_ask_waits_for_the_round_of_another_and_shares_it(stores):
    """Both need a new round: one works it out, and the other finds it in the store."""
    mine, theirs = stores
    first = begin(store=mine, strategy="linear-impact")
    first.correct("p1", "dose", 2.5)
    second = Campaign.open(theirs, clock=Clock())
    with held_up() as (wait, go_on), ThreadPoolExecutor(2) as pool:
        one = pool.submit(lambda: first.ask(count=2))
        wait(then=None)  # the second must not complete anything
        two = pool.submit(lambda: second.ask(count=2))
        time.sleep(0.2)
        assert not two.done()
        go_on()
        cells = [(p.row, p.column) for p in [*one.result(30), *two.result(30)]]
    assert len(set(cells)) == 4
    assert rounds_asked(second) == [(1, 1), (1, 1)]


def test_an_ask_rests_on_all_that_was_told_before_it(stores):
    """A round that began before a correction does not do for an ask after it."""
    mine, theirs = stores
    first = begin(store=mine, strategy="linear-impact")
    second = Campaign.open(theirs, clock=Clock())
    with held_up() as (wait, go_on), ThreadPoolExecutor(2) as pool:
        one = pool.submit(lambda: first.ask(count=2))
        wait()
        second.correct("p1", "dose", 2.5)
        two = pool.submit(lambda: second.ask(count=2))
        go_on()
        one.result(30)
        two.result(30)
    assert rounds_asked(second) == [(1, 0), (2, 1)]


def test_without_turns_an_ask_goes_on(sqlite_url, monkeypatch, opened):
    campaign = begin(store=opened(sqlite_url), strategy="linear-impact")

    def fail(*_):
        raise OSError("no locks here")

    monkeypatch.setattr("cellworth.campaign.stores.sqlite.take_lock", fail)
    assert len(campaign.ask(count=2)) == 2


def test_a_store_without_turns_will_do():
    class Plain(MemoryStore):
        turn = None

    assert len(begin(store=Plain(), strategy="linear-impact").ask(count=2)) == 2


def test_who_hangs_in_a_turn_holds_others_up_for_a_while_only(sqlite_url, opened, monkeypatch):
    monkeypatch.setattr("cellworth.campaign.rounds.LONGEST_WAIT", 0.1)
    campaign = begin(store=opened(sqlite_url), strategy="linear-impact")
    with opened(sqlite_url).turn("study", 0) as taken:
        assert taken
        assert len(campaign.ask(count=2)) == 2


def test_a_turn_outlives_the_connection_to_the_server(postgresql_url, opened):
    """The server ends the turn with the connection; whoever had it goes on, and others can have it."""
    import psycopg

    store = opened(postgresql_url)
    begin(store=store, strategy="linear-impact")
    with psycopg.connect(postgresql_url, autocommit=True) as manager:
        with store.turn("study", 0) as taken:
            assert taken
            manager.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cellworth'"
            )
            assert got(opened(postgresql_url), 10)
            assert len(Campaign.open(store, clock=Clock()).ask(count=2)) == 2
        assert got(store, 10)
