"""The study of forecasts: its summary by hand, and one small table from end to end."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.simulation.hidden_truth import make_world
from studies.money import forecasts, stops
from studies.money.development_tables import RunStart
from studies.money.forecasts import SHARES, ForecastCase, describe
from studies.money.stops import RULES, StopPoint
from tests.model.holed_tables import holed


def case(truth, error=0.0, half="tune"):
    return ForecastCase("abalone", half, "extra trees", 0.2, 0.5, 0, False, 0.7, 0.8, 0.9, truth, error)


def test_an_interval_is_widened_by_the_error_of_the_truth():
    assert case(0.71).inside
    assert not case(0.68).inside
    assert case(0.68, error=0.1).inside


def test_the_summary_counts():
    text = describe([case(0.8), case(0.85), case(0.6), case(0.91, 0.05)])
    assert "tune, AUC: 4 forecasts, 90 % intervals cover 75%, mean absolute error 0.090, bias +0.010" in text
    assert "report, " not in text


def test_a_stop_is_compared_with_the_cheapest():
    first, *others = RULES
    spent = [(0.0, 0.7), (0.03, 0.85), (0.06, 0.89), (0.1, 0.895), (1.0, 0.9)]
    points = [
        StopPoint("abalone", 0.2, 0, share, score, (first,) if share >= 0.1 else (), 0.0, 1.0)
        for share, score in spent
    ]
    points[-1] = StopPoint("abalone", 0.2, 0, 1.0, 0.9, tuple(RULES), 0.0, 1.0)
    text = stops.describe(points).splitlines()
    assert "1 runs, 10% of the cost spent in the median" in text[1]
    assert "100% reach 98% of the best score, at 1.7 times its cost" in text[1]
    assert "100% of the cost spent" in text[3]
    assert len(text) == 2 * len([first, *others])


@pytest.fixture
def small(monkeypatch):
    _, y, X = holed(n=240)
    table = Table.from_arrays(X, y)

    def start_of(name, observed, seed):
        world = make_world(table, observed=observed, train=0.5, seed=seed)
        prices = Prices.same(1.0).on(table).of_rows(world.rows)
        return RunStart(table, world, prices, float(world.hidden.sum()))

    linear = forecasts.models(is_number=False)[1:]
    for module in (forecasts, stops):
        monkeypatch.setattr(module, "start_of", start_of)
        monkeypatch.setattr(module, "models", lambda is_number: linear)


@pytest.mark.slow
def test_forecasts_of_a_table(small):
    cases = list(forecasts.run_table("abalone", 0.2, 0))
    assert [each.share for each in cases] == list(SHARES)
    assert all(each.low < each.value < each.high for each in cases)
    assert (np.diff([each.value for each in cases]) > 0).all()


@pytest.mark.slow
def test_stops_of_a_table(small):
    points = list(stops.run_table("abalone", 0.5, 0))
    assert points[0].share == 0
    assert (points[-1].share, set(points[-1].stops)) == (1.0, set(RULES))
    assert points[-1].score > points[0].score
