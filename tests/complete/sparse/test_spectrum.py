import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.sparse.spectrum import largest_singular_value, leading_directions
from tests.complete.sparse.cases import table_from, tables


@settings(max_examples=60)
@given(table=tables(), k=st.integers(1, 14))
def test_are_those_of_a_full_decomposition(table, k):
    values, observed = table
    d = values.shape[1]
    engine, rng = table_from(values, observed).engine, np.random.default_rng(0)
    found, V = leading_directions(engine, d, k, rng, tol=1e-13, max_iter=500)
    expected = np.zeros(d)
    expected[: min(values.shape)] = np.linalg.svd(values, compute_uv=False)
    assert len(found) == min(k, d)
    np.testing.assert_allclose(found, expected[: len(found)], atol=1e-5 * expected[0] + 1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(len(found)), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(values @ V, axis=0), found, atol=1e-6 * expected[0] + 1e-12)
    assert largest_singular_value(engine, d, rng) == pytest.approx(expected[0], rel=1e-4)


def test_can_look_outside_of_known_directions():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 20))
    _, s, Vt = np.linalg.svd(values, full_matrices=False)
    engine = table_from(values, np.ones(values.shape, dtype=bool)).engine
    found, V = leading_directions(engine, 20, 3, rng, outside=Vt[:2].T, tol=1e-12, max_iter=500)
    np.testing.assert_allclose(found, s[2:5], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ji->i", Vt[2:5], V)), 1, atol=1e-3)


def test_no_room_gives_nothing():
    engine = table_from(np.eye(3), np.ones((3, 3), dtype=bool)).engine
    found, V = leading_directions(
        engine, 3, 2, np.random.default_rng(0), outside=np.eye(3), tol=0.1, max_iter=5
    )
    assert len(found) == 0
    assert V.shape == (3, 0)
