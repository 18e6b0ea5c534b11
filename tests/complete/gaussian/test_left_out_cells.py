"""What left-out cells say of holes: nothing in the columns of a category."""

import numpy as np
import pytest

from cellworth import GaussianCompleter
from cellworth.complete.gaussian.left_out_cells import LeftOut, believed_ranges, of_category


def category_beside_numbers(n, seed):
    """Return a complete table of four numbers and a category of four, and which cells are holes."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(n, 5))
    edges = np.quantile(scores[:, 4], [0.2, 0.5, 0.8])
    X = np.hstack([scores[:, :4], np.eye(4)[np.digitize(scores[:, 4], edges)]])
    holes = rng.random((n, 5)) < 0.3
    return X, holes[:, [0, 1, 2, 3, 4, 4, 4, 4]]


@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_variances_of_a_category_are_those_of_its_holes(n):
    ratios = []
    for seed in range(3 if n < 10_000 else 1):
        X, holes = category_beside_numbers(n, seed)
        fitted = GaussianCompleter(label_trust=0.0).fit(np.where(holes, np.nan, X))
        open_rows = holes[:, 4]
        error = np.square(fitted.completed_ - X)[open_rows, 4:].mean()
        ratios.append(error / fitted.variance_[open_rows, 4:].mean())
    # 270 holes of a category, errors of a chance around 1/4: a standard error of some 5 %.
    assert 0.8 < np.mean(ratios) < 1.3


def test_only_columns_of_a_category_are_taken_for_one():
    X, holes = category_beside_numbers(200, 0)
    X[:, 3] = np.random.default_rng(1).integers(0, 2, 200)  # a yes/no of its own
    part = np.ones_like(X)
    cells = LeftOut(np.where(holes, 0, X), X, X, part, part, part, 0 * part, ~holes)
    np.testing.assert_array_equal(of_category(cells), np.arange(8) >= 4)


def test_predictions_beyond_the_range_are_not_believed_in_a_bounded_column():
    rng = np.random.default_rng(0)
    scores = np.maximum(rng.normal(size=(400, 1)), 0.0)
    ones = np.ones_like(scores)
    mean = scores + rng.normal(size=scores.shape)
    cells = LeftOut(scores, scores, mean, ones, ones, ones, 0 * ones, ones.astype(bool))
    limits = believed_ranges(cells, bounded=np.array([True]))
    np.testing.assert_array_equal(limits[:, 0], [scores.min(), scores.max()])
