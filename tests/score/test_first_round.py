import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cellworth import AutoCompleter, SupervisedCompleter
from cellworth.complete import GaussianCompleter
from cellworth.score import Round, Variance
from cellworth.score.first_round import first_round_scores
from cellworth.testing.completer_contract import random_table
from tests.score.rounds import squared_ranges, told


class MeanCompleter(BaseEstimator):
    """Fills holes with column means and writes down what it was fitted on."""

    def __init__(self, notes=None, callback=None):
        self.notes = notes
        self.callback = callback

    def __sklearn_clone__(self):
        return MeanCompleter(self.notes, self.callback)

    def fit(self, X, y=None):
        assert self.callback is None
        self.notes.append((X, y))
        self.completed_ = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        return self


def a_round(X, y=None, target=None, seed=0, completer=None):
    notes = []
    completer = completer or MeanCompleter(notes)
    fitted = completer.fit(X)
    notes.clear()
    return Round(X, y, target, fitted, np.random.default_rng(seed)), notes


def test_the_completers_own_variance_comes_first():
    X = np.array([[0.0, 5.0], [4.0, 5.0], [np.nan, np.nan]])
    scores = first_round_scores(told(X, variance=[[1.0, 2.0]] * 3))
    np.testing.assert_allclose(scores, [[0, 0], [0, 0], [1 / 16, 2]])  # a constant column has width 1


def test_without_one_four_refits_with_a_tenth_hidden_disagree():
    X, y = random_table(np.random.default_rng(0), n=200)
    this_round, notes = a_round(X, y.astype(float), "classes")
    scores = first_round_scores(this_round)
    assert len(notes) == 4
    for table, labels in notes:
        hidden = np.isnan(table) & ~np.isnan(X)
        np.testing.assert_array_equal(table[~hidden], X[~hidden])
        # 840 cells are observed: the share has a standard deviation of 0.01.
        assert hidden.sum() / (~np.isnan(X)).sum() == pytest.approx(0.1, abs=0.05)
        np.testing.assert_array_equal(labels, y)
    means = [np.nanmean(table, axis=0) for table, _ in notes]
    for j, width in enumerate(squared_ranges(X)):
        expected = np.var([mean[j] for mean in means]) / width
        np.testing.assert_allclose(scores[np.isnan(X[:, j]), j], expected)
        assert expected > 0
    assert (scores[~np.isnan(X)] == 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_no_column_is_emptied(seed):
    X = np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, np.nan], [np.nan, np.nan, 5.0]])
    this_round, notes = a_round(X, seed=seed)
    first_round_scores(this_round)
    assert all((~np.isnan(table)).any(axis=0).all() for table, _ in notes)


def test_refits_tell_no_progress():
    X = random_table(np.random.default_rng(0))[0]
    this_round, notes = a_round(X)
    this_round.completer.callback = pytest.fail
    first_round_scores(this_round)
    assert len(notes) == 4


def test_a_completer_that_chooses_does_not_choose_again():
    X = random_table(np.random.default_rng(0))[0]
    this_round, notes = a_round(X)
    chosen = MeanCompleter([]).fit(X)
    this_round.completer.best_completer_ = chosen
    first_round_scores(this_round)
    assert len(notes) == 0
    assert len(chosen.notes) == 5


def test_labels_that_say_nothing_are_not_passed_on():
    X, y = random_table(np.random.default_rng(0))
    for labels in (np.full(len(y), np.nan), np.where(y == 1, 1.0, np.nan)):
        this_round, notes = a_round(X, labels, "classes")
        first_round_scores(this_round)
        assert all(passed is None for _, passed in notes)


def test_the_rule_is_where_a_scorer_with_a_history_begins():
    X, y = random_table(np.random.default_rng(0))
    for completer in (SupervisedCompleter(), GaussianCompleter()):
        fitted = completer.fit(X, y)
        this_round, same = (Round(X, y * 1.0, "classes", fitted, np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(Variance().score(this_round), first_round_scores(same))


def test_a_chosen_completer_that_has_a_variance_is_believed():
    X, y = random_table(np.random.default_rng(0))
    completer = AutoCompleter(
        candidates=[(name, GaussianCompleter(margins=name)) for name in ("normal", "rank")]
    )
    fitted = completer.fit(X, y)
    scores = first_round_scores(Round(X, y * 1.0, "classes", fitted, np.random.default_rng(0)))
    np.testing.assert_allclose(scores, fitted.variance_ / squared_ranges(X))
