import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.complete.sparse.offsets import fit_offsets, group_shrinkage, take_off
from cellworth.errors import ParameterError
from tests.complete.sparse.cases import block_of, tables


def spread_out(n=300, d=40, seed=0, share=0.3):
    """Return a table of row and column effects with noise, of variances 4, 1 and 1, around 10."""
    rng = np.random.default_rng(seed)
    rows, columns = 2 * rng.normal(size=n), rng.normal(size=d)
    values = 10 + rows[:, None] + columns + rng.normal(size=(n, d))
    return values, rng.random((n, d)) < share, rows, columns


def test_both_are_a_ridge_regression_on_indicators():
    values, observed, _, _ = spread_out(n=30, d=12)
    block = block_of(values, observed)
    offsets = fit_offsets(block, 12, "both")
    i, j = np.nonzero(observed)
    x = values[observed] - offsets.overall
    of_columns = group_shrinkage(x, j, 12)
    D = np.zeros((len(x), 42))
    D[np.arange(len(x)), i] = 1
    D[np.arange(len(x)), 30 + j] = 1
    ridge = np.diag([offsets.row_shrinkage] * 30 + [of_columns] * 12)
    best = np.linalg.solve(D.T @ D + ridge, D.T @ x)
    np.testing.assert_allclose(offsets.rows, best[:30], atol=1e-6)
    np.testing.assert_allclose(offsets.columns, best[30:] + offsets.overall, atol=1e-6)


def test_shrinkage_is_the_ratio_of_variances():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4000), rng.integers(1, 8, size=4000))
    values = rng.normal(size=4000)[group] + 2 * rng.normal(size=len(group))
    # 4 / 1; the standard error of the variance of the means is about 5 % here.
    assert group_shrinkage(values, group, 4000) == pytest.approx(4.0, rel=0.25)


def test_shrinkage_is_that_of_the_textbook_for_equal_groups():
    values = np.random.default_rng(5).normal(size=(6, 4)) + np.arange(6)[:, None]
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1)
    expected = within / (between - within / 4)
    assert group_shrinkage(values.ravel(), np.repeat(np.arange(6), 4), 6) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "group"), [([1.0, 2.0, 3.0], [0, 1, 2]), ([1.0, 5.0], [0, 0]), ([1.0, -1.0] * 2, [0, 0, 1, 1])]
)
def test_groups_that_tell_nothing_are_shrunk_away(values, group):
    assert group_shrinkage(np.array(values), np.array(group), 3) == np.inf


def test_offsets_are_close_to_the_truth():
    values, observed, rows, columns = spread_out()
    offsets = fit_offsets(block_of(values, observed), 40, "both")
    shift = np.mean(rows)
    # About 12 cells in a row: an error of 0.29 for each, and 0.1 for columns, each with 90 cells.
    assert np.sqrt(np.mean((offsets.rows - rows + shift) ** 2)) < 0.4
    assert np.sqrt(np.mean((offsets.columns - 10 - columns - shift) ** 2)) < 0.3


def test_new_rows_get_what_they_would_have_got_in_the_fit():
    values, observed, _, _ = spread_out()
    block = block_of(values, observed)
    offsets = fit_offsets(block, 40, "both")
    np.testing.assert_allclose(offsets.of_new_rows(block), offsets.rows, atol=1e-8)


@settings(max_examples=40)
@given(table=tables())
def test_what_is_left_does_not_depend_on_the_level(table):
    values, observed = table
    for centre in ("columns", "both"):
        here, there = block_of(values, observed), block_of(values + 100.0, observed)
        d = values.shape[1]
        np.testing.assert_allclose(
            take_off(there, fit_offsets(there, d, centre)).values,
            take_off(here, fit_offsets(here, d, centre)).values,
            atol=1e-5,
        )


def test_none_leaves_the_values_alone_and_others_are_refused():
    values, observed, _, _ = spread_out(n=5, d=4)
    block = block_of(values, observed)
    np.testing.assert_array_equal(take_off(block, fit_offsets(block, 4, "none")).values, block.values)
    with pytest.raises(ParameterError, match="centre"):
        fit_offsets(block, 4, "rows")
