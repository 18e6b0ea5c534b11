"""Renaming and deleting: checksums stay right, and repeating a call after a lost connection does no harm."""

import pytest

from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.whole_campaigns import delete_campaign, rename_campaign, token_of
from cellworth.campaign.transfer import check_campaign
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
