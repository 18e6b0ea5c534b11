"""Both kinds of store keep the shipped contract, and agree with a plain model on random histories."""

import sqlite3
import tempfile
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cellworth.campaign.stores import open_store
from cellworth.errors import ConflictError
from cellworth.testing.store_contract import MOMENT, check_store, make_events, make_record

CORRUPT = "UPDATE cellworth_campaign SET content = {} WHERE name = '{}'"


def test_sqlite_keeps_the_contract(sqlite_url):
    def corrupt(name):
        with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
            connection.execute(CORRUPT.format("x'00'", name))

    check_store(lambda: open_store(sqlite_url), corrupt=corrupt)


def test_postgresql_keeps_the_contract(server, postgresql_url):
    def corrupt(name):
        server.execute(CORRUPT.format("'\\x00'", name))

    check_store(lambda: open_store(postgresql_url), corrupt=corrupt)


def test_a_large_table_and_cache_come_back(url, opened):
    """50 MB: about 100,000 rows of 60 numbers."""
    store = opened(url)
    table = bytes(range(250)) * 200_000
    store.create(make_record("large", table))
    assert store.record("large").table == table
    store.save_cache("large", 0, table)
    assert store.load_cache("large", 0) == (0, table)


def test_a_lost_event_is_noticed(server, postgresql_url, opened):
    store = opened(postgresql_url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "a", "b", "c"))
    server.execute("DELETE FROM cellworth_event WHERE number = 2")
    with pytest.raises(ValueError, match="event 2 is missing"):
        store.events("study")


KEYS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=3)


class History(RuleBasedStateMachine):
    """A store beside lists and dicts, which cannot be wrong."""

    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = self.reopened()
        self.logs, self.caches = {}, {}

    def reopened(self):
        return open_store(f"{self.folder.name}/study.db")

    @rule(name=st.sampled_from("xyz"), table=st.binary(max_size=20))
    def found(self, name, table):
        if name in self.logs:
            with pytest.raises(ConflictError):
                self.store.create(make_record(name, table))
        else:
            self.store.create(make_record(name, table))
            self.logs[name] = []

    @precondition(lambda self: self.logs)
    @rule(data=st.data(), off=st.sampled_from([0, 0, 0, 0, -1, 1]), keys=KEYS)
    def append(self, data, off, keys):
        name = data.draw(st.sampled_from(sorted(self.logs)))
        log = self.logs[name]
        after = max(0, len(log) + off)
        batch = [replace(event, time=MOMENT) for event in make_events(after, *keys)]
        said = [key for key in keys if key is not None]
        taken = {event.key for event in log}
        if len(set(said)) < len(said):
            with pytest.raises(ValueError, match="twice"):
                self.store.append(name, after, batch)
        elif after != len(log) or taken & set(said):
            with pytest.raises(ConflictError):
                self.store.append(name, after, batch)
        else:
            self.store.append(name, after, batch)
            log.extend(batch)

    @precondition(lambda self: self.logs)
    @rule(data=st.data(), number=st.integers(0, 5), blob=st.binary(max_size=5))
    def save_cache(self, data, number, blob):
        name = data.draw(st.sampled_from(sorted(self.logs)))
        self.store.save_cache(name, number, blob)
        if number >= self.caches.get(name, (0, b""))[0]:
            self.caches[name] = number, blob

    @precondition(lambda self: self.logs)
    @rule(data=st.data(), new=st.sampled_from("xyzw"))
    def rename(self, data, new):
        name = data.draw(st.sampled_from(sorted(self.logs)))
        if new in self.logs:
            with pytest.raises(ConflictError):
                self.store.rename(name, new)
        else:
            self.store.rename(name, new)
            self.logs[new] = self.logs.pop(name)
            if name in self.caches:
                self.caches[new] = self.caches.pop(name)

    @precondition(lambda self: len(self.logs) > 1)
    @rule(data=st.data())
    def delete(self, data):
        name = data.draw(st.sampled_from(sorted(self.logs)))
        self.store.delete(name)
        del self.logs[name]
        self.caches.pop(name, None)

    @rule()
    def reopen(self):
        self.store.close()
        self.store = self.reopened()

    @invariant()
    def agrees(self):
        assert self.store.names() == sorted(self.logs)
        for name, log in self.logs.items():
            assert self.store.events(name) == log
            assert self.store.events(name, 2) == log[2:]
            for at_most in range(6):
                kept = self.caches.get(name)
                expected = kept if kept is not None and kept[0] <= at_most else None
                assert self.store.load_cache(name, at_most) == expected

    def teardown(self):
        self.store.close()
        self.folder.cleanup()


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
