"""The E step on rows as they are read, against one row at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.blocks.cell_columns import CellColumns
from cellworth.complete.gaussian import streamed_step as module
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from cellworth.complete.gaussian.streamed_step import (
    MOST_COLUMNS,
    can_stream,
    completed_sums,
    precision_for,
    streamed_step,
)
from cellworth.complete.scaling import Scaling
from tests.complete.gaussian.test_pattern_systems import positive_definite

pytestmark = pytest.mark.usefixtures("compiled")


def row_by_row(model, X, scaling):
    """Return the sums from the textbook's conditional mean and covariance of each row."""
    d = X.shape[1]
    deviance, first, second, within = 0.0, np.zeros(d), np.zeros((d, d)), np.zeros((d, d))
    for row in (X.astype(np.float64) - scaling.offset) / scaling.width - model.mean:
        o, m = ~np.isnan(row), np.isnan(row)
        known = model.covariance[np.ix_(o, o)]
        across = model.covariance[np.ix_(m, o)]
        gain = np.linalg.solve(known, across.T).T
        filled = row.copy()
        filled[m] = gain @ row[o]
        within[np.ix_(m, m)] += model.covariance[np.ix_(m, m)] - gain @ across.T
        deviance += np.linalg.slogdet(known)[1] + row[o] @ np.linalg.solve(known, row[o])
        first += filled
        second += np.outer(filled, filled)
    return deviance, first, second, within, float((~np.isnan(X)).sum()), len(X)


def rounding(model, dtype):
    """Return how far sums may be off, beside the largest of them.

    A system multiplies the rounding of its numbers by at most the condition of the covariance; there are some
    twenty more roundings from the cell to the sum. Of 600 random tables, the worst takes half of this.
    """
    if precision_for(model.covariance, np.dtype(dtype)) == np.float64:
        return 1e-8
    return float(np.finfo(np.float32).eps * (20 + np.linalg.cond(model.covariance)))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 60),
    d=st.sampled_from([1, 2, 3, 8, 11, 12, 20, 64]),
    share=st.sampled_from([0, 0.2, 0.5, 0.8, 1]),
    dtype=st.sampled_from(["f4", "f8"]),
    alike=st.booleans(),
)
def test_sums_equal_one_row_at_a_time(seed, n, d, share, dtype, alike):
    rng = np.random.default_rng(seed)
    model = DenseGaussian(rng.normal(size=d), positive_definite(rng, d))
    X = (3 * rng.normal(size=(n, d)) + 1).astype(dtype)
    X[rng.random(X.shape) < share] = np.nan
    if alike:  # some rows share a pattern
        X[: n // 2, np.isnan(X[0])] = np.nan
    scaling = Scaling(rng.normal(size=d), rng.random(d) + 0.5)
    got, expected = streamed_step(model, X, scaling), row_by_row(model, X, scaling)
    bound = rounding(model, dtype)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * max(1, np.abs(other).max()))
    for one, other in zip(completed_sums(model, X, scaling), expected[1:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * max(1, np.abs(other).max()))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=3),
    d=st.sampled_from([1, 7, 8, 16, 17, 20, 24, 33, 64]),
    dtype=st.sampled_from(["f4", "f8"]),
    share=st.sampled_from([0, 0.3, 0.7]),
    skipped=st.integers(0, 12),
)
def test_columns_as_arrow_keeps_them_are_the_same_rows(seed, lengths, d, dtype, share, skipped):
    pyarrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(seed)
    model = DenseGaussian(rng.normal(size=d), positive_definite(rng, d))
    n = sum(lengths) + skipped + 1
    X = rng.normal(size=(n, d)).astype(dtype)
    holes = rng.random(X.shape) < share
    ends = [np.cumsum(lengths), np.cumsum(lengths[::-1])]  # columns are cut in different places
    columns = []
    for j in range(d):
        pieces = np.split(np.arange(n), ends[j % 2])
        arrays = [pyarrow.array(X[rows, j], mask=holes[rows, j]) for rows in pieces]
        columns.append(pyarrow.chunked_array(arrays).slice(skipped))
    cells = CellColumns.of(columns, n - skipped, np.dtype(dtype))
    X[holes] = np.nan
    np.testing.assert_array_equal(cells.rows(), X[skipped:])
    scaling = Scaling(rng.normal(size=d), rng.random(d) + 0.5)
    expected = streamed_step(model, X[skipped:], scaling)
    for one, other in zip(streamed_step(model, cells, scaling), expected, strict=True):
        # Other chunks of rows: the sums are rounded in another order.
        bound = min(1e-5, rounding(model, dtype)) if dtype == "f4" else 1e-10
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * max(1, np.abs(other).max()))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_rows_of_several_chunks_and_the_same_patterns(dtype):
    """20 columns make chunks of 819 rows, or 1,638; the layout of the systems is the oracle here."""
    rng = np.random.default_rng(1)
    model = DenseGaussian(rng.normal(size=20), positive_definite(rng, 20))
    X = rng.normal(size=(8000, 20)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[2000:6000] = X[2000]
    observed = ~np.isnan(X)
    layout = model.layout(observed)
    expected = layout.expect(model, layout.prepared(np.where(observed, X, 0).astype(np.float64)))
    scaling = Scaling(np.zeros(20), np.ones(20))
    bound = 1e-9 if dtype == "f8" else min(1e-5, rounding(model, dtype))
    for one, other in zip(streamed_step(model, X, scaling), expected, strict=True):
        atol = 1e-7 if dtype == "f8" else bound * np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=bound, atol=atol)
    for one, other in zip(completed_sums(model, X, scaling), expected[1:3], strict=True):
        atol = 1e-7 if dtype == "f8" else bound * np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=bound, atol=atol)


