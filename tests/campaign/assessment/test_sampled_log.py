"""A campaign on row blocks is assessed by a sample of its rows."""

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.campaign.stores import MemoryStore
from tests.campaign.campaigns import Clock
from tests.campaign.on_blocks import begin_both, make_tables, values_for
from tests.strategy.labelled_in_part import both_without_labels

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return make_tables(tmp_path_factory.mktemp("campaigns"))


@pytest.mark.usefixtures("linear_model_in_use")
def test_the_status_is_that_of_a_sample(tables, monkeypatch):
    whole = begin_both(tables)
    found = [c.status(model="logistic regression", max_rounds=1) for c in whole]
    assert found[0].describe() == found[1].describe()  # every row is in the sample
    monkeypatch.setattr("cellworth.blocks.row_sample.SAMPLE_ROWS", 80)
    half, _ = begin_both(tables)
    batch = half.ask(count=10)
    half.tell(values_for(batch, tables["ids"][1], np.random.default_rng(1)))
    status = half.status(model="logistic regression")
    assert "on a sample of 80 of 160 rows" in status.note
    assert [point.spent for point in status.history] == [0.0, 15.0]
    assert [point.bought for point in status.history] == [0, 10]  # in all rows
    every = frozenset(tables["ids"][0].every(2).row_ids)
    assert any(each.row in every for each in batch)
    assert status.score.low < status.score.value < status.score.high
    assert status.prospect.cost == 1.5 * status.missing  # of all rows, to the cell


@pytest.mark.usefixtures("linear_model_in_use")
def test_labels_that_are_told_count_in_the_status(tmp_path, monkeypatch):
    tables = both_without_labels(tmp_path)
    said = {"prices": Prices.per_column({"ill": 3.0}, default=1.5), "budget": 300, "clock": Clock()}
    said["strategy"] = "label-error-reduction"
    both = [Campaign.create(table, store=MemoryStore(), **said) for table in tables]
    for campaign in both:
        campaign.tell({(each.row, "ill"): k % 2 for k, each in enumerate(campaign.ask(count=20))})
    found = [campaign.status(model="logistic regression") for campaign in both]
    assert found[0].describe() == found[1].describe()  # every row is in the sample
    monkeypatch.setattr("cellworth.blocks.row_sample.SAMPLE_ROWS", 80)
    half = Campaign.create(tables[0], store=MemoryStore(), **said)
    half.tell({(each.row, "ill"): k % 2 for k, each in enumerate(half.ask(count=20))})
    status = half.status(model="logistic regression")
    assert (status.spent, status.history[-1].bought) == (60.0, 20)
    assert status.prospect.cost == 1.5 * tables[0].n_holes  # labels are not forecast
