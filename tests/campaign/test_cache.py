"""The cache saves time and changes nothing; what it must not hold is never run."""

import pickle
import zlib

import pytest

from cellworth import strategy
from cellworth.campaign import Campaign, cache
from cellworth.campaign.rounds import SAVE_EVERY
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError
from tests.campaign.campaigns import Clock, answers_to, begin, cells


def played(rounds, strategy="afasmc"):
    store = MemoryStore()
    campaign = begin(store=store, strategy=strategy, budget=None)
    for _ in range(rounds):
        campaign.tell(answers_to(campaign.ask(count=3)))
    return store, campaign


def completions(campaign, ask):
    """Return the batch, and how many completions it took."""
    ran = []
    run = campaign._rounds._run
    campaign._rounds._run = lambda table: ran.append(table) or run(table)
    return cells(ask()), len(ran)


@pytest.mark.parametrize("name", ["recommended", "afasmc", "stability"])
def test_losing_the_cache_changes_nothing(name):
    store, campaign = played(SAVE_EVERY + 1, name)
    number, _ = store.load_cache("study", at_most=10**6)
    assert number == 2 * SAVE_EVERY - 1
    assert store.load_cache("study", at_most=number - 1) is None
    with_cache = Campaign.open(store, clock=Clock()).replay(campaign.number)
    batch, ran = completions(with_cache, lambda: with_cache.ask(count=5))
    assert ran == 2  # the round since the cache, and the next one
    store.drop_cache("study")
    without = Campaign.open(store, clock=Clock()).replay(campaign.number)
    again, ran = completions(without, lambda: without.ask(count=5))
    assert ran == SAVE_EVERY + 2
    assert again == batch == cells(campaign.ask(count=5))


def test_who_had_to_run_rounds_again_spares_the_next_one():
    store, _ = played(3)
    for expected in (4, 1, 2, 1):  # a new process each time, as on a command line
        campaign = Campaign.open(store, clock=Clock())
        batch, ran = completions(campaign, lambda campaign=campaign: campaign.ask(count=2))
        assert ran == expected
        campaign.tell(answers_to(campaign.open_purchases()))
        assert batch


def test_who_closes_a_campaign_spares_the_next_one_all_rounds_but_the_newest():
    store, campaign = played(2)
    campaign.close()
    for _ in range(3):
        with Campaign.open(store, clock=Clock()) as campaign:
            _, ran = completions(campaign, lambda campaign=campaign: campaign.ask(count=2))
            assert ran == 1
            campaign.tell(answers_to(campaign.open_purchases()))


def test_a_round_that_never_got_into_the_log_is_not_kept():
    store, campaign = played(1)
    before = store.load_cache("study", at_most=10**6)
    campaign.preview(count=2)
    campaign._rounds._saved = 0
    campaign.close()
    kept = store.load_cache("study", at_most=10**6)
    assert kept == before or cache.thaw(kept[1])["rounds"] == campaign._log.state.rounds


def test_a_second_ask_in_a_round_needs_no_completion():
    _, campaign = played(2)
    _, ran = completions(campaign, lambda: campaign.ask(count=2))
    assert ran == 1
    first = cells(campaign.open_purchases())
    more, ran = completions(campaign, lambda: campaign.ask(count=2))
    assert ran == 0
    assert not set(more) & set(first)


class Burglar:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize(
    "content", ["burglar", "damaged", "other version", "not a dict", "other entries", "other parts"]
)
def test_a_bad_cache_is_ignored(tmp_path, content):
    store, campaign = played(2)
    versions = cache._versions()
    blobs = {
        "burglar": zlib.compress(pickle.dumps((versions, {"rounds": Burglar(tmp_path / "loot")}))),
        "damaged": b"damaged",
        "other version": zlib.compress(pickle.dumps((("0", "0", "0"), {"rounds": []}))),
        "other entries": zlib.compress(pickle.dumps((versions, {"rounds": [0]}))),
        "other parts": cache.freeze({"rounds": [0], "scores": None, "adviser": {"round": 1}}),
        "not a dict": zlib.compress(pickle.dumps((versions, [1]))),
    }
    assert content.startswith("other ") or cache.thaw(blobs[content]) is None
    store.save_cache("study", campaign.number, blobs[content])
    other = Campaign.open(store, clock=Clock()).replay(campaign.number)
    assert cells(other.ask(count=4)) == cells(campaign.ask(count=4))
    assert not (tmp_path / "loot").exists()


@pytest.mark.parametrize("name", strategy.names())
def test_every_strategy_plays_and_is_cached(name):
    """Three rounds, each with an answer; what is frozen can be thawed, so nothing more need be admitted."""
    _, campaign = played(3, name)
    assert campaign._log.state.rounds == [0, 2, 4]
    assert cache.thaw(cache.freeze({"adviser": campaign._rounds._adviser.state()})) is not None
    assert all(purchase.why for purchase in campaign.ask(count=3))


def test_a_cache_that_the_store_does_not_take_harms_nobody():
    store, campaign = played(SAVE_EVERY - 1)

    def too_large(*_):
        raise DataError("too large")

    store.save_cache = too_large
    assert len(campaign.ask(count=2)) == 2
