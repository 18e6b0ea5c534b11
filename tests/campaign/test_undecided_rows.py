"""Rows of a campaign that are not decided: what to measure next, and back into the table."""

import numpy as np
import pytest

from cellworth import Campaign, Prices, Table
from cellworth.blocks import ThreadEngine
from cellworth.campaign import undecided_rows
from cellworth.campaign.stores import MemoryStore
from cellworth.campaign.undecided_rows import fitted_in_use
from cellworth.errors import DataError, SampleWarning

SAID = {"error_cost": 1000.0, "model": "logistic regression", "draws": 256}


@pytest.fixture
def campaign():
    """A campaign in which the last five rows have no label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(2 * X[:, 0] + X[:, 1] > 0, "ill", "well").astype(object)
    X[rng.random(X.shape) < 0.3] = np.nan
    y[-5:] = None
    X[-5:] = np.nan
    table = Table.from_arrays(X, y, columns=["scan", "blood", "shoe"])
    return Campaign.create(table, prices=Prices.same(2.0), store=MemoryStore(), strategy="random")


def test_undecided_rows_are_listed_until_they_are_decided(campaign):
    found = campaign.undecided(**SAID)
    assert [step.row for step in found] == ["115", "116", "117", "118", "119"]
    assert {step.take for step in found} == {("scan",)}
    campaign.refuse([("115", "scan")], "broken")
    campaign.tell({("116", "scan"): 5.0, ("116", "blood"): 3.0}, unsolicited=True, price=2.0)
    later = {step.row: step for step in campaign.undecided(**SAID)}
    assert "116" not in later  # so far from the border that nothing more would change the decision
    assert later["115"].take == ("blood",)
    assert campaign.next_cell("116", **SAID).stop
    assert campaign.table.values[116, 0] == 5.0
    assert campaign.spent == 4.0


def test_a_new_row_comes_in_and_the_policy_is_kept_until_the_table_changes(campaign):
    policy = campaign.policy(**SAID)
    assert campaign.policy(**SAID) is policy
    assert policy.next_cell({"shoe": 0.0}).take == ("scan",)
    campaign.extend({"new": {"shoe": 0.0}})
    assert campaign.policy(**SAID) is not policy
    assert campaign.next_cell("new", **SAID).take == ("scan",)
    with pytest.raises(DataError, match="'119'"):
        campaign.next_cell("11x9", **SAID)


def test_cells_that_are_out_are_not_asked_for_again(campaign):
    out = campaign.ask(count=200)
    rows = {row for row, _ in out.cells}
    for step in campaign.undecided(**SAID):
        assert step.row not in rows or not {(step.row, name) for name in step.take} & set(out.cells)


def test_without_a_target_there_is_nothing_to_predict():
    table = Table.from_arrays([[1.0, np.nan], [2.0, 3.0]])
    campaign = Campaign.create(table, store=MemoryStore(), strategy="random")
    with pytest.raises(DataError, match="target"):
        campaign.policy(budget=1)


def test_the_model_in_use_knows_all_classes_of_the_table(campaign):
    fitted = fitted_in_use(campaign.table, "logistic regression", 0)
    assert fitted.n_classes == 2
    assert fitted.predict(campaign.table.encode().X).shape == (120, 2)


@pytest.fixture
def on_blocks(campaign, tmp_path):
    """The same campaign on row blocks."""
    campaign.original.write(tmp_path / "table.parquet")
    table = Table.open(tmp_path / "table.parquet", target="target", engine=ThreadEngine(1, block_rows=50))
    return Campaign.create(table, prices=Prices.same(2.0), store=MemoryStore(), strategy="random")


def test_row_blocks_have_the_same_steps(campaign, on_blocks):
    both = campaign, on_blocks
    for each in both:
        each.refuse([("115", "scan")], "broken")
        each.tell({("116", "scan"): 5.0, ("117", "shoe"): 3.0}, unsolicited=True, price=2.0)
    expected, found = ([step.to_json() for step in each.undecided(**SAID)] for each in both)
    assert found == expected
    assert {step["row"] for step in found} >= {"118"}
    assert campaign.next_cell("115", **SAID).to_json() == on_blocks.next_cell("115", **SAID).to_json()


def test_of_many_undecided_rows_in_blocks_the_first_are_looked_at(on_blocks, monkeypatch):
    monkeypatch.setattr(undecided_rows, "MOST_UNDECIDED", 2)
    with pytest.warns(SampleWarning, match="only the first 2 of 5 rows without a label"):
        assert [step.row for step in on_blocks.undecided(**SAID)] == ["115", "116"]
