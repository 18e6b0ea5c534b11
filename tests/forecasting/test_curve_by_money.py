"""Forecasts, against curves that are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.forecasting.curve_by_money import LEAST_SCORES, forecast, project


def noisy_curve(curve, seed, k=8, n=150):
    """Scores of a known curve: off together as one sample of rows, and each by itself."""
    rng = np.random.default_rng(seed)
    money = np.linspace(0, 100, k)
    influence = rng.normal(size=(n, 1)) + 0.15 * rng.normal(size=(n, k)).cumsum(axis=1)
    influence = 0.02 * np.sqrt(n) * (influence - influence.mean(axis=0))
    scores = curve(money) + rng.normal(size=n) @ influence / n + 0.002 * rng.normal(size=k)
    return money, scores, influence, rng


CURVES = {
    "levels off": lambda m: 0.85 - 0.1 * np.exp(-m / 60),
    "slowly": lambda m: 0.9 - 0.15 / np.sqrt(1 + m / 20),
    "straight": lambda m: 0.7 + 0.0008 * m,
}


@pytest.mark.parametrize("name", CURVES)
def test_forecasts_cover_curves_that_are_known(name):
    """In 300 courses each, 86 % (a straight line, the edge of what is fitted) to 96 % were covered."""
    curve = CURVES[name]
    truth = curve(150.0) - curve(100.0)
    found = [
        project(*noisy_curve(curve, seed)[:3], 50.0, np.random.default_rng(0)).last() for seed in range(80)
    ]
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.78
    assert np.mean([each.value for each in found]) == pytest.approx(truth, rel=0.5)


def test_without_noise_the_curve_is_found():
    money = np.linspace(0, 100, 9)
    found = project(
        money, CURVES["levels off"](money), np.zeros((10, 9)), 50.0, np.random.default_rng(0)
    ).last()
    assert found.value == pytest.approx(0.0107, abs=0.004)  # the other curve levels off later


@pytest.mark.parametrize("slope", [0.0, -0.0002])
def test_no_gain_is_called_none(slope):
    verdicts = []
    for seed in range(20):
        money, scores, influence, rng = noisy_curve(lambda m: 0.8 + slope * m, seed)
        found = forecast(money, scores, influence, 50.0, rng)
        assert found.gain.low == 0
        verdicts.append(found.verdict)
    assert set(verdicts) == {"at most"}


def test_when_there_is_no_forecast():
    money, scores, influence, rng = noisy_curve(CURVES["straight"], 0, k=LEAST_SCORES)
    assert forecast(money, scores, influence, 50.0, rng).verdict == "too early"
    assert forecast(0 * money, scores, influence, 50.0, rng).verdict == "too early"
    assert forecast(money, scores, influence, 0.0, rng).verdict == "nothing left"
    money, scores, influence, rng = noisy_curve(CURVES["straight"], 0)
    assert forecast(money, scores, influence, 1000.0, rng).money == 100.0  # as far as it has come
    assert forecast(money, scores, influence, 1000.0, rng).verdict == "expected"


@given(st.lists(st.floats(-1, 1), min_size=5, max_size=9), st.floats(0.1, 500))
@settings(max_examples=40)
def test_a_forecast_is_never_nonsense(scores, ahead):
    k = len(scores)
    influence = np.random.default_rng(0).normal(size=(20, k))
    found = project(np.arange(k) * 7.0, np.array(scores), influence, ahead, np.random.default_rng(0))
    assert (found.low >= 0).all()
    assert (found.low <= found.gain).all()
    assert (found.gain <= found.high).all()
    assert found.gain[0] == 0
    assert (np.diff(found.gain) >= -1e-12).all()
    assert found.gain[-1] <= 2.0  # from -1 at the lowest to 1
