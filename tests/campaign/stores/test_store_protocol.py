"""What could not be read back as it is, is refused when it is written."""

import math
import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.campaign.stores import store_protocol
from cellworth.campaign.stores.store_protocol import event_from, event_rows, record_row
from cellworth.errors import DataError
from cellworth.testing.store_contract import make_events, make_record

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=ZONES)


def bits(data):
    """Replace every float by its bits: -0.0 equals 0.0 otherwise, and 1 equals 1.0."""
    if isinstance(data, dict):
        return {key: bits(value) for key, value in data.items()}
    if isinstance(data, list):
        return [bits(value) for value in data]
    return struct.pack("d", data) if isinstance(data, float) else (type(data), data)


@settings(max_examples=200, deadline=None)
@given(data=st.dictionaries(st.text(), PLAIN, max_size=4), time=TIMES)
def test_events_come_back_to_the_bit(data, time):
    [event] = make_events(7, "key")
    given = replace(event, data=data, time=time)
    [row] = event_rows("study", 7, [given], "token")
    again = event_from(row)
    assert again == given
    assert bits(again.data) == bits(data)
    assert again.time.tzinfo == UTC
    assert row["time"] == time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, (1, 2), {1: 2}, {1, 2}, b"bytes", datetime.now(UTC), [[(1,)]], object()]
)
def test_data_that_is_not_plain_is_refused(value):
    [event] = make_events(0, None)
    with pytest.raises(DataError, match=r"Event 1 of campaign 'study': its data must be plain data \(JSON\)"):
        event_rows("study", 0, [replace(event, data={"x": value})], "token")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"time": datetime(2024, 1, 1)}, "a time with a time zone"),
        ({"kind": "nul\0"}, "its kind must not contain NUL"),
        ({"who": "half \ud83d"}, "who must not contain NUL"),
        ({"who": "x" * 1001}, "who must have at most 1000 characters; got 1001"),
        ({"key": "x" * 501}, "its key must have at most 500 characters; got 501"),
    ],
)
def test_events_that_could_not_be_kept_are_refused(changes, said):
    [event] = make_events(0, None)
    with pytest.raises(DataError, match=said):
        event_rows("study", 0, [replace(event, **changes)], "token")


@pytest.mark.parametrize("name", ["", "x" * 101, "nul\0", "half \udc00"])
def test_names_that_could_not_be_kept_are_refused(name):
    with pytest.raises(DataError, match="name"):
        record_row(make_record(name), "token")


def test_a_blob_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(store_protocol, "LARGEST_BLOB", 10**6)
    record_row(make_record("fits", bytes(10**6)), "token")
    with pytest.raises(DataError, match="at most 1 MB; got 2 MB"):
        record_row(make_record("large", bytes(2 * 10**6)), "token")
