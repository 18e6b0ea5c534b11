"""Whatever is changed, removed, added or swapped in a store is noticed, and the event is named."""

import hashlib
import re
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.campaign.stores.checksums import chained, check_links, link_after, seal_of
from cellworth.campaign.stores.store_protocol import event_rows, record_row
from cellworth.errors import DataError
from cellworth.testing.store_contract import make_events, make_record

DAMAGE = {
    "UPDATE cellworth_event SET data = '{\"number\": 9}' WHERE number = 3": "Event 3 .* is damaged",
    "UPDATE cellworth_event SET data = 'x' WHERE number = 3": "Event 3 .* is damaged",
    "UPDATE cellworth_event SET time = '2024-03-01' WHERE number = 1": "Event 1 .* is damaged",
    "UPDATE cellworth_event SET who = NULL WHERE number = 2": "Event 2 .* is damaged",
    "UPDATE cellworth_event SET kind = 'told' WHERE number = 4": "Event 4 .* is damaged",
    "UPDATE cellworth_event SET \"key\" = 'z' WHERE number = 5": "Event 5 .* is damaged",
    "UPDATE cellworth_event SET chain = 'x' WHERE number = 6": "Event 6 .* is damaged",
    "UPDATE cellworth_event SET chain = 'x' WHERE number = 2": "Event 2 .* is damaged",
    "DELETE FROM cellworth_event WHERE number = 6": "event 6 is missing",
    "DELETE FROM cellworth_event WHERE number = 1": "event 1 is missing",
    "DELETE FROM cellworth_event": "event 1 is missing",
    "UPDATE cellworth_event SET number = 9 WHERE number = 4": "event 4 is missing",
    "UPDATE cellworth_head SET chain = 'x'": "Event 6 .* is damaged",
    "UPDATE cellworth_head SET number = 7": "event 7 is missing",
    "DELETE FROM cellworth_head": "the number of its last event is not stated",
    "UPDATE cellworth_campaign SET settings = '{\"budget\": 9}'": "settings of campaign 'study' are damaged",
    "UPDATE cellworth_campaign SET settings = '{'": "settings of campaign 'study' are damaged",
    "UPDATE cellworth_campaign SET created = '2024'": "settings of campaign 'study' are damaged",
    "UPDATE cellworth_campaign SET seal = 'x'": "are damaged",
}


def read_all(store):
    return store.record("study"), store.events("study")


def run(url, statement, request):
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute(statement)
    else:
        request.getfixturevalue("server").execute(statement)


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_was_changed_by_hand_is_found(sqlite_url, opened, request, statement):
    check_damage(sqlite_url, statement, opened, request)


@pytest.mark.parametrize("statement", list(DAMAGE)[::4])
def test_what_was_changed_on_a_server_is_found(postgresql_url, opened, request, statement):
    check_damage(postgresql_url, statement, opened, request)


def check_damage(url, statement, opened, request):
    store = opened(url)
    store.create(make_record("study", b"table", budget=5))
    store.append("study", 0, make_events(0, "a", "b", None))
    store.append("study", 3, make_events(3, "c", None, "e"))
    before = read_all(store)
    assert before == read_all(opened(url))
    run(url, statement, request)
    with pytest.raises(DataError, match=DAMAGE[statement]) as raised:
        read_all(opened(url))
    assert re.search("backup", str(raised.value))


def test_nothing_is_appended_to_a_log_without_its_end(sqlite_url, opened, request):
    store = opened(sqlite_url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, "a", "b", None))
    run(sqlite_url, "DELETE FROM cellworth_event WHERE number = 3", request)
    with pytest.raises(DataError, match="event 3 is missing"):
        store.append("study", 2, make_events(2, None))


def test_pages_are_checked_from_the_event_before(sqlite_url, opened, request):
    store = opened(sqlite_url)
    store.create(make_record("study"))
    store.append("study", 0, make_events(0, *"abcdef"))
    run(sqlite_url, "UPDATE cellworth_event SET who = 'Eve' WHERE number = 4", request)
    assert store.events("study", 0, 3) == make_events(0, *"abc")
    assert store.events("study", 4) == make_events(4, *"ef")
    assert store.events("study", 9) == []
    for after, most in ((0, None), (3, None), (3, 1), (2, 2)):
        with pytest.raises(DataError, match="Event 4 of campaign 'study' is damaged"):
            store.events("study", after, most)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_no_two_logs_look_alike(data):
    """Any other row, any other order: another last link; the lengths keep fields apart."""
    texts = st.text(alphabet="a1:-\n", max_size=3)
    fields = st.fixed_dictionaries(
        {
            "number": st.integers(1, 3),
            "time": texts,
            "kind": texts,
            "who": st.none() | texts,
            "key": st.none() | texts,
            "data": texts,
        }
    )
    logs = st.lists(fields, max_size=3)
    one, other = data.draw(logs), data.draw(logs)
    ends = [chained([dict(row) for row in log], "seal") for log in (one, other)]
    assert (ends[0] == ends[1]) == (one == other)


def test_the_chain_is_what_the_page_says():
    """Written out once more by hand, so that a later version cannot compute another one unnoticed."""
    [row] = event_rows("study", 0, make_events(0, "a"), "token")
    fields = ["1", "2024-03-01T00:00:00.999999+00:00", "tell", "Ann", "a", '{"number": 1}']
    content = hashlib.sha256("".join(f"{len(each)}:{each}" for each in fields).encode()).hexdigest()
    assert link_after("seal", row) == hashlib.sha256(f"seal{content}".encode()).hexdigest()
    assert check_links("study", [row | {"chain": link_after("seal", row)}], 0, "seal")[0] == 1
    names = (record_row(make_record(name), "token") for name in ("one", "two"))
    assert len({seal_of(row) for row in names}) == 1
