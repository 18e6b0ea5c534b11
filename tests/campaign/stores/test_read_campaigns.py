"""Campaigns are read by plain queries, of tables of every version; what is not there is said."""

import sqlite3

import pytest

from cellworth.campaign.stores import schema
from cellworth.campaign.stores.read_campaigns import (
    CHECKED,
    NEWEST,
    WITH_SNAPSHOTS,
    CampaignReader,
    check_version,
    nothing_at,
    stated_version,
)
from cellworth.errors import DataError
from cellworth.testing.store_contract import make_events, make_record


def fetching(rows):
    """Return rows whatever is asked, and note the queries."""
    asked = []

    def fetch(query, **values):
        asked.append((query, values))
        return rows

    return fetch, asked


def test_the_newest_version_is_the_one_that_is_written():
    assert len(schema.STEPS) == NEWEST >= WITH_SNAPSHOTS >= CHECKED


@pytest.mark.parametrize("rows", [[], [{"version": 1}, {"version": 2}], [{"version": "3"}]])
def test_a_store_that_does_not_state_its_version_is_damaged(rows):
    with pytest.raises(DataError, match=r"here is damaged.*must hold one version number"):
        stated_version(fetching(rows)[0], "here")


def test_a_newer_version_is_left_alone():
    check_version(NEWEST, "here", NEWEST)
    with pytest.raises(DataError, match=f"newer cellworth: its tables have version {NEWEST + 1}"):
        check_version(NEWEST + 1, "here", NEWEST)


def test_where_nothing_was_written_there_is_nothing():
    reader = nothing_at("here")
    assert reader.names() == []
    with pytest.raises(DataError, match=r"no campaign 'study' in here\. It has no campaigns yet"):
        reader.events("study", 0, None)


def test_names_that_no_database_can_hold_are_not_looked_for():
    fetch, asked = fetching([])
    with pytest.raises(DataError, match="no campaign"):
        CampaignReader(fetch, NEWEST, "here").record("a\0b")
    assert CampaignReader(fetch, NEWEST, "here").number_of("study", "\ud800") is None
    assert [query for query, _ in asked] == ["SELECT name FROM cellworth_campaign"]


def test_a_campaign_whose_last_event_is_not_stated_is_damaged():
    reader = CampaignReader(fetching([{"seal": "", "number": None, "chain": None}])[0], NEWEST, "here")
    with pytest.raises(DataError, match=r"'study' in here is damaged: the number of its last event"):
        reader.stated("study")


def test_only_as_much_is_read_as_is_asked_for(sqlite_url, opened):
    store = opened(sqlite_url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, *"abcdef"))
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
        connection.row_factory = sqlite3.Row
        counts = []

        def fetch(query, **values):
            rows = [dict(row) for row in connection.execute(query, values)]
            counts.append(len(rows))
            return rows

        reader = CampaignReader(fetch, NEWEST, "here")
        assert [event.number for event in reader.events("study", 2, 3)] == [3, 4, 5]
        assert counts == [1, 4]  # what is stated, and one event before the first
        assert reader.events("study", 6, None) == reader.events("study", 0, 0) == []
        assert counts == [1, 4, 1, 1]
    connection.close()
