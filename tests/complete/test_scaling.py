"""Columns on a common scale, and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete import scaling as scaling_module
from cellworth.complete.scaling import (
    Scaling,
    changed_rows,
    column_ranges,
    put_back,
    scaled_cells,
    update_cells,
)
from cellworth.errors import ParameterError

X = np.array([[1.0, -5.0, 7.0], [np.nan, 15.0, 7.0], [3.0, np.nan, 7.0], [2.0, 0.0, 7.0]])

SCALES = ("minmax", "standard", None)


def test_ranges_become_0_to_1():
    scaled = Scaling.of(X, "minmax").apply(X)
    np.testing.assert_allclose(np.nanmin(scaled[:, :2], axis=0), 0)
    np.testing.assert_allclose(np.nanmax(scaled[:, :2], axis=0), 1)


def test_means_become_0_and_deviations_1():
    scaled = Scaling.of(X, "standard").apply(X)
    np.testing.assert_allclose(np.nanmean(scaled, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(scaled[:, :2], axis=0), 1)


@pytest.mark.parametrize("how", SCALES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaling_is_undone_in_the_same_memory(how, dtype):
    table = X.astype(dtype)
    scaling = Scaling.of(table, how)
    scaled = scaling.apply(table)
    assert scaled.dtype == dtype
    assert scaling.undo_in_place(scaled) is scaled
    np.testing.assert_allclose(scaled, table, rtol=1e-6, atol=1e-6)


def test_a_constant_column_keeps_its_width():
    for how in SCALES:
        assert Scaling.of(X, how).width[2] == 1
    rounding = np.full((9, 1), 0.1) + np.arange(9)[:, None] % 2 * 1e-17
    assert Scaling.of(rounding, "standard").width[0] == 1


def test_another_name_is_refused():
    with pytest.raises(ParameterError, match="'minmax', 'standard' or None; got 'robust'"):
        Scaling.of(X, "robust")


def test_no_scaling_leaves_values_as_they_are_in_a_copy():
    X = np.array([[1.0, np.nan], [3.0, 4.0]])
    scaling = Scaling.of(X, None)
    assert scaling.is_identity
    assert not Scaling.of(X, "minmax").is_identity
    scaled = scaling.apply(X)
    np.testing.assert_array_equal(scaled, X)
    assert scaled is not X
    assert scaling.undo_in_place(scaled) is scaled


def in_numpy(function, *arguments):
    """Call a function of `scaling` without the kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling_module, "kernels", lambda: None)
        return function(*arguments)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    d=st.integers(1, 23),
    how=st.sampled_from(SCALES),
    dtype=st.sampled_from(["f4", "f8"]),
    shuffled=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_the_compiled_passes_are_those_in_numpy(seed, n, d, how, dtype, shuffled):
    rng = np.random.default_rng(seed)
    table = (rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)).astype(dtype)
    table[rng.random((n, d)) < 0.4] = np.nan
    order = rng.permutation(n) if shuffled else slice(None)
    ranges = column_ranges(table)
    for got, expected in zip(ranges, in_numpy(column_ranges, table), strict=True):
        np.testing.assert_array_equal(got, expected)
    table[0] = np.where(np.isnan(table[0]), 1, table[0])
    scaling = Scaling.of(table, how)
    cells = scaled_cells(table, scaling, order)
    for got, expected in zip(cells, in_numpy(scaled_cells, table, scaling, order), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype
    filled = rng.normal(size=(n, d)).astype(dtype)
    expected = in_numpy(put_back, table, filled.copy(), scaling, order)
    got = put_back(table, filled.copy(), scaling, order)
    assert (got[~np.isnan(table)] == table[~np.isnan(table)]).all()
    # A product and a sum: each rounding is within half an epsilon of the larger of the two.
    size = np.abs(filled).max() * scaling.width + np.abs(scaling.offset)
    assert (np.abs(got - expected) <= 2 * np.finfo(dtype).eps * size).all()
    before = np.where(rng.random((n, d)) < 0.9, np.nan_to_num(table), 7).astype(dtype)
    differs = ((before != table) & ~np.isnan(table)).any(axis=1)
    for found in (changed_rows(table, before), in_numpy(changed_rows, table, before)):
        np.testing.assert_array_equal(found, differs)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    d=st.integers(1, 23),
    how=st.sampled_from(SCALES),
    dtype=st.sampled_from(["f4", "f8"]),
    shuffled=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_cells_brought_up_to_date_are_those_of_the_new_table(seed, n, d, how, dtype, shuffled):
    """Cells that are answered, corrected, withdrawn, or answered with just what was filled in."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, d)).astype(dtype)
    table[rng.random((n, d)) < 0.4] = np.nan
    scaling = Scaling.of(table, how)
    order = rng.permutation(n) if shuffled else slice(None)
    completed = np.where(np.isnan(table), rng.normal(size=(n, d)), table).astype(dtype)
    new = table.copy()
    for values in (rng.normal(size=(n, d)).astype(dtype), completed, np.full((n, d), np.nan)):
        there = rng.random((n, d)) < 0.03
        new[there] = values[there]
    expected = scaled_cells(new, scaling, order)
    differs = ((completed != new) & ~np.isnan(new)).any(axis=1)[order]
    for call in (in_numpy, lambda function, *arguments: function(*arguments)):
        cells = scaled_cells(table, scaling, order)
        np.testing.assert_array_equal(call(update_cells, new, completed, scaling, order, cells), differs)
        for got, right in zip(cells, expected, strict=True):
            np.testing.assert_array_equal(got, right)


def test_filled_cells_can_be_put_back_into_other_memory():
    table = np.array([[1.0, np.nan], [np.nan, 4.0]])
    filled = np.array([[9.0, 2.0], [3.0, 9.0]])
    for call in (in_numpy, lambda function, *arguments: function(*arguments)):
        out = np.empty((2, 2))
        assert call(put_back, table, filled, None, slice(None), out) is out
        np.testing.assert_array_equal(out, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(filled, [[9.0, 2.0], [3.0, 9.0]])
