"""Fits that are accurate enough to choose by."""

import numpy as np

from cellworth.complete.gaussian import quick_fit
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.em import run_em
from cellworth.complete.gaussian.quick_fit import CELLS, MIN_ROWS, GaussianEstimator, factor_count, some_rows
from tests.complete.gaussian import textbook


def test_with_few_cells_a_fit_is_as_likely_as_from_either_start():
    estimator = GaussianEstimator(None, 3.0)
    for seed in range(5):
        X, observed, *_ = textbook.gaussian_table(np.random.default_rng(seed), 150, 8, 0.2)
        values = np.where(observed, X, 0)
        starts = estimator.start(values, observed), DenseGaussian(np.zeros(8), np.eye(8))
        em = estimator.em_on(starts[0], values, observed)
        reached = [
            run_em(em, start, n_cells=int(observed.sum()), tol=1e-3, max_iter=100).penalised[-1]
            for start in starts
        ]
        assert em.step(estimator.fit(values, observed))[0] >= max(reached) - 1e-6


def test_factors_are_for_wide_tables_and_fewer_than_rows_and_columns():
    assert factor_count("auto", (1000, 200)) is None
    assert factor_count("auto", (1000, 201)) == 20
    assert factor_count("auto", (10, 201)) == 9
    assert factor_count(3, (1000, 10)) == 3
    assert factor_count(None, (10, 500)) is None


def test_a_few_thousand_cells_and_each_row_once(monkeypatch):
    for most in (quick_fit.MOST_SHUFFLED, 10):
        monkeypatch.setattr(quick_fit, "MOST_SHUFFLED", most)
        for n, d, many in ((50_000, 20, CELLS // 20), (50_000, 1000, MIN_ROWS)):
            found = some_rows(n, d, np.random.default_rng(0))
            assert len(found) == len(np.unique(found)) == many
            assert found.min() >= 0
            assert found.max() < n
            assert found.tolist() == some_rows(n, d, np.random.default_rng(0)).tolist()


def test_of_a_short_table_all_rows_are_used():
    assert sorted(some_rows(40, 3, np.random.default_rng(0))) == list(range(40))


def test_of_many_rows_no_list_is_made():
    found = some_rows(10**15, 20, np.random.default_rng(0))  # a list of all would not fit in memory
    assert len(np.unique(found)) == CELLS // 20
