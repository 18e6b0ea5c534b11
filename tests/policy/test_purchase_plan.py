"""Plans for one row: prices of sets, what pays together, and budgets; and rows that share money."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import CompletingRegressor, Table
from cellworth.policy import Policy
from cellworth.policy.decision_costs import BeliefVariance, error_costs
from cellworth.policy.purchase_plan import Plan, Planner, SharedMoney, share_money
from cellworth.prices import PriceList
from tests.policy.test_information import told_by
from tests.policy.test_policy import PRICES


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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 6), st.booleans())
def test_the_level_is_that_of_a_plain_search(seed, mean, free):
    """Rows of which a free cell is known may buy nothing; those of which nothing is known begin."""
    rng = np.random.default_rng(seed)
    ratios, prices = rng.integers(1, 9, size=(7, 4)) / 2, rng.integers(1, 4, size=(7, 4)).astype(float)

    def plan(row, step):
        if step == 4:
            return Plan()
        return Plan((step,), ratios[row, step] * prices[row, step], prices[row, step], (step,))

    def plans_for(known, X):
        return [plan(int(x[0]), int(some[:4].sum())) for x, some in zip(X, known, strict=True)]

    def spent(level):
        total = 0.0
        for row in range(7):
            for step in range(4):
                if ratios[row, step] <= level and (step > 0 or free):
                    break
                total += prices[row, step]
        return total / 7

    start = np.zeros((7, 5), dtype=bool)
    start[:, 4] = free
    found = share_money(
        mean,
        np.arange(7.0)[:, np.newaxis],
        start,
        plans_for,
        lambda planned, known: planned.price,
    )
    levels = [0.0, *sorted(set(ratios.ravel().tolist()))]
    kept = [level for level in levels if spent(level) <= mean * (1 + 1e-9)]
    if not kept:  # not even the first cells fit the mean
        assert found == SharedMoney(np.inf, 0.0)
        return
    assert found.least_ratio == kept[0]
    assert found.spent == pytest.approx(spent(found.least_ratio))


@pytest.mark.slow
def test_simulated_rows_spend_the_mean_and_unsure_rows_more(ill):
    table, model = ill
    rng = np.random.default_rng(3)
    costs = {}
    for mean in (3.0, 9.0):
        policy = Policy(table, model, prices=PRICES, mean_budget=mean, draws=64)
        spent = []
        for _ in range(25):
            truth = dict(zip(PRICES, rng.normal(size=3).tolist(), strict=True))
            known, money = {}, 0.0
            while (step := policy.next_cell(known, spent=money)).take:
                known |= {name: truth[name] for name in step.take}
                money += step.price
            spent.append(money)
            if len(known) < 3:
                assert "other rows" in step.why
        costs[mean] = np.array(spent)
        # Four standard errors, and a quarter for what the model's rows differ from these.
        assert spent[0] >= 0
        assert np.mean(spent) < 1.25 * mean + 4 * np.std(spent) / np.sqrt(25)
    assert costs[3.0].mean() < costs[9.0].mean()
    assert len(set(costs[9.0].tolist())) > 1  # not the same for all
    assert Policy(table, model, prices=PRICES, mean_budget=100.0, draws=64).least_ratio == 0.0


def test_no_money_buys_nothing(ill):
    step = Policy(*ill, prices=PRICES, mean_budget=0.0, draws=64).next_cell({})
    assert step.stop
    assert step.why == "the money is expected to bring more in other rows"


def test_rows_that_are_too_alike_to_share_get_the_mean_each(ill, monkeypatch):
    """If sharing would leave most of the money, the policy is that of a budget for each row."""
    alone = Policy(*ill, prices=PRICES, budget=9.0, draws=64)
    for shared, alike in ((SharedMoney(2.0, 4.4), True), (SharedMoney(2.0, 4.6), False)):
        monkeypatch.setattr("cellworth.policy.policy.share_money", lambda *_, found=shared: found)
        policy = Policy(*ill, prices=PRICES, mean_budget=9.0, draws=64)
        assert policy.shares_money is not alike
        assert (policy.least_ratio == 2.0) is not alike
        for spent in (0.0, 5.0, 9.0):
            steps = [each.next_cell({}, spent=spent) for each in (policy, alone)]
            assert (steps[0].take == steps[1].take) or not alike
            assert (steps[0].why == steps[1].why) or not alike
    assert SharedMoney(0.0, 0.1).is_used(9.0)  # nothing else tells anything


def test_a_first_cell_that_tells_nothing_alone_shows_where_the_dear_one_matters():
    """A hint says how much the scan tells; there is money for the scan in a fifth of the rows."""
    rng = np.random.default_rng(0)
    hint, scan = rng.random(500), rng.normal(size=500)
    table = Table.from_arrays(np.column_stack([hint, scan]), 3 * hint * scan, columns=["hint", "scan"])
    model = CompletingRegressor(model="extra trees", folds=2).fit(table)
    policy = Policy(table, model, prices={"hint": 1.0, "scan": 10.0}, mean_budget=3.0, draws=64)
    assert policy.shares_money
    assert policy.next_cell({}).take == ("hint",)
    scanned = [hint for hint in np.arange(0.05, 1, 0.05) if policy.next_cell({"hint": hint}).take]
    assert scanned
    assert min(scanned) > 0.6  # a fifth is 0.8 and above; the level is found on 150 rows
