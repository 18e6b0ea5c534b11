"""Losses of beliefs: concave, in money or not, as the user states them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.errors import ParameterError
from cellworth.policy.decision_costs import BeliefVariance, error_costs, squared_cost


@given(st.integers(2, 4), st.integers(0, 10_000))
def test_knowing_more_never_costs_and_saves_at_most_what_is_lost(K, seed):
    rng = np.random.default_rng(seed)
    then = rng.dirichlet(np.ones(K), size=(3, 20))
    now = then.mean(axis=1)
    costs = error_costs(rng.uniform(0, 9, (K, K)) * (1 - np.eye(K)), tuple(range(K)))
    for loss in (BeliefVariance(), costs):
        saved = loss.saved(now, then)
        assert (saved >= 0).all()
        assert saved[1] == pytest.approx(loss.saved(now[1], then[1]))
    assert (costs.saved(now, then) <= costs.expected(now) + 1e-12).all()


def test_the_best_action_by_plain_enumeration():
    costs = error_costs({("ill", "well"): 10, ("well", "ill"): 1}, ("ill", "well"))
    assert costs.costs.tolist() == [[0, 10], [1, 0]]
    belief = np.array([0.2, 0.8])
    by_hand = [0.2 * 0 + 0.8 * 1, 0.2 * 10 + 0.8 * 0]
    assert costs.best(belief) == int(np.argmin(by_hand))
    assert costs.expected(belief) == pytest.approx(min(by_hand))
    assert error_costs({"ill": 5, "well": 0}, ("ill", "well")).costs.tolist() == [[0, 5], [0, 0]]
    assert error_costs(3, ("a", "b")).costs.tolist() == [[0, 3], [3, 0]]
    assert error_costs({1: 5, 2: 3}, (1, 2)).costs[0, 1] == 5


def test_what_is_not_a_cost_is_refused():
    for wrong in (-1, float("nan"), True, "much", {"ill": -2}, {"il": 3}, np.zeros((3, 3))):
        with pytest.raises(ParameterError):
            error_costs(wrong, ("ill", "well"))
    with pytest.raises(ParameterError, match="'ill'"):
        error_costs({"il": 3}, ("ill", "well"))
    with pytest.raises(ParameterError, match="true class is 'b' or 'c'; give each class a cost"):
        error_costs({"a": 3}, ("a", "b", "c"))
    with pytest.raises(ParameterError, match="squared error"):
        squared_cost({"ill": 3})
    assert squared_cost(2.0).in_money
    assert not BeliefVariance().in_money
