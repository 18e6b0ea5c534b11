"""A map that keeps its entries as arrays is a dict to everybody who uses it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.array_codec import pack_plain, unpack_plain
from cellworth.campaign.columnar_dict import ColumnarDict

words = st.sampled_from([None, "", "blood", "Ähre 稲"])
keys = st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b"]))
values = st.tuples(st.floats(-1e9, 1e9), st.booleans(), words)


def make():
    return ColumnarDict((int, str), (float, bool, str), encode=tuple, decode=lambda *fields: fields)


@given(steps=st.lists(st.none() | st.tuples(keys, values), max_size=30))
def test_it_is_a_dict(steps):
    """None: settle."""
    mapped, plain = make(), {}
    for step in steps:
        if step is None:
            mapped.settle()
        else:
            mapped[step[0]] = plain[step[0]] = step[1]
    for key in [(k, word) for k in range(-1, 5) for word in ("", "a", "b", "c")]:
        assert mapped.get(key) == plain.get(key)
        assert (key in mapped) == (key in plain)
    assert list(mapped.items()) == sorted(plain.items(), key=lambda item: item[0])
    back, straight = make(), make()
    back.restore(mapped.to_plain())
    assert dict(back.items()) == plain
    for key, value in plain.items():
        straight[key] = value
    assert through_bytes(straight) == through_bytes(mapped) == through_bytes(back)


def through_bytes(mapped):
    packed = pack_plain({}, mapped.to_plain(), 10**6)
    again = make()
    again.restore(unpack_plain(memoryview(packed), {}))
    assert dict(again.items()) == dict(mapped.items())
    return packed


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["columns"].pop(),
        lambda plain: plain.update(length=7),
        lambda plain: plain.update(words=["a"]),
        lambda plain: plain["words"].reverse(),
        lambda plain: plain.update(words=[1, 2, 3]),
        lambda plain: plain.update(columns=[column[:, None] for column in plain["columns"]]),
        lambda plain: plain.update(columns=[column.astype(float) for column in plain["columns"]]),
    ],
)
def test_what_it_cannot_have_written_is_refused(change):
    mapped = make()
    for k in range(3):
        mapped[k, "ab"[k % 2]] = float(k), True, "word"
    plain = mapped.to_plain()
    change(plain)
    with pytest.raises((ValueError, TypeError)):
        make().restore(plain)
