"""Folds: nothing of a held-out row's label or cells is used to fill or to draw it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.model.candidates import Candidate
from cellworth.model.feature_views import View
from cellworth.model.held_out_folds import DRAWN, fit_completer, make_folds
from cellworth.model.score_on_complete_rows import THINNED
from tests.model.holed_tables import holed, mixed_table

LIGHT = GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)
OWN = Candidate("own", View(), LogisticRegression())


def folds_of(X, y, completer=LIGHT, **settings):
    defaults = {"folds": 4, "repeats": 1, "seed": 0, "is_number": False}
    return make_folds(X, y.astype(float), completer, **(defaults | settings))


def test_rows_are_dealt_once_per_repeat():
    X, y, _ = holed()
    y = y.astype(float)
    y[:10] = np.nan
    deals, folds = folds_of(X, y, repeats=3)
    assert len(deals) == len(folds) == 3
    assert [len(dealt) for dealt in deals] == [150] * 3
    for of_repeat in folds:
        held = np.sum([fold.held for fold in of_repeat], axis=0)
        assert np.array_equal(held, ~np.isnan(y))


@pytest.mark.parametrize("completer", [LIGHT, GaussianCompleter(margins="normal"), SupervisedCompleter()])
def test_predictions_do_not_depend_on_the_labels_held_out(completer):
    X, y, _ = holed(n=80)
    fold = folds_of(X, y, completer)[1][0][0]
    changed = np.where(fold.held, 1 - y, y)
    other = type(fold)(X, changed.astype(float), fold.held, completer, is_number=False, seed=0)
    for first, second in zip(fold.predict(OWN, 2), other.predict(OWN, 2), strict=True):
        assert np.array_equal(first, second)


def test_shapes_and_complete_rows():
    X, y, whole = holed(n=80)
    X[::2] = whole[::2]
    fold = folds_of(X, y)[1][0][1]
    at_hand, drawn = fold.predict(OWN, 2)
    size = int(fold.held.sum())
    assert at_hand.shape == (size, 2)
    assert drawn.shape == (DRAWN, size, 2)
    complete = np.arange(80)[fold.held] % 2 == 0
    assert np.array_equal(drawn[:, complete], np.repeat(at_hand[np.newaxis, complete], DRAWN, axis=0))
    assert np.ptp(drawn[:, ~complete], axis=0).max() > 0


def test_a_column_that_is_known_in_one_fold_only():
    X, y, _ = holed(n=80)
    X[1:, 3] = np.nan
    for fold in folds_of(X, y)[1][0]:
        assert np.isfinite(fold.predict(OWN, 2)[0]).all()


def test_a_completer_learns_the_kind_of_target():
    X, y, _ = holed(n=60)
    assert fit_completer(GaussianCompleter(), X, y.astype(float), is_number=True).target == "number"
    assert fit_completer(None, X, None, is_number=False).label_trust == 0.0


def test_a_model_trained_elsewhere_is_asked_about_the_same_draws():
    """Trained on fewer cells, or fewer columns, it predicts the held-out rows as they are drawn here."""
    X, y, _ = holed(n=80)
    fold = folds_of(X, y)[1][0][0]
    assert np.array_equal(fold.predictions_of(fold.train(OWN, 2), fold.columns)[1], fold.predict(OWN, 2)[1])
    thin = X.copy()
    thin[~fold.held, 2] = np.nan
    other = type(fold)(thin, y.astype(float), fold.held, LIGHT, is_number=False, seed=0)
    assert not other.columns[2]
    at_hand, drawn = fold.predictions_of(other.train(OWN, 2), other.columns)
    assert (at_hand.shape, drawn.shape) == ((20, 2), (DRAWN, 20, 2))
    assert np.array_equal(other.predict_at_hand(other.train(OWN, 2)), other.predict(OWN, 2)[0])


def test_drawn_rows_of_a_table_have_one_category_per_cell():
    """A candidate that predicts whether a row's columns of a category have exactly one 1."""
    encoded = mixed_table().encode()
    y = np.arange(len(encoded.X)) % 2
    checks = Candidate("checks", View(), OneCategory())
    _, folds = folds_of(encoded.X, y, completer=LIGHT, cell_of=encoded.owner)
    for fold in folds[0]:
        assert (fold.predict(checks, 2)[1] == 1).all()
    _, folds = folds_of(encoded.X, y, completer=LIGHT)
    assert (folds[0][0].predict(checks, 2)[1] < 1).any()


class OneCategory(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        one = np.isin(X[:, 1:4], [0, 1]).all(axis=1) & (X[:, 1:4].sum(axis=1) == 1)
        return np.repeat(one[:, np.newaxis].astype(float), 2, axis=1)


class CountsKnownCells(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        known = (~np.isnan(X)).mean(axis=1)
        return np.column_stack([1 - known, known])


def test_thinned_rows_keep_shares_of_their_known_cells():
    X, y, _ = holed(n=400)
    counts = Candidate("counts", View("raw"), CountsKnownCells())
    fold = folds_of(X, y)[1][0][0]
    model = fold.train(counts, 2)
    known = [*fold.predict_thinned(model)[:, :, 1], (~np.isnan(X[fold.held])).mean(axis=1)]
    assert (np.diff(known, axis=0) >= 0).all()  # cells of a smaller share are among those of a larger one
    # Three standard errors of a share of 100 rows with some cells each.
    assert np.mean(known, axis=1) / np.mean(known[-1]) == pytest.approx([*THINNED, 1.0], abs=0.1)
    assert np.array_equal(fold.predict_thinned(model), fold.predict_thinned(model))
