"""The cache saves time and changes nothing; nothing in it can run, and what cannot be used is ignored."""

import json
import logging
import pickle
import zlib

import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.cache import LARGEST, START, pack_cache, unpack_cache
from cellworth.errors import DataError, UnusableCacheError
from tests.campaign.campaigns import Clock, cells, completions, played, rounds_of
from tests.conftest import first_quick
from tests.strategy.test_one_chooser import BUYING

pytestmark = pytest.mark.usefixtures("own_strategies")


def test_losing_the_cache_changes_nothing():
    store, campaign = played(6)
    number, _ = store.load_cache("study", at_most=10**6)
    assert number == 11  # the last ask
    assert store.load_cache("study", at_most=number - 1) is None
    with_cache = Campaign.open(store, clock=Clock()).replay(campaign.number)
    batch, ran = completions(lambda: with_cache.ask(count=5))
    assert ran == 1  # the next round
    store.drop_cache("study")
    without = Campaign.open(store, clock=Clock()).replay(campaign.number)
    again, ran = completions(lambda: without.ask(count=5))
    assert ran == 7
    assert again == batch == cells(campaign.ask(count=5))


@pytest.mark.parametrize("name", first_quick([*BUYING, "soft impute"]))
def test_every_strategy_goes_on_from_its_cache_as_if_it_had_run_all_rounds(name):
    store, campaign = played(3, name)
    assert rounds_of(campaign) == [0, 2, 4]
    campaign.close()
    opened = Campaign.open(store, clock=Clock())
    batch, ran = completions(lambda: opened.preview(count=4))
    store.drop_cache("study")
    fresh = Campaign.open(store, clock=Clock())
    again, all_ran = completions(lambda: fresh.preview(count=4))
    assert batch == again
    assert all_ran == (2 if name == "qbc" else 4)  # a committee without memory needs no earlier rounds
    assert ran == 1
    assert all(purchase.why for purchase in campaign.ask(count=3))


def test_a_completer_that_cannot_state_what_it_has_fitted_is_not_cached():
    store, campaign = played(6, "silent")
    campaign.close()
    assert store.load_cache("study", at_most=10**6) is None
    opened = Campaign.open(store, clock=Clock())
    batch, ran = completions(lambda: opened.ask(count=2))
    assert ran == 7
    assert batch


def test_what_is_packed_comes_back_to_the_bit():
    rng = np.random.default_rng(0)
    content = {
        "rows": rng.normal(size=(3, 4)),
        "columns": np.asfortranarray(rng.normal(size=(5, 2))),
        "small": rng.normal(size=7).astype(np.float32),
        "yes": np.array([True, False]),
        "whole": np.arange(4),
        "none": np.empty((0, 3)),
        "one": np.array(2.5),
        "nested": [1, 0.1, None, "text", {"array": [1], "dict": {"a": True}}],
        "large": 2**70,
        "infinite": [float("inf"), -float("inf")],
    }
    back = unpack_cache(pack_cache(content))
    assert list(back) == list(content)
    for name, value in content.items():
        if isinstance(value, np.ndarray):
            assert back[name].dtype == value.dtype
            assert back[name].shape == value.shape
            assert back[name].tobytes() == value.tobytes()
            assert back[name].flags.f_contiguous == value.flags.f_contiguous
            assert back[name].flags.writeable
        else:
            assert back[name] == value
    for wrong in (object(), {1: 2}, np.array(["text"]), np.array([None]), {1, 2}):
        with pytest.raises(UnusableCacheError):
            pack_cache({"wrong": wrong})


class Burglar:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def packed(head, arrays=b"", length=None):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    size = len(text) if length is None else length
    return sealed(size.to_bytes(8, "little") + text + arrays)


def sealed(content):
    return START + zlib.crc32(content).to_bytes(4, "little") + content


def crafted(genuine):
    """Return caches that somebody might have put there."""
    head = unpack_head(genuine)
    deep = b'{"form":1,"versions":' + json.dumps(head["versions"]).encode() + b',"content":'

    def with_content(content, arrays=b""):
        return packed({**head, "content": content}, arrays)

    def array(kind, shape, order="C"):
        return {"dict": {"rounds": {"array": [kind, shape, order]}}}

    return {
        "empty": b"",
        "damaged": b"damaged",
        "cut off": genuine[:-20],
        "flipped": genuine[:60] + bytes([genuine[60] ^ 1]) + genuine[61:],
        "no length": sealed(b"abc"),
        "of an earlier version": zlib.compress(genuine[len(START) + 4 :]),
        "a length beyond the end": packed(b"{}", length=2**63),
        "no JSON": packed(b"\xff\xfe"),
        "a list": packed([1, 2]),
        "another form": packed({**head, "form": 99}),
        "another version": packed({**head, "versions": ["0", "0"]}),
        "not a dict": with_content([1]),
        "an unknown mark": with_content({"pickle": "x"}),
        "two marks": with_content({"array": [], "dict": {}}),
        "an array beyond the end": with_content(array("<f8", [10**12])),
        "a negative shape": with_content(array("<f8", [-1, -1]), bytes(8)),
        "a shape that overflows": with_content(array("<f8", [2**40, 2**40]), bytes(8)),
        "a shape of fractions": with_content(array("<f8", [1.5]), bytes(8)),
        "bits beyond the end": with_content({"dict": {"rounds": {"bits": ["|b1", [9], "C"]}}}, b"1"),
        "bits of numbers": with_content({"dict": {"rounds": {"bits": ["<f8", [8], "C"]}}}, b"1"),
        "more elements than follow": with_content({"dict": {"rounds": {"filled": ["<f8", [8], "C"]}}}, b"1"),
        "zeros without end": with_content(
            {"dict": {"rounds": {"filled": ["<f8", [10**9], "C"]}}}, bytes(10**9 // 8)
        ),
        "objects": with_content(array("|O", [1]), bytes(8)),
        "no such type": with_content(array("f8,O", [1]), bytes(16)),
        "no such order": with_content(array("<f8", [1], "A"), bytes(8)),
        "left over": with_content({"dict": {}}, bytes(8)),
        "no rounds": with_content({"dict": {}}),
        "rounds of nothing": with_content({"dict": {"rounds": [], "adviser": {"dict": {}}}}),
        "an adviser of nothing": with_content({"dict": {"rounds": [0], "adviser": {"dict": {}}}}),
        "deep": packed(deep + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    }


def unpack_head(blob):
    raw = blob[len(START) + 4 :]
    return json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])


