"""What cells add in effective rows: slopes of the least concave curve above the best sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from cellworth.score.effective_rows import shared_gains

explained_tables = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1)).map(
    lambda drawn: np.random.default_rng(drawn[2]).gamma(0.5, size=drawn[:2])
)


def drawn_prices(shape, seed):
    """Return prices from 1 to 9; the seed None means that all cells cost 1."""
    return (
        np.random.default_rng(seed).integers(1, 10, size=shape) * 1.0 if seed is not None else np.ones(shape)
    )


price_seeds = st.none() | st.integers(0, 2**32 - 1)


@settings(max_examples=150)
@given(explained=explained_tables, noise=st.sampled_from([0.01, 0.1, 1.0]), seed=price_seeds)
def test_gains_are_the_slopes_of_the_concave_curve_above_the_best_sets(explained, noise, seed):
    prices = drawn_prices(explained.shape, seed)
    gains = shared_gains(explained, noise, None if seed is None else prices)
    for row, price, shared in zip(explained, prices, gains, strict=True):
        order = np.argsort(-row / price, kind="stable")
        left = row.sum() - np.concatenate([[0.0], np.cumsum(row[order])])
        rows_known = noise / (noise + np.maximum(left, 0.0))
        per_money = np.diff(rows_known) / price[order]
        slopes = isotonic_regression(per_money, weights=price[order], increasing=False).x
        np.testing.assert_allclose(shared[order], slopes * price[order], rtol=1e-9, atol=1e-12)
        # All cells together make the row a whole one.
        assert shared.sum() == pytest.approx(1 - noise / (noise + row.sum()))


@settings(max_examples=60)
@given(explained=explained_tables, seed=price_seeds)
def test_a_cell_that_explains_more_for_the_money_is_never_worth_less_than_its_neighbour(explained, seed):
    prices = drawn_prices(explained.shape, seed)
    gains = shared_gains(explained, 0.1, prices)
    for row, price, shared in zip(explained, prices, gains, strict=True):
        order = np.argsort(row / price, kind="stable")
        assert (np.diff((shared / price)[order]) >= -1e-12).all()


def test_money_goes_to_the_rows_that_are_cheap_to_finish():
    """Two cells explain as much; with the dear one known, the cheap one finishes the row."""
    explained = np.array([[0.3, 0.0, 0.3], [0.0, 0.3, 0.3]])
    prices = np.array([[9.0, 1.0, 1.0], [9.0, 1.0, 1.0]])
    per_money = shared_gains(explained, 0.1, prices) / prices
    assert per_money[1, 2] == per_money[1, 1] > 3 * per_money[0, 0]
    assert per_money[0, 2] < per_money[1, 2]


def test_a_row_that_is_nearly_complete_is_worth_finishing_first():
    nearly, empty = [0.3, 0.0, 0.0], [0.3, 0.3, 0.3]
    gains = shared_gains(np.array([nearly, empty]), 0.1)
    assert gains[0, 0] > 2 * gains[1, 0]
    np.testing.assert_array_equal(gains[0, 1:], 0.0)
