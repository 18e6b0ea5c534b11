"""E and M steps, posteriors and left-out cells of both models, against the textbook."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.gaussian import systems as systems_module
from cellworth.complete.gaussian.dense import DenseGaussian, pairwise_start
from cellworth.complete.gaussian.em import run_em
from cellworth.complete.gaussian.factor import FactorGaussian, factor_start
from cellworth.complete.gaussian.held_out_choices import Recipe
from tests.complete.gaussian import textbook

ONE_TABLE = {
    "seed": st.integers(0, 2**16),
    "n": st.integers(2, 40),
    "d": st.integers(1, 7),
    "share": st.floats(0.1, 1),
}


def em_on(model, observed, X, shrinkage):
    return Recipe(None, shrinkage).em_on(model, X, observed)


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


@settings(deadline=None, max_examples=25)
@given(**ONE_TABLE)
def test_em_step_of_a_full_covariance_equals_the_textbook(seed, n, d, share):
    rng = np.random.default_rng(seed)
    X, observed, mean, covariance = textbook.gaussian_table(rng, n, d, share)
    model = DenseGaussian(mean, covariance)
    penalised, plain, following = em_on(model, observed, np.where(observed, X, 0), 2.0).step(model)
    new_mean, new_covariance = textbook.em_step(X, observed, mean, covariance, 2.0)
    np.testing.assert_allclose(following.mean, new_mean, atol=1e-8)
    np.testing.assert_allclose(following.covariance, new_covariance, atol=1e-8)
    penalty = np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.inv(covariance))
    assert penalised == pytest.approx(plain - penalty, rel=1e-9, abs=1e-7)


def test_tree_batches_and_shared_patterns_give_the_same_step(monkeypatch):
    rng = np.random.default_rng(2)
    X, observed, mean, covariance = textbook.gaussian_table(rng, 300, 6, 0.6)
    model, results = DenseGaussian(mean, covariance), []
    for tree_columns, shared_work in ((100, 10**9), (0, 10**9), (0, 0)):
        monkeypatch.setattr(systems_module, "TREE_COLUMNS", tree_columns)
        monkeypatch.setattr(systems_module, "SHARED_WORK", shared_work)
        monkeypatch.setattr(systems_module, "SHARED_ROWS", 1)
        results.append(em_on(model, observed, X, 1.0).step(model))
    for other in results[1:]:
        assert other[0] == pytest.approx(results[0][0], rel=1e-12)
        np.testing.assert_allclose(other[2].covariance, results[0][2].covariance, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**16), share=st.floats(0.2, 1), shrinkage=st.sampled_from([0.5, 3.0]))
def test_penalised_likelihood_never_falls(seed, share, shrinkage):
    rng = np.random.default_rng(seed)
    X, observed, *_ = textbook.gaussian_table(rng, 50, 6, share)
    X = np.where(observed, X, 0)
    for model in (pairwise_start(X, observed, shrinkage), factor_start(X, observed, 2)):
        em = em_on(model, observed, X, shrinkage)
        plain_steps = []
        step = model
        for _ in range(10):
            value, _, step = em.step(step)
            plain_steps.append(value)
        assert (np.diff(plain_steps) >= -1e-9 * np.abs(plain_steps[:-1])).all()
        went = run_em(em, model, n_cells=int(observed.sum()), tol=1e-8, max_iter=200)
        assert (np.diff(went.penalised) >= 0).all()
        assert went.penalised[-1] >= plain_steps[-1] - 1e-6 * abs(plain_steps[-1])


def test_without_holes_em_gives_mean_and_covariance_of_the_sample():
    rng = np.random.default_rng(3)
    X, *_ = textbook.gaussian_table(rng, 200, 5, 1.0)
    observed = np.ones(X.shape, dtype=bool)
    start = pairwise_start(X - X.mean(axis=0), observed, 0.0)
    went = run_em(em_on(start, observed, X, 0.0), start, n_cells=X.size, tol=1e-9, max_iter=50)
    np.testing.assert_allclose(went.model.mean, X.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(went.model.covariance, np.cov(X.T, bias=True), atol=1e-10)


def test_as_many_factors_as_columns_reach_the_likelihood_of_a_full_covariance():
    rng = np.random.default_rng(4)
    X, observed, *_ = textbook.gaussian_table(rng, 400, 4, 0.8)
    X = np.where(observed, (X - X.mean(axis=0)) / X.std(axis=0), 0)
    dense, factor = pairwise_start(X, observed, 0.0), factor_start(X, observed, 3)
    values = [
        run_em(em_on(m, observed, X, 1e-6), m, n_cells=X.size, tol=1e-9, max_iter=3000).plain
        for m in (dense, factor)
    ]
    assert values[1] == pytest.approx(values[0], abs=1e-3 * X.size)


def test_parameters_survive_the_way_to_a_vector_and_back():
    for model in both_models(np.random.default_rng(5), 4):
        back = model.from_vector(model.to_vector())
        np.testing.assert_allclose(back.mean, model.mean)
        np.testing.assert_allclose(back.covariance, model.covariance, rtol=1e-12)


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
