from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError, ParameterError
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


@pytest.mark.parametrize("window", [None, 5])
def test_small_moves_of_large_values_are_not_lost(window):
    """Sums of squares without the running mean would have no digit left here."""
    X = np.array([[1e8, 1e8 + 1], [np.nan, 1e8 + 3]])
    moves = [0.125, 0.25, 0.5, 0.375, 0.0625]
    scorer = Variance(window)
    for move in moves:
        scores = scorer.score(told(X, 1e8 + move, variance=1.0))
    mean = sum(map(Fraction, moves)) / 5
    exact = float(sum((Fraction(move) - mean) ** 2 for move in moves))
    assert scores[1, 0] == pytest.approx(exact, rel=1e-6)  # rounding of the values: 1e8 * 2^-53 / 0.1


def test_a_window_forgets_what_all_rounds_remember():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [np.nan, np.nan]])
    every, last_two = Variance(), Variance(window=2)
    for completed in ([0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.2]):
        round = told(X, np.tile(completed, (3, 1)), variance=1.0)
        all_scores, recent = every.score(round), last_two.score(round)
    assert all_scores[2, 0] > all_scores[2, 1] > 0
    assert recent[2, 1] > recent[2, 0] == 0


def test_the_range_is_that_of_the_observed_cells_now():
    X = np.array([[0.0], [2.0], [np.nan], [np.nan]])
    scorer = Variance()
    scorer.score(told(X, 0.0, variance=1.0))
    X = np.array([[0.0], [2.0], [10.0], [np.nan]])
    assert scorer.score(told(X, 4.0, variance=1.0))[3, 0] == pytest.approx((4 + 4) / 100)


def test_refuses_what_makes_no_sense():
    for window in (1, 0, -3, 2.5, True, "4"):
        with pytest.raises(ParameterError, match="window must be None or a whole number of at least 2"):
            Variance(window)
    X = np.array([[0.0, 1.0], [np.nan, 2.0]])
    for window in (None, 3):
        scorer = Variance(window)
        scorer.score(told(X, variance=1.0))
        with pytest.raises(DataError, match=r"had 2 rows and 2 columns, this one has 1 and 2"):
            scorer.score(told(X[:1], variance=1.0))
        with pytest.raises(DataError, match="Use a new scorer"):
            scorer.score(told(X[:, 1:], variance=1.0))


def test_refuses_the_state_of_another_scorer():
    X = np.array([[0.0, 1.0], [np.nan, 2.0]])
    every, three = Variance(), Variance(3)
    for scorer in (every, three):
        assert scorer.state() == {}
        scorer.score(told(X, variance=1.0))
    with pytest.raises(ParameterError, match="entries seen, ring, next"):
        Variance(3).restore(every.state())
    with pytest.raises(ParameterError, match="saved with window=3, but window is 4"):
        Variance(4).restore(three.state())


def test_an_empty_state_is_a_new_beginning():
    X = np.array([[0.0, 1.0], [np.nan, 2.0]])
    for scorer in (Variance(), Variance(2)):
        first = scorer.score(told(X, 5.0, variance=1.0))
        scorer.restore({})
        np.testing.assert_array_equal(scorer.score(told(X, 5.0, variance=1.0)), first)
        assert scorer.score(told(X, 5.0, variance=1.0)).max() == 0
