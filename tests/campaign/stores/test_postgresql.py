"""What can go wrong with a server: lines that break, restarts, other writers, and missing rights."""

import threading
import time
from dataclasses import replace

import psycopg
import pytest

from cellworth.campaign.stores import open_store
from cellworth.errors import ConflictError, DataError
from cellworth.testing.store_contract import make_events, make_record
from tests.campaign.stores.proxy import Proxy


@pytest.fixture
def store(postgresql_url, opened):
    store = opened(postgresql_url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "a", "b"))
    return store


@pytest.fixture
def line(server):
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


def test_lost_sessions_are_replaced(store, server):
    for call in (
        store.names,
        lambda: store.record("study"),
        lambda: store.events("study"),
        lambda: store.load_cache("study", 5),
        lambda: store.save_cache("study", 2, b"cache"),
        lambda: store.create(make_record("other")),
        lambda: store.append("study", 2, make_events(2, "c")),
    ):
        server.end_sessions()
        call()
    assert store.names() == ["other", "study"]
    assert [event.key for event in store.events("study")] == ["a", "b", "c"]
    assert store.load_cache("study", 2) == (2, b"cache")


def test_a_server_that_restarts_is_waited_for(store, server):
    server.stop()
    starting = threading.Timer(0.5, server.start)
    starting.start()
    try:
        store.append("study", 2, make_events(2, "c"))
    finally:
        starting.join()
    assert [event.key for event in store.events("study")] == ["a", "b", "c"]


def test_a_server_that_crashes_loses_nothing(store, server):
    server.stop("immediate")
    server.start()
    assert [event.key for event in store.events("study")] == ["a", "b"]
    store.append("study", 2, make_events(2, "c"))


def test_a_server_that_stays_away_is_reported(server, postgresql_url, opened):
    store = opened(postgresql_url, patience=0.3)
    store.create(make_record("study"))
    server.stop()
    try:
        with pytest.raises(DataError, match=r"cannot be reached.*as a whole or not at all"):
            store.append("study", 0, make_events(0, "a"))
        with pytest.raises(DataError, match="cannot be reached"):
            store.names()
    finally:
        server.start()
    assert store.events("study") == []
    store.append("study", 0, make_events(0, "a"))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_append_whose_fate_is_unknown_is_kept_once(store, server, line, opened, moment):
    far = opened(server.url(port=line.port))
    line.cut = moment
    far.append("study", 2, make_events(2, "c", None))
    assert line.cuts == 1
    assert store.events("study", 2) == make_events(2, "c", None)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_record_whose_fate_is_unknown_is_kept_once(store, server, line, opened, moment):
    far = opened(server.url(port=line.port))
    line.cut = moment
    far.create(make_record("far", b"its table"))
    assert line.cuts == 1
    assert store.record("far").table == b"its table"


def test_an_append_that_was_lost_and_overtaken_is_a_conflict(store, server, line, opened, monkeypatch):
    """The same events by another writer are not taken for our own."""
    far = opened(server.url(port=line.port))
    monkeypatch.setattr(time, "sleep", lambda _: store.events("study", 2) or store.append("study", 2, batch))
    batch = make_events(2, "c", None)
    line.cut = "before"
    with pytest.raises(ConflictError, match="got 4"):
        far.append("study", 2, batch)
    assert line.cuts == 1
    assert store.events("study", 2) == batch


def test_an_append_that_was_kept_and_followed_by_others_is_acknowledged(
    store, server, line, opened, monkeypatch
):
    far = opened(server.url(port=line.port))

    def others_write(_):
        store.append("study", 4, make_events(4, "e"))

    monkeypatch.setattr(time, "sleep", others_write)
    line.cut = "after"
    far.append("study", 2, make_events(2, "c", None))
    assert [event.key for event in store.events("study")] == ["a", "b", "c", None, "e"]


