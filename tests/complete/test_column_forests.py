"""The forest of one column, against what its definition says."""

import numpy as np
import pytest

from cellworth.complete.column_forests import ColumnForest, features_without, grow_forests, predict_holes
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from tests.complete.gaussian import textbook


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    X, observed, mean, covariance = textbook.gaussian_table(rng, 200, 4, 0.6)
    fitted = FittedGaussian(DenseGaussian(mean, covariance), Margins((None,) * 4), 0.0, 3.0)
    return fitted, Cells(np.where(observed, X, 0), observed), X


def test_the_features_of_a_column_do_not_depend_on_its_cells(case):
    fitted, cells, X = case
    guess = deviation = np.zeros(len(X))
    features = features_without(2, fitted, cells, guess, deviation)
    changed = cells.scores.copy()
    changed[:, 2] += 100
    again = features_without(2, fitted, Cells(changed, cells.observed), guess, deviation)
    np.testing.assert_array_equal(features, again)
    for i in range(5):
        others = cells.observed[i].copy()
        others[2] = False
        expected = textbook.condition(X[i], others, fitted.model.mean, fitted.model.covariance)[0]
        np.testing.assert_allclose(features[i, :3], np.delete(expected, 2), atol=1e-9)


def test_a_forest_that_is_no_better_than_the_guess_is_not_used(case):
    fitted, cells, X = case
    exact = Posterior(X, np.ones_like(X))  # guesses that need no forest
    grown = grow_forests(fitted, cells, X, exact, 10, np.random.default_rng(0), None)
    assert all(forest.weight == 0 and forest.forest is None for forest in grown.forests)
    np.testing.assert_array_equal(grown.predictions, np.where(cells.observed, X, 0))


def test_out_of_bag_predictions_have_no_less_error_than_on_new_rows():
    """A forest that saw its own rows would have a far smaller error on them."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(600, 3))
    X[:, 1] = X[:, 0] ** 2 + 0.5 * rng.normal(size=600)
    observed = np.ones_like(X, dtype=bool)
    fitted = FittedGaussian(DenseGaussian(np.zeros(3), np.eye(3)), Margins((None,) * 3), 0.0, 3.0)
    nothing = Posterior(np.zeros_like(X), np.ones_like(X))
    old, new = slice(300), slice(300, None)
    part = Posterior(nothing.mean[old], nothing.variance[old])
    grown = grow_forests(fitted, Cells(X[old], observed[old]), X[old], part, 60, rng, None)
    known = np.array([True, False, True]) & observed[new]
    filled = predict_holes(
        grown.forests, fitted, Cells(X[new] * known, known), nothing.mean[new], nothing.variance[new]
    )
    fresh = np.mean((filled - X[new])[:, 1] ** 2)
    within = np.mean((grown.predictions - X[old])[:, 1] ** 2)
    assert grown.forests[1].weight > 0.8
    assert within == pytest.approx(fresh, rel=0.3)  # two means of 300 squares: 8 % a standard error each
    assert fresh < 0.5 * X[:, 1].var()


def test_without_a_forest_the_guess_is_the_prediction():
    features = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(ColumnForest(None, 0.0).predict(features), features[:, 2])
