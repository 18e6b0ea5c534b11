"""What a forecast answers: monotone, invertible, in words and in figures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.forecasting.curve_by_share import RisingCurve
from cellworth.forecasting.outlook import CostEstimate, Outlook, quantiles
from cellworth.model.cross_validation import Estimate
from tests.forecasting.outlooks import outlook


def test_more_money_is_never_forecast_lower():
    found = outlook()
    each = [found.at(money=money) for money in np.linspace(0, 1200, 50)]
    for end in ("low", "value", "high"):
        assert (np.diff([getattr(one, end) for one in each]) >= 0).all()
    assert each[0] == found.now
    assert each[-1] == found.all_known  # 1,000 is all that can be spent


def test_money_and_share_are_two_ways_to_ask():
    found = outlook()
    part = 1 - (1 - 0.25) ** 1.6
    assert found.at(money=250.0) == found.at(share=0.2 + part * 0.8)
    gain = found.gain(250.0)
    assert 0 <= gain.low <= gain.value <= gain.high
    assert gain.value == found.at(money=250.0).value - found.now.value


def test_the_cost_of_a_score_is_the_inverse():
    found = outlook()
    for score in np.linspace(found.now.value + 0.005, found.all_known.value - 0.005, 7):
        cost = found.cost_of(score)
        assert found.at(money=cost.value).value >= score > found.at(money=cost.value - 0.01).value
        assert found.at(money=cost.low).high >= score
        assert cost.low == 0 or found.at(money=cost.low - 0.01).high < score
        assert cost.low <= cost.value
        assert cost.high is None or cost.high >= cost.value


def test_scores_that_are_reached_or_out_of_reach():
    found = outlook()
    assert found.cost_of(0.1) == CostEstimate(0.0, 0.0, 0.0)
    assert found.cost_of(1.0) == CostEstimate(None, None, None)
    assert "out of reach, even with all cells" in found.describe(1.0)
    assert "reached already" in found.describe(0.1)
    assert "Reaching AUC" in found.describe(found.now.value + 0.01)


def test_words_and_figures():
    found = outlook()
    text = found.describe()
    for words in ("With 20 % of the cells known", "AUC on complete rows", "Spending 100.00", "1,000.00"):
        assert words in text
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["points"][0]["money"] == 0
    assert data["points"][-1]["value"] == data["all_known"]["value"] == found.all_known.value


def test_it_can_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    ax = outlook().plot()
    assert ax.get_ylabel() == "AUC on complete rows"
    assert ax.get_xlabel() == "money spent from now on"
    assert outlook().plot(ax) is ax
    assert replace(outlook(), currency="EUR").plot().get_xlabel() == "money spent from now on (EUR)"


def test_after_purchases_the_curve_is_the_same():
    found = outlook()
    later = found.moved(known=0.5, reachable=0.9, cost=400.0)
    assert later.now == found.at(share=0.5)
    assert later.all_known == found.at(share=0.9)
    assert later.at(money=400.0) == later.all_known


def test_another_forecast_of_the_gain_moves_this_one():
    found = outlook()
    before = found.gain(100.0)
    higher = found.weighed(100.0, Estimate(before.high, before.high - 0.001, before.high + 0.001))
    lower = found.weighed(100.0, Estimate(0.0, -0.001, 0.001))
    assert lower.gain(100.0).value < before.value < higher.gain(100.0).value
    assert higher.curve.draws.shape == found.curve.draws.shape


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "either money or share"),
        ({"money": 1.0, "share": 0.5}, "either money or share"),
        ({"money": -1.0}, "money must be 0 or more"),
        ({"share": 0.1}, "which is known now"),
        ({"share": 1.1}, "which can be known"),
    ],
)
def test_wrong_questions(asked, message):
    with pytest.raises(ParameterError, match=message):
        outlook().at(**asked)
    for score in (float("nan"), 1.5, float("-inf")):
        with pytest.raises(ParameterError, match="score must be at most 1"):
            outlook().cost_of(score)


def test_nothing_left_to_buy():
    done = outlook().moved(known=1.0, reachable=1.0, cost=0.0)
    assert isinstance(done, Outlook)
    assert done.at(money=5.0) == done.now
    assert "Spending" not in done.describe()


def test_it_prints_what_it_says_and_shows_no_arrays():
    found = outlook()
    assert str(found) == found.describe()
    assert "array" not in repr(found)
    assert repr(found).startswith("Outlook(metric=")


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (100,), (9, 4)])
def test_quantiles_are_those_of_numpy(shape):
    draws = np.random.default_rng(0).normal(size=shape)
    at = [0.0, 0.05, 0.5, 0.77, 0.95, 1.0]
    assert quantiles(draws, at) == pytest.approx(np.quantile(draws, at, axis=0), rel=1e-12)


def test_amounts_have_the_currency_of_the_prices():
    found = replace(outlook(), currency="EUR")
    assert "Spending 100.00 EUR, a tenth of what all missing cells cost" in found.describe()
    assert "for 1,000.00 EUR, would add" in found.describe()
    assert replace(found, currency="JPY").text(1234.5) == "1,234 JPY"
    assert found.moved(known=0.3, reachable=1.0, cost=5.0, currency="EUR").currency == "EUR"
    assert found.to_json()["currency"] == "EUR"


def test_a_score_within_the_doubt_of_today_is_not_said_to_cost_nothing():
    """The upper end of the score now reaches it, but the middle of the forecast with all cells does not."""
    shares = np.linspace(0.5, 1.0, 11)
    draws = np.array([[0.8] * 11] * 8 + [[0.95] * 11] * 2)
    found = Outlook("AUC", "extra trees", 0.5, 1.0, 100.0, RisingCurve(shares, draws))
    said = found.describe(score=0.9)
    assert said.endswith(
        "AUC 0.9 is probably out of reach, even with all cells; at best, it is reached already."
    )
