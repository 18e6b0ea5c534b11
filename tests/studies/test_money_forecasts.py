"""The study of forecasts and stops: a summary by hand, and one small table from end to end."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.simulation.hidden_truth import make_world
from studies.money import forecasts, stop_runs
from studies.money.development_tables import RunStart
from studies.money.forecasts import SHARES, ForecastCase, forecasts_part
from studies.money.kept_cases import CaseFolder, StartTask
from studies.money.stops import stops_part
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
    for module in (forecasts, stop_runs):
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
    points = list(stop_runs.run_table("abalone", 0.5, 0))
    assert points[0].share == 0
    assert points[-1].share == 1.0
    assert points[-1].score > points[0].score
    assert (
        points[0].reached[5] < points[0].reached[50] < points[-2].reached[50] < points[-1].reached[50] == 1.0
    )
    assert points[-2].gain[95] < points[0].gain[95]
