"""Rows that share money: the smallest level at which the mean is kept, against a plain search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.policy import Policy
from cellworth.policy.purchase_plan import Plan
from cellworth.policy.shared_money import least_ratio
from tests.policy.test_policy import PRICES


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 6))
def test_the_level_is_that_of_a_plain_search(seed, mean):
    rng = np.random.default_rng(seed)
    ratios, prices = rng.integers(1, 9, size=(7, 4)) / 2, rng.integers(1, 4, size=(7, 4)).astype(float)

    def plan(row, step):
        if step == 4:
            return Plan()
        return Plan((step,), ratios[row, step] * prices[row, step], prices[row, step], (step,))

    def plans_for(known, X):
        return [plan(int(x[0]), int(some.sum())) for x, some in zip(X, known, strict=True)]

    def spent(level):
        total = 0.0
        for row in range(7):
            for step in range(4):
                if ratios[row, step] <= level:
                    break
                total += prices[row, step]
        return total / 7

    found = least_ratio(
        mean,
        np.arange(7.0)[:, np.newaxis],
        np.zeros((7, 4), dtype=bool),
        plans_for,
        lambda planned, known: planned.price,
    )
    levels = [0.0, *sorted(set(ratios.ravel().tolist()))]
    assert found == next(level for level in levels if spent(level) <= mean * (1 + 1e-9))


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
