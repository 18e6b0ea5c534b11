"""Columns that nobody has measured: asked for first, guessed widely, and in nobody's way."""

import numpy as np
import pytest

from cellworth import Campaign, CompletingClassifier, Table, advise, fill
from cellworth.campaign.stores import MemoryStore
from cellworth.strategy.choose_batch import FIRST_CELLS, explored

TRUTH = np.random.default_rng(1).normal(size=(60, 3)) @ [[1, 0.8, 0], [0, 1, 0], [0, 0.5, 1]]


@pytest.fixture(scope="module")
def table():
    rng, X = np.random.default_rng(0), TRUTH
    y = np.where(X[:, 0] + X[:, 1] > 0, "ill", "well")
    cells = X.astype(object)
    cells[rng.random(X.shape) < 0.3] = None
    cells = np.column_stack([cells, np.full((60, 2), None)])
    return Table.from_arrays(
        cells,
        y,
        columns=["a", "b", "c", "dose", "hue"],
        kinds={"dose": "number"},
        bounds={"dose": (0, 20)},
        categories={"hue": ["blue", "green", "red"]},
    )


def test_some_cells_come_before_all_others():
    scores = np.random.default_rng(0).random((40, 3))
    found = explored(scores, np.array([False, True, False]), np.random.default_rng(1))
    first = found > scores[:, [0, 2]].max()
    assert first.sum(axis=0).tolist() == [0, FIRST_CELLS, 0]
    np.testing.assert_array_equal(found[:, [0, 2]], scores[:, [0, 2]])
    assert explored(scores, np.zeros(3, bool), None) is scores
    assert (explored(np.zeros((4, 1)), np.array([True]), np.random.default_rng(0)) > 0).all()


@pytest.mark.parametrize("name", ["recommended", "linear-impact", "random", "afasmc"])
def test_the_first_ask_has_some_of_each(table, name):
    batch = advise(table, prices={"a": 1, "b": 1, "c": 1, "dose": 5, "hue": 2}, budget=100, strategy=name)
    columns = [purchase.column for purchase in batch]
    assert columns.count("dose") >= FIRST_CELLS // 2
    assert columns.count("hue") >= FIRST_CELLS // 2
    assert any("nobody has measured" in purchase.why for purchase in batch)


def test_fill_gives_the_middle_with_wide_intervals(table):
    filled = fill(table, level=0.9)
    assert (filled.table.values[:, 3] == 10).all()
    low, high = filled.interval("dose")
    assert (high - low == 18).all()
    assert not filled.table.holes.any()
    np.testing.assert_allclose(filled.variance[:, 3], 400 / 12)
    others = fill(Table(table.columns[:3], table.values[:, :3], table.row_ids, table.target), level=0.9)
    with_them, without = (
        np.abs(each.table.values[:, :3] - TRUTH)[table.holes[:, :3]].mean() for each in (filled, others)
    )
    # The made-up values are independent of the rest, so the other columns are filled almost as without them.
    assert with_them < 1.15 * without


def test_a_model_is_trained(table):
    model = CompletingClassifier(model="logistic regression", seconds=None).fit(table)
    assert model.score(table, np.array(table.target.classes)[table.y.astype(int)]) > 0.7


def test_a_campaign_runs_from_the_first_ask_to_the_status(table, tmp_path):
    store = tmp_path / "study.db"
    campaign = Campaign.create(table, prices=1.0, budget=100, strategy="linear-impact", store=store)
    asked = campaign.ask(budget=30)
    columns = [purchase.column for purchase in asked]
    assert min(columns.count("dose"), columns.count("hue")) >= FIRST_CELLS
    rng = np.random.default_rng(0)
    campaign.tell(
        {
            (each.row, each.column): "red" if each.column == "hue" else float(rng.uniform(1, 19))
            for each in asked
        }
    )
    assert np.isfinite(campaign.status(repeats=1, max_rounds=2, model="logistic regression").score.value)
    again = campaign.ask(budget=20)
    assert len(again) == 20
    assert [purchase.column for purchase in again].count("dose") < 20
    filled = campaign.fill()
    assert not filled.table.holes.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["recommended", "linear-impact"])
def test_after_the_first_answer_it_is_still_asked_for(table, name):
    """One cell at a time. Of four columns, its share is 3 of 12."""
    small = Table(table.columns[:4], table.values[:, :4], table.row_ids, table.target)
    campaign = Campaign.create(small, prices=1.0, strategy=name, store=MemoryStore())
    columns = []
    for _ in range(12):
        (cell,) = campaign.ask(count=1)
        columns.append(cell.column)
        value = 10 + 2 * TRUTH[int(cell.row), 0]
        campaign.tell({(cell.row, cell.column): float(np.clip(value, 0, 20))})
    assert columns[0] == "dose"
    assert columns.count("dose") >= 3
