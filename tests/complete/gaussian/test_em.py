"""EM: the likelihood never falls, and it ends where it should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.gaussian.dense_gaussian import DenseGaussian, pairwise_start
from cellworth.complete.gaussian.em import run_em
from cellworth.complete.gaussian.factor_gaussian import factor_start
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import em_on


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


def test_a_start_without_a_likelihood_is_no_result():
    observed, X = np.ones((4, 2), dtype=bool), np.arange(8.0).reshape(4, 2)
    start = DenseGaussian(np.array([np.nan, 0.0]), np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="without a finite likelihood"):
        run_em(em_on(start, observed, X, 0.0), start, n_cells=X.size, tol=1e-9, max_iter=50)
