"""What is remembered of earlier completions: precise, of the same table only, and saved and restored."""

from fractions import Fraction

import numpy as np
import pytest

from cellworth.errors import DataError, ParameterError
from cellworth.score import Variance
from tests.score.rounds import told


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
