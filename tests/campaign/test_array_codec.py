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


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u2", "b1", "f2", np.longdouble])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_with_zeros_come_back_to_the_bit_and_take_less(dtype, share, order):
    rng = np.random.default_rng(0)
    array = rng.integers(1, 100, (701, 13)).astype(dtype)
    array[rng.random(array.shape) < share] = 0
    if array.dtype.kind == "f":
        array.flat[:3] = [-0.0, np.nan, np.inf]
    array = np.asarray(array, order=order)
    packed = pack_plain({}, {"array": array, "after": np.arange(2)}, 10**9)
    back = unpack_plain(memoryview(packed), {})
    assert back["array"].dtype == array.dtype
    assert back["array"].tobytes("A") == array.tobytes("A")
    assert back["array"].flags.f_contiguous == array.flags.f_contiguous
    assert back["array"].flags.writeable
    assert back["after"].tolist() == [0, 1]
    bits, of_array = array.size / 8, (1 - share) * array.nbytes if share >= 0.7 else array.nbytes
    if array.dtype.kind == "b":
        of_array = 0
    if np.dtype(dtype).itemsize <= 8:
        assert len(packed) < 1.1 * of_array + bits + 300


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
