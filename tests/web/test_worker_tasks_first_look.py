"""First results on a large table come from a sample of its rows, and are near those of the whole."""

from functools import partial

import numpy as np
import pytest

from cellworth import Campaign, Prices, Table
from cellworth.campaign.stores import MemoryStore
from cellworth.report import columns_summary, overview_summary, people_summary, summarise
from cellworth.web import worker_tasks as looks
from tests.strategy.test_block_batch import both_of, make_frame


@pytest.fixture(scope="module")
def campaign():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)) + rng.normal(size=(3000, 1))
    y = X[:, 0] + X[:, 1] > 0
    X[rng.random(X.shape) < np.linspace(0.1, 0.6, 6)] = np.nan
    table = Table.from_arrays(X, y, columns=list("abcdef"))
    return Campaign.create(table, prices=Prices.same(1.0), strategy="random", store=MemoryStore())


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(looks, "LARGE", 10_000)
    monkeypatch.setattr(looks, "SAMPLE", 400)


def test_a_small_table_needs_no_sample(campaign):
    assert looks.first_look(campaign, looks.quick_status) is None


def test_a_sample_is_drawn_from_all_rows_in_their_order(campaign, small_limits):
    few = looks.sample_of(campaign.table, 3)
    places = [campaign.table.row_index(row) for row in few.row_ids]
    assert places == sorted(set(places))
    assert len(places) == 400
    assert np.mean(places) == pytest.approx(1500, abs=5 * 3000 / np.sqrt(12 * 400))  # five standard errors
    assert np.array_equal(few.values, campaign.table.values[places], equal_nan=True)
    assert np.array_equal(few.y, campaign.table.y[places])
    assert looks.sample_of(campaign.table, 3).row_ids == few.row_ids


def test_the_score_of_a_sample_is_near_that_of_the_whole(campaign, small_limits):
    found = looks.first_look(campaign, looks.quick_status)
    assert found["rows"] == 400
    score = found["status"]["history"][-1]["score"]
    whole = looks.quick_status(campaign)["status"]["history"][-1]["score"]
    # Twice the 95 % intervals: they hold for either alone.
    assert abs(score["value"] - whole["value"]) < score["high"] - score["low"] + whole["high"] - whole["low"]
    assert campaign.number == 0


def test_shares_of_columns_are_those_of_the_whole(campaign, small_limits):
    found = looks.first_look(campaign, partial(summarise, summary=columns_summary))
    shares = {each["name"]: each["holes"] for each in found["columns"]}
    for name, share in zip("abcdef", np.linspace(0.1, 0.6, 6), strict=True):
        assert shares[name] == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 400))


def test_prices_that_a_sample_cannot_have_give_no_sample(campaign, small_limits):
    def fails(_):
        raise looks.CellworthError("no")

    assert looks.first_look(campaign, fails) is None


def test_row_blocks_are_always_looked_at_by_a_sample(tmp_path):
    table, _ = both_of(tmp_path, make_frame(np.random.default_rng(0)))
    with Campaign.create(table, store=MemoryStore(), prices=1.5, strategy="random") as campaign:
        campaign.ask(count=3, who="Ann")
        looked = looks.first_look(campaign, partial(summarise, summary=columns_summary))
        assert looked["rows"] <= 2 * looks.SAMPLE
        assert {each["name"] for each in looked["columns"]} == set(table.column_names)
        assert overview_summary(campaign).status.open == 3
        assert people_summary(campaign).overdue == 0
        whole = columns_summary(campaign)
        assert {each.name for each in whole.columns} == set(table.column_names)
