"""Folds: nothing of a held-out row's label or cells is used to fill or to draw it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.model.candidates import Candidate
from cellworth.model.held_out_folds import DRAWN, fit_completer, make_folds, settle
from cellworth.model.row_views import View
from tests.model.holed_tables import holed

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


def test_draws_of_few_values_are_settled():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 100) * 3.0, rng.normal(size=100)])
    X[:40, 0] = np.nan
    draws = rng.normal(size=(5, 50, 2))
    before, holes = draws.copy(), rng.random((50, 2)) < 0.7
    settle(draws, holes, X)
    assert np.array_equal(draws[:, :, 1], before[:, :, 1])
    assert np.array_equal(draws[:, ~holes[:, 0], 0], before[:, ~holes[:, 0], 0])
    found = draws[:, holes[:, 0], 0]
    assert set(found.ravel()) == {0.0, 3.0}
    assert found.mean() == pytest.approx(np.nanmean(X[:, 0]), abs=3 / found.size)
    order = np.argsort(before[:, holes[:, 0], 0], axis=None)
    assert (np.diff(found.ravel()[order]) >= 0).all()


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
