"""Where the Gaussian chooses rank margins, a new process goes on from the cache and reruns no round."""

import logging

import numpy as np
import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from cellworth.campaign.cache import pack_cache, unpack_cache
from cellworth.campaign.stores.memory import MemoryStore
from tests.campaign.campaigns import Clock, begin, cells, completions


@pytest.fixture(scope="module")
def skewed():
    """A store with a campaign of three rounds on a table whose columns are far from normal."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(150, 1)) + 0.4 * rng.normal(size=(150, 5))
    X = np.exp(2 * z)
    table = Table.from_arrays(np.where(rng.random(X.shape) < 0.4, np.nan, X), z[:, 0] > 0)
    store = MemoryStore()
    campaign = begin(table, store=store, strategy="linear-impact", prices=None, budget=None)
    for _ in range(3):
        batch = campaign.ask(count=4)
        answers = {(p.row, p.column): X[int(p.row), table.column_index(p.column)] for p in batch}
        campaign.tell(answers, insist=True)
    return store


def ranked(content):
    """Say whether the completer in a cache has rank margins."""
    return content["adviser"]["completer"]["margins_"] == "rank"


def test_a_new_process_runs_the_next_round_only(skewed):
    number, blob = skewed.load_cache("study", 10**9)
    assert ranked(unpack_cache(blob))
    batch, ran = completions(lambda: Campaign.open(skewed, clock=Clock()).preview(count=5))
    assert ran == 1
    skewed.drop_cache("study")
    again, ran = completions(lambda: Campaign.open(skewed, clock=Clock()).preview(count=5))
    skewed.save_cache("study", number, blob)
    assert ran == 4
    assert again == batch


@pytest.mark.parametrize("change", ["fitted", "cells", "posterior"])
def test_a_malformed_fit_is_ignored_with_a_note(skewed, change, caplog):
    number, blob = skewed.load_cache("study", 10**9)
    expected = cells(Campaign.open(skewed, clock=Clock()).preview(count=5))
    content = unpack_cache(blob)
    del content["adviser"]["completer"][change]
    skewed.save_cache("study", number, pack_cache(content))
    with caplog.at_level(logging.INFO, logger="cellworth.campaign"):
        batch, ran = completions(lambda: Campaign.open(skewed, clock=Clock()).preview(count=5))
    skewed.save_cache("study", number, blob)
    assert "ignoring the cache of campaign 'study'" in caplog.text
    assert ran == 4
    assert batch == expected
