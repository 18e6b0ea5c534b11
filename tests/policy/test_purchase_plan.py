"""Plans for one row: prices of sets, what pays together, and budgets."""

import math

import numpy as np
import pytest

from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.purchase_plan import Planner
from cellworth.prices import PriceList
from tests.policy.test_information import told_by


def both_needed(draws=512):
    """Return a row in which two cells tell the class together, and neither alone."""
    z = np.random.default_rng(0).choice([-1.0, 1.0], size=(draws, 3))
    chance = np.where(z[:, 0] * z[:, 1] > 0, 0.95, 0.05)
    return told_by(chance, z, tied=True)


def sum_of_two(draws=512):
    """Return a row whose class is told by two cells of three, each a part of it."""
    z = np.random.default_rng(0).normal(size=(draws, 3))
    chance = 1 / (1 + np.exp(-3 * (z[:, 0] + z[:, 1])))
    return told_by(chance, z, tied=True)


def planner(information, loss, own, group_of=(-1, -1, -1), fee=(0, 0, 0), visit=0.0, lasting=(), **said):
    prices = PriceList(np.array([own], dtype=float), group_of, fee, lasting, visit)
    allowed = said.pop("allowed", np.ones(3, dtype=bool))[np.newaxis]
    budgets = np.array([said.pop("budget", math.inf)])
    nothing = np.zeros((1, 3), dtype=bool)
    trust = said.pop("trust", np.ones(3))
    return Planner(information, loss, prices, nothing, allowed=allowed, budgets=budgets, trust=trust, **said)


def test_pairs_that_share_a_fee_are_seen_even_if_neither_pays_alone():
    loss = error_costs(100.0, (0, 1))
    group = {"group_of": (0, 0, -1), "fee": (5.0, 5.0, 0.0), "lasting": (False,)}
    found = planner(both_needed(), BeliefVariance(), (1, 1, 1), **group).plans()[0]
    assert set(found.ahead) >= {0} or found.now
    dear = planner(
        sum_of_two(), loss, (1, 1, 1), group_of=(0, 0, -1), fee=(12, 12, 0), lasting=(False,)
    ).plans()[0]
    assert set(dear.now) == {0, 1}
    assert dear.price == 14.0
    assert dear.worth > dear.price


def test_a_lasting_group_is_opened_by_one_cell_at_a_time():
    loss = error_costs(100.0, (0, 1))
    plan = planner(
        sum_of_two(), loss, (1, 1, 1), group_of=(0, 0, -1), fee=(12, 12, 0), lasting=(True,)
    ).plans()[0]
    assert len(plan.now) == 1
    assert set(plan.ahead) == {0, 1}


def test_what_does_not_pay_is_not_bought():
    loss = error_costs(100.0, (0, 1))
    whole = sum_of_two().perfect(loss)[0]
    assert planner(sum_of_two(), loss, (whole, whole, whole)).plans()[0].now == ()
    assert planner(sum_of_two(), loss, (1, 1, 1), allowed=np.zeros(3, dtype=bool)).plans()[0].now == ()
    cheap = planner(sum_of_two(), loss, (1, 1, 0.001)).plans()[0]
    assert set(cheap.ahead) == {0, 1}  # the third tells nothing, however cheap


@pytest.mark.parametrize("loss", [BeliefVariance(), error_costs(100.0, (0, 1))])
def test_budgets_hold(loss):
    for budget in (0.5, 1.0, 2.5, math.inf):
        plan = planner(sum_of_two(), loss, (1, 1, 1), visit=1.0, budget=budget).plans()[0]
        assert plan.price <= budget
        assert bool(plan.now) == (budget >= 2)


def test_without_a_cost_of_errors_the_best_ratio_is_taken():
    found = planner(sum_of_two(), BeliefVariance(), (10, 1, 5))
    assert found.plans()[0].now == (1,)
    assert found.worths[0, 2] < found.worths[0, 1]
    ratio = float(found.worths[0, 1])
    for level, bought in ((0.9 * ratio, (1,)), (10 * ratio, ())):
        assert planner(sum_of_two(), BeliefVariance(), (10, 1, 5), least_ratio=level).plans()[0].now == bought


def test_the_first_cell_may_have_a_limit_of_its_own():
    z = np.random.default_rng(0).normal(size=(512, 3))
    chance = 1 / (1 + np.exp(-(z[:, 0] + 9 * z[:, 1])))
    said = {"first_most": np.array([1.5])}
    assert planner(told_by(chance, z), BeliefVariance(), (1, 2, 1)).plans()[0].now == (1,)
    limited = planner(told_by(chance, z), BeliefVariance(), (1, 2, 1), **said).plans()[0]
    assert limited.now == (0,)
    assert planner(told_by(chance, z), BeliefVariance(), (2, 2, 2), **said).plans()[0].now == ()


def test_a_budget_to_use_up_is_kept_for_what_tells_most():
    z = np.random.default_rng(0).normal(size=(512, 3))
    chance = 1 / (1 + np.exp(-(z[:, 0] + 4 * z[:, 1])))
    prices, said = (1, 5, 1), {"budget": 5.0}
    greedy = planner(told_by(chance, z), BeliefVariance(), prices, **said).plans()[0]
    patient = planner(told_by(chance, z), BeliefVariance(), prices, use_up=True, **said).plans()[0]
    assert patient.now == (1,)
    assert patient.worth >= greedy.worth


def test_columns_that_labels_speak_against_come_later():
    equal = planner(sum_of_two(), BeliefVariance(), (1, 1, 1))
    first = equal.plans()[0].now[0]
    trust = np.ones(3)
    trust[first] = 0.3
    assert planner(sum_of_two(), BeliefVariance(), (1, 1, 1), trust=trust).plans()[0].now == (1 - first,)
