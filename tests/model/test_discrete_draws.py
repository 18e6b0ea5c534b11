"""Settled draws: values that cells have, in their shares, one category per cell, nearest to the draws."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import GaussianCompleter
from cellworth.model.discrete_draws import make_discrete, one_category


def test_draws_of_few_values_are_settled():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 100) * 3.0, rng.normal(size=100)])
    X[:40, 0] = np.nan
    draws = rng.normal(size=(5, 50, 2))
    before, holes = draws.copy(), rng.random((50, 2)) < 0.7
    make_discrete(draws, holes, X)
    assert np.array_equal(draws[:, :, 1], before[:, :, 1])
    assert np.array_equal(draws[:, ~holes[:, 0], 0], before[:, ~holes[:, 0], 0])
    found = draws[:, holes[:, 0], 0]
    assert set(found.ravel()) == {0.0, 3.0}
    assert found.mean() == pytest.approx(np.nanmean(X[:, 0]), abs=3 / found.size)
    order = np.argsort(before[:, holes[:, 0], 0], axis=None)
    assert (np.diff(found.ravel()[order]) >= 0).all()


@given(st.integers(0, 1000), st.integers(2, 6), st.booleans())
@settings(max_examples=40)
def test_a_cell_of_a_category_has_one_category_and_shares_are_kept(seed, K, few_values):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(K, 2.0))
    known = np.eye(K)[rng.choice(K, 200, p=shares)]
    X = np.column_stack([rng.normal(size=200), known])
    X[:50, 1:] = np.nan
    draws = rng.normal(size=(10, 40, K + 1)) * rng.uniform(0.1, 2, K + 1) + rng.normal(size=K + 1)
    if few_values:
        draws = np.round(draws)
    holes = np.repeat(rng.random((40, 1)) < 0.6, K + 1, axis=1)
    before = draws.copy()
    make_discrete(draws, holes, X, np.array([0] + [1] * K))
    assert np.array_equal(draws[:, :, 0], before[:, :, 0])
    assert np.array_equal(draws[:, ~holes[:, 1]], before[:, ~holes[:, 1]])
    found = draws[:, holes[:, 1], 1:]
    if found.size:
        assert set(np.unique(found)) <= {0.0, 1.0}
        assert (found.sum(axis=2) == 1).all()
        expected = X[50:, 1:].mean(axis=0)
        assert (found.reshape(-1, K)[:, expected == 0] == 0).all()
        # Up to 1.2 draws off in 150 tables of such draws, up to 4 off where many are equal.
        few = (8 if few_values else 2) / found[:, :, 0].size
        assert found.mean(axis=(0, 1)) == pytest.approx(expected, abs=few)


def test_it_is_the_nearest_assignment_with_these_shares():
    """The oracle tries all orders of six cells; one draw of each, so that nothing is spread."""
    rng = np.random.default_rng(0)
    categories = np.array([0, 0, 0, 1, 1, 2])
    known = np.eye(3)[categories]
    orders = np.array(sorted(set(permutations(categories.tolist()))))
    for _ in range(20):
        drawn = rng.normal(size=(1, 6, 3))
        found = one_category(drawn, known)
        distance = ((drawn - np.eye(3)[orders]) ** 2).sum(axis=(1, 2))
        if np.array_equal(np.sort(found[0].argmax(axis=1)), categories):
            assert ((drawn - found) ** 2).sum() == pytest.approx(distance.min())


def test_a_category_of_known_law_is_drawn_with_its_probabilities():
    """x says something about the category; given x, the draws' frequencies must be near its probabilities."""
    rng = np.random.default_rng(1)
    n = 3000
    x = rng.normal(size=n)
    P = np.exp(np.column_stack([0.7 * x, np.zeros(n), -0.7 * x - 1]))
    P /= P.sum(axis=1, keepdims=True)
    category = (rng.random(n)[:, np.newaxis] > P.cumsum(axis=1)[:, :2]).sum(axis=1)
    X = np.column_stack([x, np.eye(3)[category]])
    X[: n // 2, 1:] = np.nan
    completer = GaussianCompleter(label_trust=0.0, margins="normal").fit(X)
    alone, together = (completer.sample(20, 0, X[: n // 2]) for _ in range(2))
    make_discrete(alone, np.isnan(X[: n // 2]), X)
    make_discrete(together, np.isnan(X[: n // 2]), X, np.array([0, 1, 1, 1]))
    assert (together[:, :, 1:].sum(axis=2) == 1).all()
    assert (alone[:, :, 1:].sum(axis=2) != 1).mean() > 0.2
    off = [np.abs(_by_tenth(draws[:, :, 1:].mean(axis=0) - P[: n // 2], x)) for draws in (together, alone)]
    for each in off:  # 0.04; a Gaussian's means are off by 0.03, as the curves are not straight
        assert each.mean() < 0.06


def _by_tenth(off, x):
    order = np.argsort(x[: len(off)])
    return np.array([part.mean(axis=0) for part in np.array_split(off[order], 10)])


def test_one_known_category_is_always_drawn():
    drawn = np.random.default_rng(0).normal(size=(3, 4, 2))
    assert np.array_equal(one_category(drawn, np.array([[0.0, 1.0]])), np.tile([0.0, 1.0], (3, 4, 1)))
