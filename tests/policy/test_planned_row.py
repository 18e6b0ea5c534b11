"""What is said of one row: the prediction, its range, and why."""

import numpy as np
import pytest

from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.planned_row import PlannedRow
from cellworth.policy.purchase_plan import Plan
from tests.policy.test_information import told_by
from tests.policy.test_purchase_plan import planner


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
