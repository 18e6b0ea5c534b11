"""Renaming and deleting leave checksums right and may be repeated; the newest blob of a campaign is kept."""

import pytest
from sqlalchemy import create_engine, text

from cellworth.campaign.maintenance import check_campaign
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.read_campaigns import CampaignReader
from cellworth.campaign.stores.schema import CACHE, SNAPSHOT, STEPS, fetching, upgrade
from cellworth.campaign.stores.sql_store import (
    delete_campaign,
    rename_campaign,
    save_blob,
    token_of,
)
from cellworth.errors import DataError
from tests.campaign.campaigns import answers_to, begin, make_table


def test_a_renamed_campaign_is_intact_with_the_same_fingerprint(sqlite_url):
    store = open_store(sqlite_url)
    campaign = begin(make_table(20), store=store, strategy="random", name="old")
    campaign.tell(answers_to(campaign.ask(count=3)))
    before = check_campaign(store, "old")
    store.rename("old", "new")
    after = check_campaign(store, "new")
    assert (after.problem, after.events, after.fingerprint) == (None, before.events, before.fingerprint)
    with pytest.raises(DataError, match="no campaign 'old'"):
        campaign.ask(count=1)
    store.close()


@pytest.mark.parametrize("method", ["rename", "delete"])
def test_a_call_that_is_repeated_after_it_was_committed_does_nothing(url, opened, method, monkeypatch):
    """As after a connection that broke during the commit."""
    store = opened(url)
    begin(make_table(20), store=store, strategy="random", name="old")
    write = store._write
    monkeypatch.setattr(store, "_write", lambda work: [write(work) for _ in range(2)])
    store.rename("old", "new") if method == "rename" else store.delete("old")
    assert store.names() == (["new"] if method == "rename" else [])


def test_the_parts_work_in_the_transaction_of_their_caller(sqlite_url):
    store = open_store(sqlite_url)
    begin(make_table(20), store=store, strategy="random", name="old")

    def fail(connection):
        rename_campaign(connection, "old", "new", "token")
        assert (token_of(connection, "old"), token_of(connection, "new")) == (None, "token")
        delete_campaign(connection, "new")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store._write(fail)
    assert store.names() == ["old"]
    store.close()


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection, "here", STEPS)
        row = "('study', '', '', '', '', '', x'')"
        connection.execute(text(f"INSERT INTO cellworth_campaign VALUES {row}"))
        connection.execute(text("INSERT INTO cellworth_head VALUES ('study', 0, '')"))
        yield connection
    engine.dispose()


@pytest.mark.parametrize("table", [CACHE, SNAPSHOT])
def test_only_the_newest_is_kept(connection, table):
    reader = CampaignReader(fetching(connection), len(STEPS), "here")
    assert reader.blob(table.name, "study", 9) is None
    for number, blob in [(3, b"three"), (5, b"five"), (4, b"four"), (5, b"five again")]:
        save_blob(connection, table, "study", number, blob)
    assert reader.blob(table.name, "study", 5) == (5, b"five again")
    assert reader.blob(table.name, "study", 4) is None
    with pytest.raises(DataError, match="no campaign 'other'"):
        reader.blob(table.name, "other", 9)
