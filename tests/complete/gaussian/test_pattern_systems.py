"""The ways of solving the sub-systems of rows, against one row at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.gaussian import pattern_systems as systems_module
from cellworth.complete.gaussian.pattern_systems import (
    PatternBatches,
    Patterns,
    SharedPatterns,
    Systems,
    log_diagonals,
)

SOLVERS = [PatternBatches, SharedPatterns]


def positive_definite(rng, d):
    root = rng.normal(size=(d, d))
    return root @ root.T / d + 0.1 * np.eye(d)


def row_by_row(A, rhs, active):
    inverse_sum, log_determinant, solution = np.zeros_like(A), 0.0, np.zeros_like(rhs)
    for i, mask in enumerate(active):
        a = np.flatnonzero(mask)
        if a.size:
            block = A[np.ix_(a, a)]
            inverse_sum[np.ix_(a, a)] += np.linalg.inv(block)
            log_determinant += np.linalg.slogdet(block)[1]
            solution[i, a] = np.linalg.solve(block, rhs[i, a])
    return inverse_sum, log_determinant, solution


@pytest.mark.parametrize("solver", SOLVERS)
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 60),
    d=st.integers(1, 9),
    share=st.sampled_from([0, 0.2, 0.6, 1]),
)
def test_every_solver_equals_one_row_at_a_time(solver, seed, n, d, share):
    rng = np.random.default_rng(seed)
    active = rng.random((n, d)) < share
    A, rhs = positive_definite(rng, d), rng.normal(size=(n, d))
    patterns = Patterns.of(active)
    sorted_rows = active[patterns.order]
    got = solver(patterns.masks, patterns.counts).solve(A, rhs)
    expected = row_by_row(A, rhs, sorted_rows)
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_matrix_that_is_not_positive_definite_is_noticed(solver):
    masks = np.array([[True, True]])
    with pytest.raises(np.linalg.LinAlgError):
        solver(masks, np.array([1])).solve(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones((1, 2)))


def test_patterns_are_sorted_and_complete():
    rng = np.random.default_rng(0)
    for d in (3, 64, 130):
        mask = rng.random((50, d)) < 0.5
        mask[10:20] = mask[0]
        patterns = Patterns.of(mask)
        assert patterns.counts.sum() == 50
        np.testing.assert_array_equal(patterns.masks[patterns.of_row], mask)
        np.testing.assert_array_equal(
            np.repeat(patterns.masks, patterns.counts, axis=0), mask[patterns.order]
        )
        assert sorted(map(tuple, patterns.masks)) == list(map(tuple, patterns.masks))


@pytest.mark.parametrize("is_compiled", [False, True])
def test_blocks_cover_all_rows_in_either_layout(monkeypatch, is_compiled):
    if not is_compiled:
        monkeypatch.setattr(systems_module, "kernels", lambda: None)
    monkeypatch.setattr(systems_module, "BLOCK_ROWS", 100)
    monkeypatch.setattr(systems_module, "SHARED_WORK", 200)
    rng = np.random.default_rng(1)
    active = rng.random((700, 6)) < 0.4
    active[:300, 1:] = False
    active[300:400] = [True, True, False, False, True, False]
    laid_out = Systems(active)
    assert sorted(laid_out.order) == list(range(700))
    assert len({type(block.solver) for block in laid_out.blocks}) == 2
    A, rhs = positive_definite(rng, 6), rng.normal(size=(700, 6))
    c = laid_out.columns
    ordered = rhs[laid_out.order][:, c]
    parts = [block.solver.solve(A[np.ix_(c, c)], ordered[block.rows]) for block in laid_out.blocks]
    expected = row_by_row(A[np.ix_(c, c)], ordered, active[laid_out.order][:, c])
    np.testing.assert_allclose(sum(p[0] for p in parts), expected[0], rtol=1e-9)
    np.testing.assert_allclose(np.vstack([p[2] for p in parts]), expected[2], rtol=1e-9, atol=1e-12)


def test_logarithms_of_a_diagonal_do_not_depend_on_where_it_lies():
    """Of many matrices that are kept, some lie right before the result in memory."""
    diagonals = np.exp(0.5 * np.random.default_rng(0).normal(size=(5000, 4)))
    expected = np.log(diagonals)
    matrices, found = [], []
    for diagonal in diagonals:
        matrices.append(np.diag(diagonal))
        found.append(log_diagonals(matrices[-1]))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(log_diagonals(np.stack(matrices)), expected)
