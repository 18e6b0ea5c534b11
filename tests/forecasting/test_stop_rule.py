"""When to stop: a truth table of the rules."""

import json
from dataclasses import replace

import pytest

from cellworth import StopRule
from cellworth.errors import ParameterError
from cellworth.forecasting.stop_rule import decide
from tests.forecasting.outlooks import certain, outlook

TENTH = 1 - 0.9**1.6
"""What the next tenth of the cost brings of a straight line to the end."""


@pytest.mark.parametrize(
    ("rise", "rule", "stop"),
    [
        (0.004 / TENTH, None, True),
        (0.006 / TENTH, None, False),
        (0.004 / TENTH, StopRule(least_gain=0.003), False),
        (0.006 / TENTH, StopRule(least_gain=0.007), True),
        (0.9 / 0.99 * 0.01 - 0.001, StopRule(reach=0.99), True),
        (0.9 / 0.99 * 0.01 + 0.001, StopRule(reach=0.99), False),
        (0.01 / TENTH, StopRule(point_worth=9.0), True),  # 0.01 for 10: it costs more
        (0.01 / TENTH, StopRule(point_worth=11.0), False),
    ],
)
def test_truth_table(rise, rule, stop):
    advice = decide(certain(0.9, 0.9 + rise), rule)
    assert advice.stop is stop
    assert advice.sentence.startswith("Stop: " if stop else "Go on: ")
    assert advice.money == pytest.approx(10.0)
    assert advice.gain.value == pytest.approx(TENTH * rise, abs=1e-4)
    assert json.loads(json.dumps(advice.to_json()))["stop"] is stop


def test_a_number_is_no_rule():
    with pytest.raises(ParameterError, match=r"must be a StopRule; got 0\.005"):
        decide(certain(0.9, 0.95), 0.005)


def test_an_advice_prints_its_sentence():
    advice = decide(certain(0.9, 0.95))
    assert str(advice) == advice.sentence


def test_doubt_says_go_on():
    """The upper end of the interval decides, not the middle."""
    found = outlook(score=0.97, known=0.5)
    gain = decide(found).gain
    assert gain.value < 0.5 * (gain.value + gain.high) < gain.high
    assert not decide(found, StopRule(least_gain=(gain.value + gain.high) / 2)).stop


def test_a_share_that_does_not_suffice_is_not_rounded_up():
    said = decide(certain(0.9, 0.9 / 0.98996), StopRule(reach=0.99)).sentence
    assert said == (
        "Go on: the AUC is expected to be 98.9 % of what all cells would give, less than the 99 % wanted."
    )


def test_nothing_left_says_stop():
    advice = decide(outlook().moved(known=1.0, reachable=1.0, cost=0.0))
    assert (advice.stop, advice.sentence) == (True, "Stop: nothing is left to buy.")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"least_gain": 0.0}, "least_gain"),
        ({"least_gain": float("nan")}, "least_gain"),
        ({"reach": 1.2}, "reach must be"),
        ({"point_worth": -1.0}, "point_worth must be"),
        ({"reach": 0.9, "point_worth": 3.0}, "not both"),
    ],
)
def test_rules_that_cannot_be(wrong, message):
    with pytest.raises(ParameterError, match=message):
        StopRule(**wrong)


def test_a_budget_that_does_not_last_is_said():
    found = outlook()  # a tenth of all cells costs 100
    gain = found.gain(40.0)
    advice = decide(found, left=40.0)
    brings = f"The 40.00 left of the budget would bring {gain.low:.3f} to {gain.high:.3f} AUC."
    assert advice.sentence == f"{decide(found).sentence} {brings}"
    assert (advice.stop, advice.money, advice.left, advice.gain_of_left) == (
        decide(found).stop,
        decide(found).money,
        40.0,
        gain,
    )
    assert decide(found, left=0.0).sentence.endswith(" Nothing is left of the budget.")
    assert decide(found, left=100.0) == decide(found) == decide(found, left=None)


@pytest.mark.parametrize("rule", [None, StopRule(least_gain=0.9), StopRule(point_worth=3.0)])
def test_sentences_have_the_currency(rule):
    assert "the next 100.00 EUR would bring" in decide(replace(outlook(), currency="EUR"), rule).sentence