def changed(content, name):
    """Return the content of a cache with one thing that no campaign could have left behind."""
    adviser = content["adviser"]
    n, p = adviser["scores"].shape
    changes = {
        "scores of another table": {"scores": np.ones((n + 5, p))},
        "scores of other columns": {"scores": np.ones((n, p + 1))},
        "scores that are not numbers": {"scores": np.full((n, p), np.nan)},
        "negative scores": {"scores": -np.ones((n, p))},
        "scores of texts": {"scores": "text"},
        "no scores": {"scores": None},
        "other rounds": {"rounds": 17},
        "no generator": {"generator": None},
        "a strange generator": {"generator": {"bit_generator": "MT19937", "state": {}}},
        "no completer": {"completer": None},
        "a completer of nothing": {"completer": {}},
        "a completer of another table": {
            "completer": {"seen": [], "completed": np.ones((2, 2)), "variance": np.ones((2, 2))}
        },
        "a completer that cannot go on": {
            "completer": {**adviser["completer"], "seen": [np.ones(1), np.ones((2, 2))]}
        },
    }
    return pack_cache({**content, "adviser": {**adviser, **changes[name]}})


def kept_after(rounds):
    store, campaign = played(rounds)
    campaign.close()
    return store, campaign, store.load_cache("study", at_most=10**6)[1]


def check_ignored(store, campaign, blob, caplog):
    """The next ask is the one without a cache, and the log of the program says that it was ignored."""
    store.save_cache("study", campaign.number, blob)
    with caplog.at_level(logging.INFO, logger="cellworth.campaign"):
        other = Campaign.open(store, clock=Clock()).replay(campaign.number)
        batch, ran = completions(lambda: other.ask(count=4))
    assert ran >= len(rounds_of(campaign)) + 1
    assert "ignoring the cache" in caplog.text
    assert batch == cells(campaign.ask(count=4))


@pytest.mark.parametrize("name", sorted(crafted(pack_cache({}))))
def test_a_cache_that_cannot_be_read_is_ignored(name, caplog):
    store, campaign, genuine = kept_after(2)
    check_ignored(store, campaign, crafted(genuine)[name], caplog)


@pytest.mark.parametrize(
    "name",
    [
        "scores of another table",
        "scores of other columns",
        "scores that are not numbers",
        "negative scores",
        "scores of texts",
        "no scores",
        "other rounds",
        "no generator",
        "a strange generator",
        "no completer",
        "a completer of nothing",
        "a completer of another table",
        "a completer that cannot go on",
    ],
)
def test_a_cache_that_makes_no_sense_is_ignored(name, caplog):
    store, campaign, genuine = kept_after(2)
    check_ignored(store, campaign, changed(unpack_cache(genuine), name), caplog)


def test_a_pickle_is_never_loaded(tmp_path, caplog):
    store, campaign, _ = kept_after(2)
    blob = sealed(pickle.dumps(("1", {"rounds": Burglar(tmp_path / "loot")})))
    check_ignored(store, campaign, blob, caplog)
    assert not (tmp_path / "loot").exists()


def test_a_cache_that_is_larger_than_it_may_be_is_neither_written_nor_read(monkeypatch):
    large = {"large": np.ones(200_000)}
    packed = pack_cache(large)
    monkeypatch.setattr("cellworth.campaign.cache.LARGEST", 1_000_000)
    with pytest.raises(UnusableCacheError, match="more than 1,000,000"):
        unpack_cache(packed)
    with pytest.raises(UnusableCacheError, match="more than 1,000,000"):
        pack_cache(large)
    assert LARGEST > 1_000_000


def test_a_cache_that_the_store_does_not_take_harms_nobody():
    store, campaign = played(4)

    def too_large(*_):
        raise DataError("too large")

    store.save_cache = too_large
    assert len(campaign.ask(count=2)) == 2
