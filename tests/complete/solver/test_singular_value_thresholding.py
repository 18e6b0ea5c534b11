import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.complete.solver.singular_value_thresholding import shrinkage
from tests.complete.low_rank_cases import threshold_by_svd


@given(
    n=st.integers(1, 30),
    d=st.integers(1, 30),
    fraction=st.floats(1e-6, 1.5),
    seed=st.integers(0, 2**32 - 1),
)
def test_agrees_with_a_full_svd(n, d, fraction, seed):
    A = np.random.default_rng(seed).normal(size=(n, d))
    top = np.linalg.norm(A, 2)
    result = A @ shrinkage(A.T @ A, fraction * top).operator
    other_side = shrinkage(A @ A.T, fraction * top).operator @ A
    # Squaring loses a singular value s to within eps top^2 / s, and what matters is at least the threshold.
    bound = 100 * np.finfo(float).eps * top / fraction
    for each in (result, other_side):
        assert np.abs(each - threshold_by_svd(A, fraction * top)).max() <= max(bound, 1e-12 * top)


@pytest.mark.parametrize("fraction", [1e-6, 1e-3, 0.1])
def test_agrees_on_a_table_with_decaying_singular_values(fraction):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2000, 60)) @ np.diag(10.0 ** -np.linspace(0, 6, 60)) @ rng.normal(size=(60, 60))
    top = np.linalg.norm(A, 2)
    shrunk = A @ shrinkage(A.T @ A, fraction * top).operator
    assert np.linalg.norm(shrunk - threshold_by_svd(A, fraction * top)) / top < 1e-9


def test_rank_and_trace_norm_are_those_of_the_result():
    A = np.random.default_rng(1).normal(size=(40, 8))
    shrunk = shrinkage(A.T @ A, 5.0)
    sigma = np.linalg.svd(A @ shrunk.operator, compute_uv=False)
    assert len(shrunk.singular_values) == np.count_nonzero(sigma > 1e-10)
    np.testing.assert_allclose(shrunk.singular_values, sigma[: len(shrunk.singular_values)], rtol=1e-10)


def test_a_threshold_above_all_singular_values_leaves_nothing():
    A = np.random.default_rng(2).normal(size=(9, 4))
    shrunk = shrinkage(A.T @ A, 1e6)
    assert shrunk.singular_values.size == 0
    assert (shrunk.operator == 0).all()


def test_a_table_of_zeros_is_left_alone():
    assert (shrinkage(np.zeros((3, 3)), 0.1).operator == 0).all()
