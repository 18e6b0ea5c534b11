"""The tree of patterns, where all patterns share their beginnings, against each alone."""

import itertools

import numpy as np
import pytest

from cellworth.complete.gaussian.pattern_tree import PatternTree


@pytest.mark.parametrize("d", [1, 2, 5])
def test_all_patterns_at_once_equal_each_alone(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d))
    A = root @ root.T + 0.1 * np.eye(d)
    masks = np.array(list(itertools.product([False, True], repeat=d)))
    counts = rng.integers(1, 4, size=len(masks))
    rhs = rng.normal(size=(counts.sum(), d))
    inverse_sum, log_determinant, solutions = PatternTree(masks, counts).solve(A, rhs)
    ends = np.cumsum(counts)
    alone = [
        PatternTree(mask[None], counts[i : i + 1]).solve(A, rhs[end - counts[i] : end])
        for i, (mask, end) in enumerate(zip(masks, ends, strict=True))
    ]
    np.testing.assert_allclose(inverse_sum, sum(one[0] for one in alone), rtol=1e-9, atol=1e-12)
    assert log_determinant == pytest.approx(sum(one[1] for one in alone))
    np.testing.assert_allclose(solutions, np.vstack([one[2] for one in alone]), rtol=1e-9, atol=1e-12)
    assert (solutions[~np.repeat(masks, counts, axis=0)] == 0).all()


def test_inverses_can_be_left_out():
    masks, A = np.array([[False, True], [True, True]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    tree, rhs = PatternTree(masks, np.array([1, 2])), np.arange(6.0).reshape(3, 2)
    with_inverses, without = tree.solve(A, rhs), tree.solve(A, rhs, with_inverses=False)
    assert (without[0] == 0).all()
    assert without[1] == with_inverses[1]
    np.testing.assert_array_equal(without[2], with_inverses[2])
