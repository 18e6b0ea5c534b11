"""Rows from factors, each by its own system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.solver import factors
from cellworth.complete.solver.factors import solve_rows


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 12), d=st.integers(1, 6), rank=st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_each_row_solves_its_own_system(seed, n, d, rank):
    rng = np.random.default_rng(seed)
    observed, B, sides = rng.random((n, d)) < 0.5, rng.normal(size=(rank, d)), rng.normal(size=(n, rank))
    common = 0.3 * np.eye(rank) + np.ones((rank, rank))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factors, "SYSTEM_BYTES", 200)  # so that there are several batches
        patch.setattr(factors, "kernels", lambda: None)  # which solve eight rows at once
        solved = solve_rows(observed, B, common, sides)
    assert solved.shape == (n, rank)
    for mask, side, z in zip(observed, sides, solved, strict=True):
        np.testing.assert_allclose((B * mask) @ B.T @ z + common @ z, side, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30), d=st.integers(1, 25), rank=st.integers(1, 25))
@settings(max_examples=60, deadline=None)
def test_rows_are_solved_as_one_by_one(seed, n, d, rank):
    rng = np.random.default_rng(seed)
    observed, B = rng.random((n, d)) < 0.6, rng.normal(size=(rank, d))
    root = rng.normal(size=(rank, rank))
    common, sides = np.eye(rank) + root @ root.T / rank, rng.normal(size=(n, rank))
    found = solve_rows(observed, B, common, sides)
    for seen, side, row in zip(observed, sides, found, strict=True):
        system = B[:, seen] @ B[:, seen].T + common
        # Backward stable: the residual is within rounding of the system's own size.
        assert np.abs(system @ row - side).max() <= 1e-13 * rank * (np.linalg.norm(system) + 1)
