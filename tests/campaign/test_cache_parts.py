"""Two parts in the one cache of a store."""

import pytest

from cellworth.campaign.cache import ASSESSMENT, ROUNDS, load_part, save_part
from cellworth.campaign.stores.memory import MemoryStore
from tests.campaign.campaigns import begin


@pytest.fixture
def store():
    store = MemoryStore()
    begin(store=store)
    return store


def test_each_part_is_kept_when_the_other_is_saved(store):
    assert load_part(store, "study", 9, ROUNDS) is None
    save_part(store, "study", 3, ROUNDS, b"rounds")
    assert store.load_cache("study", 9) == (3, b"rounds")  # as it always was
    assert load_part(store, "study", 9, ASSESSMENT) is None
    save_part(store, "study", 5, ASSESSMENT, b"assessment")
    assert load_part(store, "study", 9, ROUNDS) == b"rounds"
    assert load_part(store, "study", 9, ASSESSMENT) == b"assessment"
    save_part(store, "study", 6, ROUNDS, b"later")
    assert load_part(store, "study", 9, ROUNDS) == b"later"
    assert load_part(store, "study", 9, ASSESSMENT) == b"assessment"


def test_a_cache_of_later_events_is_left_alone(store):
    save_part(store, "study", 5, ASSESSMENT, b"assessment")
    assert load_part(store, "study", 4, ASSESSMENT) is None
    save_part(store, "study", 4, ROUNDS, b"rounds")
    assert load_part(store, "study", 9, ASSESSMENT) == b"assessment"
    assert load_part(store, "study", 9, ROUNDS) is None
