"""The study of forecasts: its summary by hand, and one small table from end to end."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.simulation.hidden_truth import make_world
from studies.money import forecasts, stops
from studies.money.development_tables import RunStart
from studies.money.forecasts import SHARES, ForecastCase, forecasts_part
from studies.money.kept_cases import CaseFolder, StartTask
from studies.money.stops import RULES, StopPoint, stop_figures, stops_part
from tests.model.holed_tables import holed


def case(truth, error=0.0, share=0.5):
    return ForecastCase("abalone", "extra trees", 0.2, share, 0, False, 0.7, 0.8, 0.9, truth, error)


def test_an_interval_is_widened_by_the_error_of_the_truth():
    assert case(0.71).inside
    assert not case(0.68).inside
    assert case(0.68, error=0.1).inside


def keep(folder, part, cases):
    file = StartTask(part, "abalone", 0.2, 0).file(folder)
    file.write_text(json.dumps([asdict(each) for each in cases]))
    return [("abalone", 0.2, 0)], CaseFolder(folder, only_kept=True)


def test_the_summary_counts(tmp_path):
    cases = [case(0.8, share=0.3), case(0.6), case(0.91, 0.05, share=1.0)]
    text = forecasts_part(*keep(tmp_path, "forecasts", cases))
    assert "| tuning, AUC | all | 3 | 67% | 0.103 | +0.030 | 0.20 |" in text
    assert "| tuning, AUC | 20% to 50% | 1 | 0% | 0.200 | +0.200 | 0.20 |" in text
    assert "The aim is missed on the tuning half (67%). Outside: 1 of 3: abalone (20% to 50%)." in text
    assert "| 0.80 (0.70 to 0.90): 0.80 | 0.80 (0.70 to 0.90): **0.60** | 0.80 (0.70 to 0.90): 0.91 |" in text
    assert "| report, " not in text


def test_a_stop_is_compared_with_the_cheapest(tmp_path):
    first, *others = RULES
    spent = [(0.0, 0.7), (0.03, 0.85), (0.06, 0.89), (0.1, 0.895), (1.0, 0.9)]
    points = [
        StopPoint("abalone", 0.2, 0, share, score, (first,) if share >= 0.1 else (), 0.0, 1.0)
        for share, score in spent
    ]
    points[-1] = StopPoint("abalone", 0.2, 0, 1.0, 0.9, tuple(RULES), 0.0, 1.0)
    figures = stop_figures(first, [points], of_best=True)
    assert (figures.spent, figures.reached, figures.times) == (0.1, 1.0, pytest.approx(0.1 / 0.06))
    assert stop_figures(others[0], [points], of_best=True).spent == 1.0
    text = stops_part(*keep(tmp_path, "stops", points))
    assert f"| {first} | tuning | 1 | 10% | 100%, 1.7 times | 100%, 1.7 times |" in text
    assert "the aim for the score is met (100% of the runs), that for the money missed (1.7 times)" in text
    assert "It stopped too early on no table; on none the score had fallen" in text
    assert "| abalone | tuning | 20% | 0.700 | 0.900 | 0.900 | 10% | 0.895 | 6% |" in text


@pytest.mark.parametrize("part", [forecasts_part, stops_part])
def test_a_part_that_was_not_run_says_so(part, tmp_path):
    text = part([("abalone", 0.2, 0)], CaseFolder(tmp_path, only_kept=True))
    assert text.endswith("**Not run yet**: none of the 1 starts.")


@pytest.fixture
def small(monkeypatch, linear_model_in_use):
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
