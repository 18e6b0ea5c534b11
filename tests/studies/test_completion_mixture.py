"""The mixture of Gaussians, the rival of trees."""

import numpy as np

from cellworth.complete import GaussianCompleter
from studies.completion.mixture import complete, fill_by_mixture


def clusters(n=300):
    rng = np.random.default_rng(0)
    centres = 4 * np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    truth = centres[rng.integers(4, size=n)] + 0.3 * rng.normal(size=(n, 4))
    return truth, np.where(rng.random(truth.shape) < 0.7, truth, np.nan)


def test_clusters_are_filled_better_than_by_one_gaussian():
    truth, X = clusters()
    holes = np.isnan(X)
    one = np.sqrt(np.mean((GaussianCompleter().fit(X).completed_ - truth)[holes] ** 2))
    mixed = np.sqrt(np.mean((fill_by_mixture(X) - truth)[holes] ** 2))
    assert mixed < 0.9 * one
    np.testing.assert_array_equal(fill_by_mixture(X)[~holes], X[~holes])


def test_one_component_is_a_gaussian():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(2000, 1)) + 0.5 * rng.normal(size=(2000, 3))
    X = np.where(rng.random(truth.shape) < 0.7, truth, np.nan)
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    gaussian = GaussianCompleter(margins="normal", shrinkage=3.0, calibrate=False).fit(X).completed_
    # The start, with variances too small, still counts as six of 2,000 rows.
    assert np.abs(complete(X, gaussian, 1) - gaussian)[np.isnan(X)].max() < 0.05
