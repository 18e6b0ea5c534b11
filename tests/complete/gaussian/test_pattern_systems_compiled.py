"""The compiled systems against one row at a time, and whole fits against those of NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import GaussianCompleter
from cellworth.complete.gaussian import pattern_systems
from cellworth.complete.gaussian.pattern_systems import (
    CompiledPatterns,
    Patterns,
    Systems,
    diagonals,
    inverse_diagonals,
    remaining_diagonals,
)

from .test_pattern_systems import positive_definite, row_by_row

pytestmark = pytest.mark.usefixtures("compiled")


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 60),
    d=st.sampled_from([1, 2, 3, 4, 8, 9, 20, 140]),  # from 128 active columns on, LAPACK inverts
    share=st.sampled_from([0, 0.2, 0.6, 1]),
    order=st.sampled_from("CF"),
)
def test_systems_equal_one_row_at_a_time(seed, n, d, share, order):
    rng = np.random.default_rng(seed)
    active = rng.random((n, d)) < share
    A, rhs = positive_definite(rng, d), np.asarray(rng.normal(size=(n, d)), order=order)
    patterns = Patterns.of(active)
    got = CompiledPatterns(patterns.masks, patterns.counts).solve(A, rhs)
    for g, e in zip(got, row_by_row(A, rhs, active[patterns.order]), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-9, atol=1e-10)


def test_the_columns_of_a_wider_array_are_a_right_hand_side():
    rng = np.random.default_rng(0)
    wide, A = rng.normal(size=(5, 9)), positive_definite(rng, 4)
    masks = np.array([[True, False, True, True], [True, True, True, True]])
    counts = np.array([2, 3])
    got = CompiledPatterns(masks, counts).solve(A, wide[:, :4])[2]
    expected = row_by_row(A, wide[:, :4], np.repeat(masks, counts, axis=0))[2]
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("d", [2, 130])
def test_a_matrix_that_is_not_positive_definite_is_noticed(d):
    A = np.eye(d)
    A[0, -1] = A[-1, 0] = 2.0
    with pytest.raises(np.linalg.LinAlgError):
        CompiledPatterns(np.ones((1, d), dtype=bool), np.array([1])).solve(A, np.ones((1, d)))
    with pytest.raises(np.linalg.LinAlgError):
        diagonals(A, np.ones((1, d), dtype=bool), remaining=True)


def test_diagonals_are_those_of_numpy():
    rng = np.random.default_rng(3)
    for n, d in ((30, 12), (1, 1), (7, 5), (9, 140)):
        A, active = positive_definite(rng, d), rng.random((n, d)) < rng.uniform(0.1, 0.9, size=(n, 1))
        active[0], active[-1] = False, True
        for remaining in (False, True):
            got = diagonals(A, active, remaining=remaining)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pattern_systems, "kernels", lambda: None)
                of_numpy = remaining_diagonals if remaining else inverse_diagonals
                np.testing.assert_allclose(got, of_numpy(A, active), rtol=1e-10, atol=1e-12)


def test_a_determinant_far_beyond_a_number_is_still_a_logarithm():
    A = 1e-30 * np.eye(40)
    assert CompiledPatterns(np.ones((1, 40), dtype=bool), np.array([1])).solve(A, np.ones((1, 40)))[
        1
    ] == pytest.approx(40 * np.log(1e-30))


def test_the_systems_of_a_table_use_it():
    active = np.random.default_rng(4).random((200, 10)) < 0.5
    assert {type(block.solver) for block in Systems(active).blocks} == {CompiledPatterns}


def test_a_fit_is_the_same_with_and_without_the_kernels(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 8)) + 0.3 * rng.normal(size=(400, 8))
    X[rng.random(X.shape) < 0.4] = np.nan
    fast = GaussianCompleter(margins="normal").fit(X)
    monkeypatch.setattr(pattern_systems, "kernels", lambda: None)
    plain = GaussianCompleter(margins="normal").fit(X)
    np.testing.assert_allclose(fast.completed_, plain.completed_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.variance_, plain.variance_, rtol=1e-10)
    np.testing.assert_array_equal(
        GaussianCompleter(n_jobs=2, margins="normal").fit(X).completed_, plain.completed_
    )
    monkeypatch.undo()
    np.testing.assert_array_equal(
        GaussianCompleter(n_jobs=2, margins="normal").fit(X).completed_, fast.completed_
    )
