"""Arrays and plain data come back as they were; bytes that are not theirs are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.array_codec import pack_plain, slim, unpack_plain, widened
from cellworth.errors import UnusableCacheError

CONTENT = {"rows": np.arange(6.0).reshape(2, 3), "nested": [1, None, {"a": "b"}], "yes": np.array([True])}


def test_what_is_packed_comes_back_and_the_same_gives_the_same_bytes():
    packed = pack_plain({"form": 1}, CONTENT, 1000)
    back = unpack_plain(memoryview(packed), {"form": 1})
    assert back["rows"].tolist() == CONTENT["rows"].tolist()
    assert back["nested"] == CONTENT["nested"]
    assert pack_plain({"form": 1}, back, 1000) == packed
    with pytest.raises(UnusableCacheError, match="another version"):
        unpack_plain(memoryview(packed), {"form": 2})
    with pytest.raises(UnusableCacheError, match="more than 100"):
        pack_plain({"form": 1}, CONTENT, 100)


@given(cut=st.integers(0, 400), at=st.integers(0, 400), to=st.binary(min_size=1, max_size=9))
def test_damaged_bytes_are_refused_or_harmless(cut, at, to):
    packed = pack_plain({"form": 1}, CONTENT, 1000)
    for damaged in (packed[: min(cut, len(packed) - 1)], packed[:at] + to + packed[at + len(to) :]):
        try:
            found = unpack_plain(memoryview(damaged), {"form": 1})
        except UnusableCacheError:
            continue
        assert isinstance(found, dict)
        assert len(damaged) >= len(packed)


@given(values=st.lists(st.integers(-5, 70_000)))
def test_slim_arrays_are_as_they_were_once_widened(values):
    array = np.array(values, dtype=np.int64)
    assert widened(slim(array), len(array), np.int64).tolist() == values
    numbers = array / 7
    assert widened(slim(numbers), len(numbers), np.float64).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("array", "dtype"), [([[1]], np.int64), ([1, 2], np.int64), ([1.5], np.int64), ([1], float)]
)
def test_other_arrays_are_not_widened(array, dtype):
    with pytest.raises(ValueError, match="expected 3 numbers"):
        widened(np.array(array), 3, np.float64 if dtype is float else dtype)
