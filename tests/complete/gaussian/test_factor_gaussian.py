"""A covariance of factors and noise, against a full one."""

import numpy as np
import pytest

from cellworth.complete.gaussian.dense_gaussian import pairwise_start
from cellworth.complete.gaussian.em import run_em
from cellworth.complete.gaussian.factor_gaussian import factor_start
from tests.complete.gaussian import textbook
from tests.complete.gaussian.cases import em_on


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
