"""Columns on a common scale, and back."""

import numpy as np
import pytest

from cellworth.complete.scaling import SCALES, Scaling
from cellworth.errors import ParameterError

X = np.array([[1.0, -5.0, 7.0], [np.nan, 15.0, 7.0], [3.0, np.nan, 7.0], [2.0, 0.0, 7.0]])


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
