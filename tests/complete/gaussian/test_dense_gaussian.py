"""A full covariance, against the textbook."""

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.complete.gaussian import pattern_systems as systems_module
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import ONE_TABLE, em_on


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


def test_kernels_batches_and_shared_patterns_give_the_same_step(monkeypatch):
    rng = np.random.default_rng(2)
    X, observed, mean, covariance = textbook.gaussian_table(rng, 300, 6, 0.6)
    model, results = DenseGaussian(mean, covariance), []
    for found, shared_work in ((systems_module.kernels, 10**9), (lambda: None, 10**9), (lambda: None, 0)):
        monkeypatch.setattr(systems_module, "kernels", found)
        monkeypatch.setattr(systems_module, "SHARED_WORK", shared_work)
        monkeypatch.setattr(systems_module, "SHARED_ROWS", 1)
        results.append(em_on(model, observed, X, 1.0).step(model))
    for other in results[1:]:
        assert other[0] == pytest.approx(results[0][0], rel=1e-12)
        np.testing.assert_allclose(other[2].covariance, results[0][2].covariance, rtol=1e-9, atol=1e-12)
