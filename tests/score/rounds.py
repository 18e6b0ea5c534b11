"""Rounds for the tests of scorers: completers that say what they are told, and random campaigns."""

import numpy as np
from hypothesis import strategies as st

from cellworth.score import Round


class Told:
    """A fitted completer that says what it was told."""

    def __init__(self, completed, variance=None, completions=None):
        self.completed_ = completed
        if variance is not None:
            self.variance_ = variance
        if completions is not None:
            self.completions_ = completions


def told(X, completed=None, variance=None, completions=None, y=None, target=None, seed=0):
    """Return a round of table X, completed as told (by 0 if not), observed cells kept."""
    holes = np.isnan(X)
    completed = np.where(holes, 0.0 if completed is None else completed, X)
    variance = None if variance is None else np.where(holes, variance, 0.0)
    completer = Told(completed, variance, completions)
    return Round(X, y, target, completer, np.random.default_rng(seed))


def squared_ranges(X):
    """Return (max - min)^2 of the observed cells of each column, by a plain loop; 1 for a constant one."""
    widths = []
    for column in X.T:
        seen = [value for value in column if not np.isnan(value)]
        widths.append((max(seen) - min(seen)) ** 2 or 1.0)
    return widths


@st.composite
def holed_tables(draw, most_rows=8, most_columns=4):
    """Draw a table (n, d) with holes, no column empty, and the generator of the rest."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    X[rng.random((n, d)) < draw(st.sampled_from([0.2, 0.5, 0.8]))] = np.nan
    X[0, np.isnan(X).all(axis=0)] = 1.0
    return X, rng


@st.composite
def campaigns(draw, most_rounds=9):
    """Draw rounds (X, completed): holes get values, rows are added, and completions vary at random."""
    X, rng = draw(holed_tables())
    rounds = []
    for _ in range(draw(st.integers(1, most_rounds))):
        completed = np.where(np.isnan(X), rng.normal(size=X.shape), X)
        rounds.append((X.copy(), completed))
        bought = np.isnan(X) & (rng.random(X.shape) < 0.2)
        X[bought] = rng.normal(size=bought.sum())
        new = rng.normal(size=(int(draw(st.sampled_from([0, 0, 1, 3]))), X.shape[1]))
        new[rng.random(new.shape) < 0.5] = np.nan
        X = np.vstack([X, new])
    return rounds
