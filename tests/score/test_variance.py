import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.score import Variance, completion_history
from tests.score.rounds import campaigns, squared_ranges, told


def by_loops(rounds, window):
    """Return Eq. (5) after the last round, cell by cell; None for a row that was completed once."""
    X, _ = rounds[-1]
    widths = squared_ranges(X)
    scores = np.zeros(X.shape)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            values = [completed[i, j] for _, completed in rounds if i < len(completed)]
            values = values[-window:] if window else values
            mean = sum(values) / len(values)
            if np.isnan(X[i, j]):
                scores[i, j] = sum((value - mean) ** 2 for value in values) / widths[j]
    return scores


@settings(max_examples=150)
@given(rounds=campaigns(), window=st.sampled_from([None, 2, 3, 4, 20]), block=st.sampled_from([1, 7, 20_000]))
def test_is_equation_5_over_all_or_the_last_completions(rounds, window, block):
    scorer = Variance(window)
    usual, completion_history.BLOCK_CELLS = completion_history.BLOCK_CELLS, block
    try:
        for X, completed in rounds:
            scores = scorer.score(told(X, completed, variance=7.0))
    finally:
        completion_history.BLOCK_CELLS = usual
    expected = by_loops(rounds, window)
    X, _ = rounds[-1]
    before = len(rounds[-2][0]) if len(rounds) > 1 else 0
    new_rows = np.isnan(X[before:]) * 7.0 / squared_ranges(X)
    np.testing.assert_allclose(scores[:before], expected[:before], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores[before:], new_rows, err_msg="completed once: the first-round rule")


def test_the_range_is_that_of_the_observed_cells_now():
    X = np.array([[0.0], [2.0], [np.nan], [np.nan]])
    scorer = Variance()
    scorer.score(told(X, 0.0, variance=1.0))
    X = np.array([[0.0], [2.0], [10.0], [np.nan]])
    assert scorer.score(told(X, 4.0, variance=1.0))[3, 0] == pytest.approx((4 + 4) / 100)
