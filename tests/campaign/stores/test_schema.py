"""An older store becomes a newer one as a whole or not at all; a newer one is left alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, inspect, text

from cellworth.campaign.stores import open_store, schema
from cellworth.errors import DataError
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
        return schema.version_of(connection)


def add_price(connection):
    connection.execute(text("ALTER TABLE cellworth_event ADD COLUMN price TEXT NOT NULL DEFAULT 'unknown'"))


def fill_price(connection):
    connection.execute(text("UPDATE cellworth_event SET price = 'free' WHERE number = 1"))


def fail(connection):
    add_price(connection)
    raise RuntimeError("a step that fails")


def test_the_tables_have_the_columns_that_queries_use(url, opened, engine):
    opened(url)
    assert version(engine) == 1
    for table in (schema.VERSION, schema.CAMPAIGN, schema.EVENT, schema.CACHE):
        assert columns(engine, table.name) == set(table.c.keys())


def test_a_foreign_database_is_left_alone(url, opened, engine):
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (x INTEGER)"))
    opened(url).create(make_record("study"))
    assert columns(engine, "mine") == {"x"}


def test_an_older_store_is_brought_forward_with_all_it_holds(url, opened, engine, monkeypatch):
    old = opened(url)
    old.create(make_record("study"))
    old.append("study", 0, make_events(0, "a", "b"))
    before = old.events("study")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, add_price, fill_price))
    new = opened(url)
    assert new.events("study") == before
    assert version(engine) == 3
    with engine.connect() as connection:
        prices = connection.execute(text("SELECT price FROM cellworth_event ORDER BY number")).scalars()
        assert list(prices) == ["free", "unknown"]
    opened(url)
    assert version(engine) == 3


def test_a_store_without_tables_takes_every_step(url, engine, monkeypatch):
    """Version 0 of this test: tables of other names, from before there were versions."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE study (name TEXT, number INTEGER)"))
        connection.execute(text("INSERT INTO study VALUES ('old', 1)"))

    def take_over(connection):
        schema._first_tables(connection)
        connection.execute(
            text(
                "INSERT INTO cellworth_campaign (name, created, settings, digest, token, content)"
                " SELECT name, '2020-01-01T00:00:00.000000+00:00', '{}', '', '', '' FROM study"
            )
        )
        connection.execute(text("DROP TABLE study"))

    monkeypatch.setattr(schema, "STEPS", (take_over,))
    store = open_store(url)
    assert store.names() == ["old"]
    assert version(engine) == 1
    assert not inspect(engine).has_table("study")
    store.close()


def test_many_may_open_an_empty_place_at_once(url, opened):
    start = threading.Barrier(6)

    def open_at_once(_):
        start.wait()
        return opened(url).names()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(open_at_once, range(6))) == [[]] * 6


def test_a_step_that_fails_leaves_the_old_version(url, opened, engine, monkeypatch):
    old = opened(url)
    old.create(make_record("study"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, fail))
        with pytest.raises(RuntimeError, match="a step that fails"):
            open_store(url)
    assert version(engine) == 1
    assert "price" not in columns(engine, "cellworth_event")
    assert opened(url).names() == ["study"]


def test_a_newer_store_is_refused_and_left_alone(url, opened, engine, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(schema, "STEPS", (*schema.STEPS, add_price))
        opened(url)
    with pytest.raises(DataError, match=r"version 2, and this cellworth knows versions up to 1.*pip install"):
        open_store(url)
    assert version(engine) == 2