def test_a_session_that_ends_within_a_transaction(store, server, monkeypatch):
    """Between the lock and the events: nothing is half-written, and the second attempt writes all."""
    from cellworth.campaign.stores import sql_store

    checked = sql_store.check_keys
    ends = []

    def end_once(connection, name, keys):
        checked(connection, name, keys)
        if not ends:
            ends.append(server.end_sessions())

    monkeypatch.setattr(sql_store, "check_keys", end_once)
    store.append("study", 2, make_events(2, "c", "d"))
    assert len(ends) == 1
    assert [event.key for event in store.events("study")] == ["a", "b", "c", "d"]


def test_a_writer_that_does_not_let_go_is_reported(store, postgresql_url, opened):
    hasty = opened(postgresql_url, patience=0.2)
    with psycopg.connect(postgresql_url) as other:
        other.execute("SELECT name FROM cellworth_campaign FOR UPDATE")
        with pytest.raises(DataError, match=r"locked for 0.2 s; nothing was written"):
            hasty.append("study", 2, make_events(2, "c"))
        assert len(hasty.events("study")) == 2
    hasty.append("study", 2, make_events(2, "c"))


def test_the_keys_of_the_table_hold_where_somebody_takes_no_lock(store, monkeypatch):
    """A writer that skips the checks still cannot write a number or a key twice."""
    from cellworth.campaign.stores import sql_store

    monkeypatch.setattr(sql_store, "check_keys", lambda *_: None)
    with pytest.raises(ConflictError, match="Somebody else wrote"):
        store.append("study", 2, make_events(2, "a"))
    assert len(store.events("study")) == 2


def test_sessions_confirm_what_is_on_the_disk(server, postgresql_url, opened):
    server.execute("ALTER DATABASE postgres SET synchronous_commit = off")
    store = opened(postgresql_url)
    with store._transactions._own_engine().connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "30s"


def test_missing_rights_are_explained(server, postgresql_url, opened):
    server.execute("DROP ROLE IF EXISTS guest")
    server.execute("CREATE ROLE guest LOGIN")
    for step in ("REVOKE ALL ON SCHEMA public FROM PUBLIC", "GRANT USAGE ON SCHEMA public TO PUBLIC"):
        server.execute(step)
        with pytest.raises(DataError, match=r"guest@.* may not write there. Ask for the rights"):
            opened(server.url(user="guest")).create(make_record("study"))
    server.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    opened(server.url(user="guest")).create(make_record("study"))


def test_a_missing_database_is_explained(server):
    with pytest.raises(DataError, match=r'cannot be reached.*"nothing" does not exist'):
        open_store(server.url(database="nothing"))


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding(server, opened, encoding):
    """What it can hold comes back; what it cannot is refused."""
    server.execute("DROP DATABASE IF EXISTS elsewhere")
    server.execute(f"CREATE DATABASE elsewhere ENCODING '{encoding}' TEMPLATE template0")
    store = opened(server.url(database="elsewhere"))
    store.create(make_record("Müller", note="稲"))
    store.append("Müller", 0, [replace(make_events(0, None)[0], who="José", data={"stage": "稲"})])
    [event] = store.events("Müller")
    assert (event.who, event.data) == ("José", {"stage": "稲"})
    rice = [replace(make_events(1, None)[0], who="稲")]
    if encoding == "SQL_ASCII":
        store.append("Müller", 1, rice)
        assert store.events("Müller", 1) == rice
    else:
        with pytest.raises(DataError, match=r"cannot hold this text; nothing was written.*UTF8"):
            store.append("Müller", 1, rice)
        assert len(store.events("Müller")) == 1
    store.close()
    server.execute("DROP DATABASE elsewhere")


def test_text_that_is_not_unicode_is_damage(server, opened):
    server.execute("DROP DATABASE IF EXISTS elsewhere")
    server.execute("CREATE DATABASE elsewhere ENCODING 'SQL_ASCII' TEMPLATE template0")
    store = opened(server.url(database="elsewhere"))
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, None))
    with psycopg.connect(server.url(database="elsewhere"), autocommit=True) as other:
        other.execute("UPDATE cellworth_event SET who = E'\\xff'")
    with pytest.raises(DataError, match="text that is not UTF-8"):
        store.events("study")
    store.close()
    server.execute("DROP DATABASE elsewhere")
