import numpy as np
import pytest
from scipy.special import expit

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.errors import ParameterError
from cellworth.score import PosteriorVariance, Round, expected_utility
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.testing.completer_contract import random_table


class Drawer:
    """A fitted completer whose draws are those of independent normal cells, one table after the other."""

    def __init__(self, X, rng):
        self.X = X
        self.means, self.deviations = rng.normal(size=X.shape), rng.uniform(0.2, 2, size=X.shape)
        self.completed_ = np.where(np.isnan(X), self.means, X)

    def sample(self, n_draws, random_state):
        draws = [random_state.normal(self.means, self.deviations) for _ in range(n_draws)]
        return np.where(np.isnan(self.X), draws, self.X)


def a_round(classes=2, number=False, seed=0):
    rng = np.random.default_rng(seed)
    X, _ = random_table(rng, n=40, d=4)
    y = (rng.integers(classes, size=40) + 0.5 * number * rng.normal(size=40)).astype(float)
    y[::5] = np.nan
    return Round(X, y, "number" if number else "classes", Drawer(X, rng), np.random.default_rng(seed))


@pytest.mark.parametrize("at_a_time", [1, 800, 10**9])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_is_the_gain_from_deciding_after_seeing(classes, at_a_time, monkeypatch):
    monkeypatch.setattr(expected_utility, "CELLS_AT_A_TIME", at_a_time)
    scores = ExpectedUtility(draws=7).score(a_round(classes))
    this_round = a_round(classes)
    model, tables = this_round.fit_linear_model(), this_round.completer.sample(7, random_state=this_round.rng)
    for i in range(len(this_round.X)):
        probabilities = [model.probabilities(table[i : i + 1])[0] for table in tables]
        after = sum(max(p) for p in probabilities) / 7
        before = max(sum(p[k] for p in probabilities) / 7 for k in range(classes))
        for j in range(4):
            worth = after - before if np.isnan(this_round.X[i, j]) else 0.0
            assert scores[i, j] == pytest.approx(worth, abs=1e-12)
    assert scores.max() > 0.005


def test_for_a_number_it_is_the_variance_of_the_prediction():
    scores = ExpectedUtility(draws=9).score(a_round(number=True))
    this_round = a_round(number=True)
    model, tables = this_round.fit_linear_model(), this_round.completer.sample(9, random_state=this_round.rng)
    for i in range(len(this_round.X)):
        predictions = [float(table[i] @ model.coefficients[:, 0]) for table in tables]
        mean = sum(predictions) / 9
        variance = sum((prediction - mean) ** 2 for prediction in predictions) / 9
        np.testing.assert_allclose(scores[i], np.where(np.isnan(this_round.X[i]), variance, 0.0), atol=1e-12)


def test_agrees_with_the_integral_over_the_gaussian_posterior():
    """One missing cell, two classes: an integral in one dimension, by Gauss and Hermite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    y = (X.sum(axis=1) + 0.5 * rng.normal(size=200) > 0).astype(float)
    X[:3, 0] = np.nan
    completer = GaussianCompleter(margins="normal", label_trust=0, calibrate=False).fit(X, y)
    this_round = Round(X, y, "classes", completer, rng)
    draws = 4000
    scores = ExpectedUtility(draws).score(this_round)
    model = this_round.fit_linear_model()
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    for i in range(3):
        cell = completer.completed_[i, 0] + np.sqrt(completer.variance_[i, 0]) * nodes
        rows = np.column_stack([cell, np.full(200, X[i, 1])])
        odds = rows @ (model.coefficients[:, 1] - model.coefficients[:, 0])
        p = expit(odds + model.intercepts[1] - model.intercepts[0])
        exact = weights @ np.maximum(p, 1 - p) - max(weights @ p, weights @ (1 - p))
        # The standard error is at most 0.5 / sqrt(draws); four of them.
        assert scores[i, 0] == pytest.approx(exact, abs=2 / np.sqrt(draws))
    assert scores[:3, 0].max() > 0.1


def test_a_row_is_taken_whole_and_a_clear_row_is_worth_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(float)
    X[0], X[1] = [np.nan, 0.0, np.nan], [np.nan, 50.0, np.nan]
    completer = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    scores = ExpectedUtility().score(Round(X, y, "classes", completer, rng))
    assert scores[0, 0] == scores[0, 2] > 0.05
    assert scores[1].max() < 1e-6


def test_where_the_model_knows_nothing_a_row_is_worth_what_is_not_known_about_it():
    X, _ = random_table(np.random.default_rng(0))
    this_round = Round(X, None, None, GaussianCompleter().fit(X), np.random.default_rng(0))
    shares = PosteriorVariance().score(this_round)
    expected = np.where(np.isnan(X), shares.sum(axis=1, keepdims=True), 0)
    np.testing.assert_allclose(ExpectedUtility().score(this_round), expected)


def test_refuses_what_makes_no_sense():
    for draws in (1, 0, 2.5, True, None):
        with pytest.raises(ParameterError, match="draws must be a whole number of at least 2"):
            ExpectedUtility(draws)
    X = np.array([[1.0, 2.0], [np.nan, 3.0]])
    this_round = Round(X, None, None, SupervisedCompleter().fit(X), np.random.default_rng(0))
    with pytest.raises(ParameterError, match=r"SupervisedCompleter has no sample. Use GaussianCompleter"):
        ExpectedUtility().score(this_round)
