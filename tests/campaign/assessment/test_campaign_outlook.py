"""What more money would bring a campaign."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.campaign_outlook import full_outlook, present, quick_outlook
from cellworth.campaign.assessment.curve_forecast import Forecast
from cellworth.campaign.state import State
from cellworth.errors import DataError
from cellworth.model.cross_validation import Estimate
from tests.campaign.campaigns import PRICES, begin, gaussian_table, make_table

pytestmark = pytest.mark.usefixtures("linear_model_in_use")

EARLY = Forecast("too early")
PRICE = Prices.same(2.0)
MODEL, RIDGE = "logistic regression", "ridge regression"


def quick(table, past=EARLY):
    is_number = table.target is not None and table.target.label_kind == "number"
    return quick_outlook(State(table), PRICE, past, RIDGE if is_number else MODEL, seed=0)


def full(table):
    settings = {"model": "logistic regression", "seconds": None, "seed": 0, "n_jobs": None, "progress": None}
    return full_outlook(State(table), PRICE, EARLY, **settings)


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
    found = quick(table)
    assert found.metric == ("R2" if kind == "number" else "AUC")
    assert found.cost == 2 * table.holes.sum()
    assert found.now.value < found.all_known.value


def test_the_past_of_the_campaign_is_weighed_in():
    table, _ = gaussian_table()
    alone = quick(table)
    flat = quick(table, Forecast("at most", 100.0, Estimate(0.0, 0.0, 0.001)))
    assert flat.gain(100.0).value < alone.gain(100.0).value


def test_where_there_can_be_no_forecast():
    assert quick(gaussian_table(kind="none")[0]) is None
    complete, _ = gaussian_table(hidden=0.0)
    assert quick(complete) is None
    X = np.full((40, 1), np.nan)
    X[0] = 1.0
    assert quick(Table.from_arrays(X, np.arange(40) % 2 == 0)) is None
    with pytest.raises(DataError, match="nothing is left to buy"):
        full(complete)
    with pytest.raises(DataError, match="no target"):
        full(gaussian_table(kind="none")[0])


def test_a_forecast_is_not_made_twice(monkeypatch):
    state, cache = State(gaussian_table()[0]), AssessmentCache()
    first = quick_outlook(state, PRICE, EARLY, MODEL, seed=0, cache=cache)
    monkeypatch.setattr("cellworth.forecasting.table_forecast.outlook_of", None)
    again = quick_outlook(state, PRICE, EARLY, MODEL, seed=0, cache=cache)
    assert again.to_json() == first.to_json()
    stored = AssessmentCache.unpack(cache.pack())
    of_store = quick_outlook(state, PRICE, EARLY, MODEL, seed=0, cache=stored)
    assert of_store.to_json() == first.to_json()  # the same figures in every process
