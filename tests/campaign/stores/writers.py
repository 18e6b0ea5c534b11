"""Processes that write to a store; a module of its own, so that they start without the tests."""

import contextlib
import random
import time

from cellworth.campaign.stores import open_store
from cellworth.errors import ConflictError
from cellworth.testing.store_contract import make_events, make_record

LONGEST_PAUSE = 0.2  # seconds after a conflict; without it eight writers mostly stand in each other's way


def append_many(url, writer, count):
    """Append ``count`` events in a loop that compares and appends, against everybody else."""
    rng = random.Random(writer)
    store = open_store(url)
    with contextlib.suppress(ConflictError):  # all writers begin at once, in an empty place
        store.create(make_record("study"))
    after = done = 0
    while done < count:
        after += len(store.events("study", after))
        try:
            store.append("study", after, make_events(after, f"{writer} {done}"))
            done += 1
        except ConflictError:
            time.sleep(rng.uniform(0, LONGEST_PAUSE))
    store.close()


def append_until_killed(url, writer, acknowledgements):
    """Append pairs of events for ever, and say so after each."""
    store = open_store(url)
    for done in range(1_000_000):
        after = len(store.events("study"))
        store.append("study", after, make_events(after, f"{writer} {done} a", f"{writer} {done} b"))
        acknowledgements.send(done)


def append_after_fork(store, reply):
    """Use a store that the parent opened, and tell what was read and whether by connections of its own."""
    parents = store._transactions._engine
    store.append("study", 1, make_events(1, "child"))
    keys = [event.key for event in store.events("study")]
    reply.send((keys, store._transactions._engine is not parents))
