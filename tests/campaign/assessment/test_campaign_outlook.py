"""What more money would bring a campaign."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.campaign_outlook import outlook_ahead, past_purchases, present
from cellworth.campaign.assessment.learning_curve import Snapshot
from cellworth.campaign.state import State
from cellworth.errors import DataError
from tests.campaign.campaigns import PRICES, begin, gaussian_table, make_table

pytestmark = pytest.mark.usefixtures("linear_model_in_use")

PRICE = Prices.same(2.0)
MODEL, RIDGE = "logistic regression", "ridge regression"


def ahead_of(table, past=()):
    is_number = table.target is not None and table.target.label_kind == "number"
    return outlook_ahead(State(table), PRICE, lambda: past, RIDGE if is_number else MODEL, seed=0)


def test_where_a_campaign_is():
    campaign = begin(make_table(60))
    batch = campaign.ask(count=6)
    campaign.refuse(batch[:2], "lost")
    state, n = State(campaign.original), campaign.table.values.size
    for event in campaign.events():
        state.apply(event)
    now = present(state, PRICES)
    holes = int(campaign.table.holes.sum())
    assert now.known == 1 - holes / n
    assert now.reachable == pytest.approx(1 - 2 / n)  # the cells that are out can still be known
    wanted = campaign.table.holes.copy()
    for each in batch[:2]:
        wanted[campaign.table.row_index(each.row), campaign.table.column_index(each.column)] = False
    assert now.cost == PRICES.on(campaign.table).cost(np.argwhere(wanted), ~campaign.table.holes)


@pytest.mark.parametrize("kind", ["classes", "several", "number"])
def test_any_target_can_be_forecast(kind):
    table, _ = gaussian_table(kind=kind)
    found = ahead_of(table)
    assert found.metric == ("R2" if kind == "number" else "AUC")
    assert found.cost == 2 * table.holes.sum()
    assert found.now.value < found.all_known.value


def shots(table, *thinner):
    """Return snapshots of a table with less and less known, at equal prices, oldest first, and of it."""
    tables = [*thinner, table]
    return [Snapshot(k, k, 100.0 * k, 10 * k, each) for k, each in enumerate(tables)]


def test_purchases_that_brought_nothing_lower_the_forecast():
    table, _ = gaussian_table()
    alone = ahead_of(table)
    same = ahead_of(table, shots(table, table, table, table))  # the money bought nothing at all
    assert same.gain(100.0).value < alone.gain(100.0).value
    assert same.gain(100.0).high < alone.gain(100.0).high / 2
    few = ahead_of(table, shots(table, table, table))  # two earlier tables tell too little
    assert few.to_json() == alone.to_json()


def test_rows_and_labels_that_came_later_are_not_trained_on_before():
    table, _ = gaussian_table()
    younger = table.head(table.shape[0] // 2)
    past = past_purchases(shots(table, younger), np.arange(table.shape[0]))
    X, y = past.earlier[0]
    assert past.spent == [0.0, 100.0]
    assert np.isnan(X[len(X) // 2 :]).all()
    assert np.isnan(y[len(y) // 2 :]).all()
    np.testing.assert_array_equal(y[: len(y) // 2], younger.target.values)


def test_where_there_can_be_no_forecast():
    with pytest.raises(DataError, match="no target"):
        ahead_of(gaussian_table(kind="none")[0])
    with pytest.raises(DataError, match="nothing is left to buy"):
        ahead_of(gaussian_table(hidden=0.0)[0])


def test_that_nothing_can_be_forecast_is_not_found_out_twice(monkeypatch):
    X = np.full((40, 1), np.nan)
    X[0] = 1.0
    state, cache = State(Table.from_arrays(X, np.arange(40) % 2 == 0)), AssessmentCache()
    for _ in range(2):
        with pytest.raises(DataError, match="too few cells are known"):
            outlook_ahead(state, PRICE, tuple, MODEL, seed=0, cache=cache)
        monkeypatch.setattr("cellworth.forecasting.table_forecast.outlook_of", None)


def test_a_forecast_is_not_made_twice(monkeypatch):
    state, cache = State(gaussian_table()[0]), AssessmentCache()
    first = outlook_ahead(state, PRICE, tuple, MODEL, seed=0, cache=cache)
    monkeypatch.setattr("cellworth.forecasting.table_forecast.outlook_of", None)
    again = outlook_ahead(state, PRICE, tuple, MODEL, seed=0, cache=cache)
    assert again.to_json() == first.to_json()
    stored = AssessmentCache.unpack(cache.pack())
    of_store = outlook_ahead(state, PRICE, tuple, MODEL, seed=0, cache=stored)
    assert of_store.to_json() == first.to_json()  # the same figures in every process
