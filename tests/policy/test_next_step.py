"""What a policy says of a row, in words and as data."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from cellworth.policy import CellGain, NextStep
from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.next_step import PlannedRow
from cellworth.policy.purchase_plan import Plan
from tests.policy.test_information import told_by
from tests.policy.test_purchase_plan import planner


def test_in_words_and_as_data():
    cells = (CellGain("sex", 0.0, 0.0), CellGain("scan", 4.0, 2.0))
    step = NextStep(
        "p1",
        "ill",
        {"ill": 0.75, "well": 0.25},
        {"ill": 0.4, "well": 0.1},
        {"ill": 0.9, "well": 0.6},
        ("scan",),
        2.0,
        4.0,
        "expected to save 4",
        cells=cells,
    )
    assert str(step) == (
        "p1: ill with 75% (40% to 90% once all is known); measure scan for 2.00: expected to save 4"
    )
    three = replace(step, take=("age", "sex", "scan"))
    assert "; measure age, sex and scan for 2.00: " in str(three)
    assert "; measure age and sex for 2.00: " in str(replace(step, take=("age", "sex")))
    assert "; measure scan for 2.00 EUR: " in str(replace(step, currency="EUR"))
    plain = json.loads(json.dumps(step.to_json()))
    assert plain["probabilities"] == {"ill": 0.75, "well": 0.25}
    assert [cell["per_money"] for cell in plain["cells"]] == [None, 2.0]
    assert math.isinf(cells[0].per_money)
    assert not step.stop
    number = NextStep("p1", 12.25, {}, 10.0, 14.0, (), 0.0, 0.0, "all cells are known")
    assert str(number) == "p1: 12.2 (10 to 14 once all is known); stop: all cells are known"
    assert number.to_json()["low"] == 10.0


@pytest.fixture(scope="module")
def row():
    """A row whose probability of the second class is 1 to 100 %, equally spaced."""
    chance = np.arange(1, 101) / 100
    information = told_by(chance, np.random.default_rng(0).normal(size=(100, 3)))
    return PlannedRow(information, planner(information, BeliefVariance(), (1, 1, 1)), 0, Plan())


def test_the_prediction_and_its_range(row):
    found = row.predicted(error_costs({"ill": 1, "well": 10}, ("ill", "well")), ("ill", "well"))
    assert found["prediction"] == "well"
    assert found["probabilities"] == pytest.approx({"ill": 0.495, "well": 0.505})
    assert (found["low"]["well"], found["high"]["well"]) == pytest.approx((0.0595, 0.9505))
    assert found["expected_cost"] == pytest.approx(0.495)
    assert row.predicted(BeliefVariance(), ("ill", "well"))["expected_cost"] is None
    number = row.predicted(BeliefVariance(2.0), None)
    assert number["prediction"] == pytest.approx(0.495)
    assert number["expected_cost"] == pytest.approx(2 * row.perfect(BeliefVariance()))


def test_reasons(row):
    squared, money = BeliefVariance(), error_costs(5, ("ill", "well"))
    assert "would change the prediction" in row.reason(squared, shares=False)
    assert "other rows" in row.reason(squared, shares=True)
    assert "more than it costs" in row.reason(money, shares=False)
    bought = PlannedRow(row.information, row.planner, 0, Plan((1,), 3.0, 2.0, (1, 0)))
    assert bought.reason(money, shares=False) == "with 1 more cell expected to save 3.00 for 2.00"
    assert "most for the money" in bought.reason(squared, shares=False)
