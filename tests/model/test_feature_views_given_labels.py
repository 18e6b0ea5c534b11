"""Draws of training rows are conditional on their labels."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.complete.auto_candidates import ColumnMeanCompleter
from cellworth.model.feature_views import LEAST_ROWS, draw_given_labels, takes_labels
from tests.model.holed_tables import holed

PLAIN = GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)


def test_a_column_keeps_what_it_is_worth():
    # y = 2 a - b + noise with independent columns, half of the cells missing. A draw that ignores the label
    # is noise: regressed on it, a coefficient is half of the true one. Given the label it is consistent.
    rng, n, true = np.random.default_rng(0), 4000, np.array([2.0, -1.0])
    whole = rng.normal(size=(n, 2))
    y = whole @ true + rng.normal(size=n)
    X = np.where(rng.random(whole.shape) < 0.5, np.nan, whole)
    blind = PLAIN.fit(X).sample(5, 0)
    given = draw_given_labels(PLAIN, X, y, 5, 0, is_number=True)
    for draws, expected in ((blind, true / 2), (given, true)):
        slopes = [np.linalg.lstsq(draw, y, rcond=None)[0] for draw in draws]
        # Four standard errors: the residual's deviation is at most 2.5, and half of n cells are known.
        assert np.mean(slopes, axis=0) == pytest.approx(expected, abs=4 * 2.5 / np.sqrt(n / 2))


def test_classes_keep_their_means_and_their_correlations():
    # The two columns correlate by 0.8 in one class and by -0.8 in the other: without labels, by 0.
    rng, n = np.random.default_rng(1), 4000
    y = rng.integers(0, 2, n).astype(float)
    first, sign = rng.normal(size=n), np.where(y == 1, 1.0, -1.0)
    whole = np.column_stack([first, 0.8 * sign * first + 0.6 * rng.normal(size=n)]) + 2 * y[:, np.newaxis]
    X = np.where(rng.random(whole.shape) < 0.4, np.nan, whole)
    drawn = draw_given_labels(PLAIN, X, y, 1, 0, is_number=False)[0]
    known = ~np.isnan(X)
    assert drawn[known] == pytest.approx(X[known])
    for value in (0.0, 1.0):
        rows = y == value
        # Some 0.36 n / 2 pairs of a class are known: standard errors below 0.05 each, four of them.
        assert drawn[rows].mean(axis=0) == pytest.approx(whole[rows].mean(axis=0), abs=0.2)
        assert np.corrcoef(drawn[rows].T)[0, 1] == pytest.approx(0.8 * (2 * value - 1), abs=0.2)


def test_small_classes_empty_columns_and_missing_labels():
    X, y, _ = holed(n=120, classes=2)
    y = y.astype(float)
    y[:5], y[5:30] = 2.0, np.nan  # a class of five rows
    X[y == 1, 3] = np.nan  # never measured in a class
    assert (y == 2).sum() < LEAST_ROWS
    drawn = draw_given_labels(PLAIN, X, y, 3, 0, is_number=False)
    again = draw_given_labels(PLAIN, X, y, 3, 0, is_number=False)
    assert drawn.shape == (3, *X.shape)
    assert np.isfinite(drawn).all()
    assert np.array_equal(drawn, again)
    rest = GaussianCompleter(label_trust=1.0, target="classes", margins="normal", calibrate=False).fit(X, y)
    alike = np.isnan(y) | (y == 2)
    assert np.array_equal(drawn[:, alike], rest.sample(3, 0)[:, alike])


def test_which_completers_take_labels():
    assert takes_labels(PLAIN)
    assert not takes_labels(ColumnMeanCompleter())
    assert not takes_labels(None)
