"""A campaign on row blocks is assessed by a sample of its rows."""

import numpy as np
import pytest

from tests.campaign.on_blocks import begin_both, make_tables, values_for

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
    assert status.prospect.cost == pytest.approx(1.5 * status.missing, rel=0.1)  # of all rows
