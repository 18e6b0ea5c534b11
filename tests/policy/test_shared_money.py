"""Rows that share money: the smallest level at which the mean is kept, against a plain search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import CompletingRegressor, Table
from cellworth.policy import Policy
from cellworth.policy.purchase_plan import Plan
from cellworth.policy.shared_money import SharedMoney, share_money
from tests.policy.test_policy import PRICES


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
