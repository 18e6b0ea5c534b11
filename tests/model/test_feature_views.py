"""Views of rows with holes, from one fitted completer."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.errors import ParameterError
from cellworth.model.feature_views import N_DRAWS, View, ViewedRows, complete_features
from tests.model.holed_tables import holed


@pytest.fixture(scope="module")
def fitted():
    X, _, _ = holed()
    return X, GaussianCompleter(label_trust=0.0, margins="normal").fit(X)


def test_each_view_keeps_known_cells(fitted):
    X, completer = fitted
    rows, known = ViewedRows.trained_on(completer, X, 0), ~np.isnan(X)
    assert np.array_equal(rows.features(View())[0], completer.completed_)
    assert np.array_equal(rows.features(View("raw"))[0], X, equal_nan=True)
    draws = rows.features(View("draws"))
    assert draws.shape == (N_DRAWS, *X.shape)
    for draw in draws:
        assert draw[known] == pytest.approx(X[known])
    assert np.ptp(draws[:, ~known], axis=0).min() > 0
    masked = rows.features(View("draws", mask=True), np.array([3, 1]))
    assert np.array_equal(masked[0][:, 4:], np.isnan(X[[3, 1]]))
    assert np.array_equal(masked[:, :, :4], draws[:, [3, 1]])


def test_fills_are_made_once_and_new_rows_are_transformed(fitted):
    X, completer = fitted
    rows = ViewedRows.new(completer, X[:9], 0)
    assert rows.mean is rows.mean
    assert rows.draws is rows.draws
    assert np.array_equal(rows.mean, completer.transform(X[:9]))
    elsewhere = ViewedRows.trained_on(completer, X[:9], 0)  # not what it was fitted to
    assert np.array_equal(elsewhere.mean, rows.mean)
    assert np.array_equal(elsewhere.draws, ViewedRows.new(completer, X[:9], 0).draws)
    alone = ViewedRows.new(completer, X[4:5], 0)
    assert alone.draws[:, 0] == pytest.approx(rows.draws[:, 4])


def test_complete_rows_need_no_completer():
    _, _, whole = holed()
    rows = ViewedRows.new(None, whole, 0)
    for fill in ("mean", "draws", "raw"):
        assert np.array_equal(rows.features(View(fill)), whole[np.newaxis])
    assert np.array_equal(complete_features(whole, View(mask=True))[:, 4:], np.zeros_like(whole))
    assert complete_features(whole, View()) is whole


def test_a_completer_that_cannot_draw_says_so():
    X, _, _ = holed()
    with pytest.raises(ParameterError, match="no method sample"):
        ViewedRows.trained_on(ColumnMeanCompleter().fit(X), X, 0).features(View("draws"))


def test_draws_given_labels_are_made_once_for_the_same_labels(fitted):
    X, completer = fitted
    _, y, _ = holed()
    rows, y = ViewedRows.trained_on(completer, X, 0), y.astype(float)
    y[::3] = np.nan
    given = rows.given_labels(y, is_number=False)
    assert rows.given_labels(y.copy(), is_number=False) is given
    assert given.mean is rows.mean  # a mean given the label would give the label away
    other = rows.given_labels(np.roll(y, 1), is_number=False)
    assert not np.array_equal(other.draws, given.draws)
    new = ViewedRows.new(completer, X, 0)
    assert new.given_labels(y, is_number=False) is new  # rows to predict are filled without labels