def test_single_precision_is_for_tables_of_it_with_a_calm_covariance():
    single, double = np.dtype("f4"), np.dtype("f8")
    assert precision_for(np.diag([1.0, 20.0]), single) == single
    assert precision_for(np.diag([1.0, 20.0]), double) == double
    for wild in ([1.0, 1e-4], [1e4, 1e4], [1e-4, 1e-4], [40.0, 0.02]):
        assert precision_for(np.diag(wild), single) == double


def test_an_offset_that_is_large_beside_its_column_costs_no_digits():
    """Single precision keeps the cells themselves exactly here, so their residuals are exact, too."""
    rng = np.random.default_rng(3)
    X = (2.0**20 + rng.integers(0, 8, size=(2000, 5))).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = np.nan
    scaling = Scaling(np.full(5, 2.0**20 + 3.456789), np.full(5, 2.3))
    model = DenseGaussian(np.zeros(5), np.eye(5) + 0.5)
    got, expected = (streamed_step(model, cells, scaling) for cells in (X, X.astype(np.float64)))
    for one, other in zip(got, expected, strict=True):
        bound = rounding(model, "f4")
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * max(1, np.abs(other).max()))


def test_determinants_far_beyond_a_number():
    model = DenseGaussian(np.zeros(60), 1e-30 * np.eye(60))
    X = np.zeros((3, 60))
    X[0, :20] = X[1, 5:55] = np.nan
    got = streamed_step(model, X, Scaling(np.zeros(60), np.ones(60)))
    assert got.deviance == pytest.approx((40 + 10 + 60) * np.log(1e-30))


@pytest.mark.parametrize("n_holes", [3, 5, 8, 10, 14])
@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_such_determinants_in_rows_that_are_solved_side_by_side(n_holes, size):
    rng = np.random.default_rng(n_holes)
    X = np.zeros((100, 20))
    for row in X:
        row[rng.permutation(20)[:n_holes]] = np.nan
    got = streamed_step(DenseGaussian(np.zeros(20), size * np.eye(20)), X, Scaling(np.zeros(20), np.ones(20)))
    assert got.deviance == pytest.approx(100 * (20 - n_holes) * np.log(size))
    np.testing.assert_allclose(got.within, np.diag(size * np.isnan(X).sum(axis=0)), rtol=1e-12, atol=0)


@pytest.mark.parametrize("n_holes", [3, 5, 8, 10, 14])
@pytest.mark.parametrize("size", [1 / 999, 999.0])
def test_determinants_in_single_precision(n_holes, size):
    """Products of eleven pivots and more would leave its numbers."""
    rng = np.random.default_rng(n_holes)
    X = np.zeros((100, 20), dtype=np.float32)
    for row in X:
        row[rng.permutation(20)[:n_holes]] = np.nan
    model = DenseGaussian(np.zeros(20), size * np.eye(20))
    assert precision_for(model.covariance, X.dtype) == np.float32
    got = streamed_step(model, X, Scaling(np.zeros(20), np.ones(20)))
    assert got.deviance == pytest.approx(100 * (20 - n_holes) * np.log(size), rel=1e-6)
    np.testing.assert_allclose(got.within, np.diag(size * np.isnan(X).sum(axis=0)), rtol=1e-6, atol=0)


def test_one_of_many_systems_that_is_not_positive_definite_is_noticed():
    covariance = np.eye(9)
    covariance[0, 8] = covariance[8, 0] = 2.0
    X = np.where(np.eye(9, k=-1) + np.eye(9) > 0, np.nan, 1.0)
    X[0, 8] = np.nan
    for step in (streamed_step, completed_sums):
        with pytest.raises(np.linalg.LinAlgError):
            step(DenseGaussian(np.zeros(9), covariance), X, Scaling(np.zeros(9), np.ones(9)))


def test_a_matrix_that_is_not_positive_definite_is_noticed():
    covariance = np.eye(3)
    covariance[0, 1] = covariance[1, 0] = 2.0
    X = np.array([[np.nan, np.nan, 1.0], [1.0, 1.0, np.nan]])
    with pytest.raises(np.linalg.LinAlgError):
        streamed_step(DenseGaussian(np.zeros(3), covariance), X, Scaling(np.zeros(3), np.ones(3)))


def test_what_can_be_streamed(monkeypatch):
    wide = DenseGaussian(np.zeros(MOST_COLUMNS + 1), np.eye(MOST_COLUMNS + 1))
    assert not can_stream(wide)
    assert can_stream(wide.on_columns(slice(MOST_COLUMNS)))
    assert not can_stream(FactorGaussian(np.zeros(3), np.ones((3, 1)), np.ones(3)))
    monkeypatch.setattr(module, "kernels", lambda: None)
    assert not can_stream(wide.on_columns(slice(3)))
