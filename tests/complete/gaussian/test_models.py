"""What both models promise alike: posteriors, left-out cells and changes of units, against the textbook."""

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import ONE_TABLE, em_on


def some_factors(rng, d, r):
    return FactorGaussian(rng.normal(size=d), rng.normal(size=(d, r)), rng.uniform(0.1, 1, size=d))


def both_models(rng, d):
    _, _, mean, covariance = textbook.gaussian_table(rng, 5, d, 0.5)
    return DenseGaussian(mean, covariance), some_factors(rng, d, min(d, 2))


@settings(deadline=None, max_examples=40)
@given(**ONE_TABLE)
def test_posterior_and_likelihood_equal_the_textbook(seed, n, d, share):
    rng = np.random.default_rng(seed)
    X, observed, *_ = textbook.gaussian_table(rng, n, d, share)
    for model in both_models(rng, d):
        rows = [
            textbook.condition(x, o, model.mean, model.covariance) for x, o in zip(X, observed, strict=True)
        ]
        layout = model.layout(observed)
        np.testing.assert_allclose(layout.complete(model, X), [r[0] for r in rows], atol=1e-8)
        np.testing.assert_allclose(model.hole_variances(observed), [np.diag(r[1]) for r in rows], atol=1e-8)
        _, plain, _ = em_on(model, observed, X, 1.0).step(model)
        expected = textbook.log_likelihood(X, observed, model.mean, model.covariance)
        assert plain == pytest.approx(expected, rel=1e-9, abs=1e-8)


@settings(deadline=None, max_examples=25)
@given(**ONE_TABLE)
def test_a_cell_left_out_is_predicted_from_the_others(seed, n, d, share):
    rng = np.random.default_rng(seed)
    X, observed, *_ = textbook.gaussian_table(rng, n, d, share)
    for model in both_models(rng, d):
        variances = model.left_out_variances(observed)
        completed = model.layout(observed).complete(model, X)
        residuals = model.precision_times(completed - model.mean) * variances
        for i, j in np.argwhere(observed):
            others = observed[i].copy()
            others[j] = False
            mean, covariance = textbook.condition(X[i], others, model.mean, model.covariance)
            assert variances[i, j] == pytest.approx(covariance[j, j], rel=1e-6)
            assert residuals[i, j] == pytest.approx(X[i, j] - mean[j], rel=1e-6, abs=1e-8)
        assert (variances[~observed] == 0).all()


def test_parameters_survive_the_way_to_a_vector_and_back():
    for model in both_models(np.random.default_rng(5), 4):
        back = model.from_vector(model.to_vector())
        np.testing.assert_allclose(back.mean, model.mean)
        np.testing.assert_allclose(back.covariance, model.covariance, rtol=1e-12)


def test_the_factor_and_the_precision_are_those_of_the_covariance():
    rng = np.random.default_rng(7)
    dense = both_models(rng, 5)[0]
    moved = dense.from_vector(dense.to_vector() + rng.normal(size=20) / 10)  # it brings its factor
    for model in (dense, moved, moved.on_columns(slice(1, 4)), moved.with_noise(np.ones(5))):
        np.testing.assert_allclose(model.factor, np.linalg.cholesky(model.covariance), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(model.precision, np.linalg.inv(model.covariance), rtol=1e-9, atol=1e-12)
        assert (model.precision == model.precision.T).all()
        assert model.log_determinant() == pytest.approx(np.linalg.slogdet(model.covariance)[1])


def test_columns_noise_and_units():
    rng = np.random.default_rng(6)
    factor, shift = rng.uniform(0.5, 2, size=4), rng.normal(size=4)
    for model in both_models(rng, 4):
        part = model.on_columns(slice(1, 3))
        np.testing.assert_allclose(part.covariance, model.covariance[1:3, 1:3])
        np.testing.assert_allclose(model.with_noise(np.ones(4)).covariance, model.covariance + np.eye(4))
        moved = model.rescaled(factor, shift)
        np.testing.assert_allclose(moved.covariance, model.covariance * np.outer(factor, factor))
        np.testing.assert_allclose(moved.mean, model.mean * factor + shift)
        draws = model.draw(200_000, rng)
        np.testing.assert_allclose(np.cov(draws.T), model.covariance, atol=0.1)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_layout_completes_by_any_model(share):
    """By that of the last E step, whose residuals are at hand, and by others."""
    rng = np.random.default_rng(0)
    X, observed, *_ = textbook.gaussian_table(rng, 60, 5, share)
    observed[:, 3] = True  # a column without holes has no system of its own
    X = np.where(observed, np.nan_to_num(X), 0)
    for first in both_models(rng, 5):
        layout = first.layout(observed)
        values = layout.prepared(X)
        residuals = layout.work(values)
        following = first.improved(layout.expect(first, values, None, residuals), 1.0)[2]
        for model, at_hand in ((first, residuals), (following, None), (first, None)):
            completed = layout.completed(model, values, None, at_hand)
            np.testing.assert_allclose(completed, layout.complete(model, X), atol=1e-12)
            assert (completed[observed] == X[observed]).all()
