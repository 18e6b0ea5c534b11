"""Plans for one row: prices of sets, what pays together, and budgets."""

import math

import numpy as np
import pytest

from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.information import RowInformation
from cellworth.policy.purchase_plan import RowPlanner
from cellworth.prices import PriceList


def both_needed(draws=512):
    """Return a row in which two cells tell the class together, and neither alone."""
    z = np.random.default_rng(0).choice([-1.0, 1.0], size=(draws, 3))
    chance = np.where(z[:, 0] * z[:, 1] > 0, 0.95, 0.05)
    return RowInformation.made(np.column_stack([1 - chance, chance]), list(z.T))


def sum_of_two(draws=512):
    """Return a row whose class is told by two cells of three, each a part of it."""
    z = np.random.default_rng(0).normal(size=(draws, 3))
    chance = 1 / (1 + np.exp(-3 * (z[:, 0] + z[:, 1])))
    return RowInformation.made(np.column_stack([1 - chance, chance]), list(z.T))


def planner(information, loss, own, group_of=(-1, -1, -1), fee=(0, 0, 0), visit=0.0, lasting=(), **said):
    prices = PriceList(np.array([own], dtype=float), group_of, fee, lasting, visit)
    allowed = said.pop("allowed", np.ones(3, dtype=bool))
    nothing = np.zeros((1, 3), dtype=bool)
    return RowPlanner(information, np.arange(3), loss, prices, nothing, allowed=allowed, **said)


def test_pairs_that_share_a_fee_are_seen_even_if_neither_pays_alone():
    loss = error_costs(100.0, (0, 1))
    group = {"group_of": (0, 0, -1), "fee": (5.0, 5.0, 0.0), "lasting": (False,)}
    found = planner(both_needed(), BeliefVariance(), (1, 1, 1), **group).plan()
    assert set(found.ahead) >= {0} or found.now
    dear = planner(
        sum_of_two(), loss, (1, 1, 1), group_of=(0, 0, -1), fee=(12, 12, 0), lasting=(False,)
    ).plan()
    assert set(dear.now) == {0, 1}
    assert dear.price == 14.0
    assert dear.worth > dear.price


def test_a_lasting_group_is_opened_by_one_cell_at_a_time():
    loss = error_costs(100.0, (0, 1))
    plan = planner(
        sum_of_two(), loss, (1, 1, 1), group_of=(0, 0, -1), fee=(12, 12, 0), lasting=(True,)
    ).plan()
    assert len(plan.now) == 1
    assert set(plan.ahead) == {0, 1}


def test_what_does_not_pay_is_not_bought():
    loss = error_costs(100.0, (0, 1))
    whole = sum_of_two().perfect(loss)
    assert planner(sum_of_two(), loss, (whole, whole, whole)).plan().now == ()
    assert planner(sum_of_two(), loss, (1, 1, 1), allowed=np.zeros(3, dtype=bool)).plan().now == ()
    cheap = planner(sum_of_two(), loss, (1, 1, 0.001)).plan()
    assert set(cheap.ahead) == {0, 1}  # the third tells nothing, however cheap


@pytest.mark.parametrize("loss", [BeliefVariance(), error_costs(100.0, (0, 1))])
def test_budgets_hold(loss):
    for budget in (0.5, 1.0, 2.5, math.inf):
        plan = planner(sum_of_two(), loss, (1, 1, 1), visit=1.0, budget=budget).plan()
        assert plan.price <= budget
        assert bool(plan.now) == (budget >= 2)


def test_without_a_cost_of_errors_the_best_ratio_is_taken():
    found = planner(sum_of_two(), BeliefVariance(), (10, 1, 5))
    assert found.plan().now == (1,)
    assert found.worths[2] < found.worths[1]
