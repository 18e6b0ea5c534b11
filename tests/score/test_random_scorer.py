import numpy as np

from cellworth.score import Random
from tests.score.rounds import told


def test_worths_are_even_on_the_holes_and_nowhere_else():
    X = np.where(np.random.default_rng(1).random((300, 40)) < 0.5, 1.0, np.nan)
    scores = Random().score(told(X))
    holes = np.isnan(X)
    assert (scores[~holes] == 0).all()
    assert (scores[holes] > 0).all()
    assert (scores[holes] <= 1).all()
    shares = np.histogram(scores[holes], bins=10, range=(0, 1))[0] / holes.sum()
    assert np.abs(shares - 0.1).max() < 0.02  # some 6000 draws: a standard deviation of 0.004


def test_each_round_draws_anew_and_a_replay_draws_the_same():
    X = np.full((4, 3), np.nan)
    one, again, other = (Random().score(told(X, seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).all()


def test_no_draw_gives_zero():
    class Zeros:
        def random(self, size):
            return np.zeros(size)

    drawn = told(np.full((2, 2), np.nan))
    object.__setattr__(drawn, "rng", Zeros())
    assert (Random().score(drawn) == 1).all()
