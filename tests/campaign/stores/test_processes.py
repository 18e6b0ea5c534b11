"""Several processes on one store, and processes that die: what was acknowledged is kept, once."""

import multiprocessing
import time
from collections import defaultdict

import numpy as np

from cellworth.testing.store_contract import make_events, make_record
from tests.campaign.stores.writers import append_after_fork, append_many, append_until_killed
from tests.forked import processes

WRITERS, EVENTS = 8, 100
KILLS = 30


def test_many_writers_leave_every_event_once(url, opened):
    writers = [processes.Process(target=append_many, args=(url, i, EVENTS)) for i in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    events = opened(url).events("study")
    assert [event.number for event in events] == list(range(1, WRITERS * EVENTS + 1))
    orders = defaultdict(list)
    for event in events:
        writer, number = event.key.split()
        orders[int(writer)].append(int(number))
    assert orders == {writer: list(range(EVENTS)) for writer in range(WRITERS)}


def test_killed_writers_lose_nothing_that_was_acknowledged(url, opened):
    rng = np.random.default_rng(0)
    store = opened(url)
    store.create(make_record("study"))
    acknowledged = set()
    for kill in range(KILLS):
        here, there = processes.Pipe(duplex=False)
        writer = processes.Process(target=append_until_killed, args=(url, kill, there))
        writer.start()
        there.close()
        acknowledged.add((kill, here.recv()))
        time.sleep(rng.uniform(0, 0.03))
        writer.kill()
        writer.join()
        try:
            while True:
                acknowledged.add((kill, here.recv()))
        except EOFError:
            here.close()
        store.append("study", len(store.events("study")), make_events(len(store.events("study")), None))
    check_pairs(store.events("study"), acknowledged)
    check_pairs(opened(url).events("study"), acknowledged)


def check_pairs(events, acknowledged):
    """Check that pairs are whole, none is there twice, and all that was acknowledged is there.

    One more per writer may be there: it was kept, and the writer died before it could say so.
    """
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    keys = [event.key for event in events if event.key is not None]
    assert len(set(keys)) == len(keys)
    firsts, seconds = keys[::2], keys[1::2]
    assert [key.removesuffix(" a") for key in firsts] == [key.removesuffix(" b") for key in seconds]
    kept = {tuple(map(int, key.split()[:2])) for key in firsts}
    assert acknowledged <= kept
    assert len(kept - acknowledged) <= KILLS
    for kill, done in kept - acknowledged:
        assert done == 0 or (kill, done - 1) in acknowledged


def test_a_store_survives_a_fork(url, opened):
    """Parent and child go on with connections of their own."""
    store = opened(url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "parent"))
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=append_after_fork, args=(store, there))
    child.start()
    assert here.recv() == (["parent", "child"], True)
    child.join(timeout=30)
    assert child.exitcode == 0
    store.append("study", 2, make_events(2, "parent again"))
    assert [event.key for event in opened(url).events("study")] == ["parent", "child", "parent again"]
