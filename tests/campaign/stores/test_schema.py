"""An older store becomes a newer one as a whole or not at all; a newer one is left alone."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import column, create_engine, insert, inspect, table, text

from cellworth.campaign.stores import open_store, schema
from cellworth.campaign.stores.store_protocol import event_rows, record_row
from cellworth.errors import ConflictError, DataError
from cellworth.testing.store_contract import make_events, make_record


@pytest.fixture
def engine(url):
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def columns(engine, table):
    return {column["name"] for column in inspect(engine).get_columns(table)}


def version(engine):
    with engine.connect() as connection:
        return schema.version_of(connection, "here")


def add_price(connection):
    connection.execute(text("ALTER TABLE cellworth_event ADD COLUMN price TEXT NOT NULL DEFAULT 'unknown'"))


def fill_price(connection):
    connection.execute(text("UPDATE cellworth_event SET price = 'free' WHERE number = 1"))


def fail(connection):
    add_price(connection)
    raise RuntimeError("a step that fails")


NEWEST = len(schema.STEPS)


def test_the_tables_have_the_columns_that_queries_use(url, opened, engine):
    opened(url).create(make_record("study"))
    assert version(engine) == NEWEST
    tables = (schema.VERSION, schema.CAMPAIGN, schema.EVENT, schema.HEAD, schema.CACHE, schema.SNAPSHOT)
    for each in tables:
        assert columns(engine, each.name) == set(each.c.keys())


def test_opening_and_reading_write_nothing(url, opened):
    store = opened(url)
    assert store.names() == []
    with pytest.raises(DataError, match="no campaign 'study'"):
        store.events("study")
    with pytest.raises(DataError, match="no campaign 'study'"):
        store.append("study", 0, [])
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        store.close()
        path.unlink(missing_ok=True)  # the append has made it
        opened(url).names()
        assert list(path.parent.iterdir()) == []


def test_a_server_may_hold_the_tables_of_others(postgresql_url, opened):
    engine = create_engine(postgresql_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (x INTEGER)"))
    opened(postgresql_url).create(make_record("study"))
    assert columns(engine, "mine") == {"x"}
    engine.dispose()


def test_an_older_store_is_brought_forward_with_all_it_holds(url, opened, engine, monkeypatch):
    old = opened(url)
    old.create(make_record("study"))
    old.append("study", 0, make_events(0, "a", "b"))
    before = old.events("study")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, add_price, fill_price))
    new = opened(url)
    assert new.events("study") == before
    assert version(engine) == NEWEST  # reading changes nothing
    new.append("study", 2, [])
    assert new.events("study") == before
    assert version(engine) == NEWEST + 2
    with engine.connect() as connection:
        prices = connection.execute(text("SELECT price FROM cellworth_event ORDER BY number")).scalars()
        assert list(prices) == ["free", "unknown"]


def test_a_store_without_checksums_is_read_and_gets_them_with_the_first_write(
    url, opened, engine, monkeypatch
):
    records = make_record("study", b"table"), make_record("other", b"another")
    events = make_events(0, *(f"key {i}" for i in range(1100)))
    with engine.begin() as connection:
        schema.upgrade(connection, "here", schema.STEPS[:1])
        for record in records:
            row = record_row(record, "token")
            del row["seal"]
            connection.execute(insert(table_of("cellworth_campaign", row)), row)
        rows = event_rows("study", 0, events, "token")
        connection.execute(insert(table_of("cellworth_event", rows[0])), rows)
    store = opened(url)
    for _ in range(2):
        assert store.names() == ["other", "study"]
        assert [store.record(each.name) for each in records] == list(records)
        assert store.events("study") == events
        assert store.events("study", 1099) == events[1099:]
        assert store.events("other") == []
        assert store.load_snapshot("study", 2000) is None
        assert store.number_of("study", "key 7") == 8
        assert version(engine) in (1, NEWEST)
        if version(engine) == 1:
            reader = opened(url)  # keeps reading while another one upgrades
            reader.names()
            store.append("study", 1100, make_events(1100, "new"))
            assert reader.events("study", 1100) == make_events(1100, "new")
            events = store.events("study")
    assert version(engine) == NEWEST
    assert not inspect(engine).has_table("cellworth_event_1")
    with engine.begin() as connection:
        connection.execute(text("UPDATE cellworth_event SET who = 'Eve' WHERE number = 7"))
    with pytest.raises(DataError, match=r"Event 7 of campaign 'study' is damaged"):
        opened(url).events("study")


def table_of(name, row):
    return table(name, *(column(each) for each in row))


def test_a_store_that_states_no_version_is_damaged(url, opened, engine):
    store = opened(url)
    store.create(make_record("study"))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM cellworth_schema"))
    with pytest.raises(DataError, match=r"must hold one version number; got \[\]"):
        open_store(url)
    with pytest.raises(DataError, match=r"must hold one version number; got \[\]"):
        store.append("study", 0, make_events(0, None))


def test_many_may_open_an_empty_place_at_once(url, opened):
    start = threading.Barrier(6)

    def open_at_once(_):
        start.wait()
        store = opened(url)
        with contextlib.suppress(ConflictError):
            store.create(make_record("study"))
        return store.names()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(open_at_once, range(6))) == [["study"]] * 6


def test_a_step_that_fails_leaves_the_old_version(url, opened, engine, monkeypatch):
    old = opened(url)
    old.create(make_record("study"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, fail))
        with pytest.raises(RuntimeError, match="a step that fails"):
            opened(url).append("study", 0, make_events(0, None))
    assert version(engine) == NEWEST
    assert "price" not in columns(engine, "cellworth_event")
    assert opened(url).names() == ["study"]


def test_a_newer_store_is_refused_and_left_alone(url, opened, engine, monkeypatch):
    here = opened(url)
    here.create(make_record("study"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, add_price))
        opened(url).append("study", 0, [])
    said = rf"version {NEWEST + 1}, and this cellworth knows versions up to {NEWEST}.*pip install"
    with pytest.raises(DataError, match=said):
        open_store(url)
    with pytest.raises(DataError, match=said):  # it was open when the other one changed the tables
        here.append("study", 0, make_events(0, None))
    assert version(engine) == NEWEST + 1
