"""What more money would bring a campaign."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.campaign.forecast import Forecast
from cellworth.campaign.prospects import StatusModel, full_outlook, present, quick_outlook
from cellworth.campaign.state import State
from cellworth.complete.linear_model import LinearModel
from cellworth.errors import DataError
from cellworth.model.cross_validation import Estimate
from tests.campaign.campaigns import PRICES, begin, gaussian_table, make_table

EARLY = Forecast("too early")
PRICE = Prices.same(2.0)


def quick(table, past=EARLY):
    return quick_outlook(State(table), PRICE, past, seed=0)


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


def test_the_model_is_that_of_the_learning_curve():
    X, rng = np.random.default_rng(0).normal(size=(50, 3)), np.random.default_rng(1)
    classes = rng.integers(0, 3, 50)
    own = StatusModel(is_number=False).fit(X, classes)
    same = LinearModel.fit(X, classes.astype(float), is_number=False)
    assert np.array_equal(own.predict_proba(X), same.probabilities(X))
    number = StatusModel(is_number=True).fit(X, X[:, 0])
    assert number.predict(X) == pytest.approx(X[:, 0], abs=0.2)
