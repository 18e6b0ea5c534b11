"""Hidden cells: which may be hidden, which never are, and that the numbers drawn do not depend on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete.hold_out import (
    MOST_ROWS,
    cover_columns,
    deal_cells,
    hide_cells,
    hide_listed_cells,
    hold_out,
    sample_rows,
)


@st.composite
def masks(draw):
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.random(shape) < draw(st.sampled_from([0.1, 0.5, 0.95]))


@settings(max_examples=80)
@given(masks(), st.integers(0, 99), st.sampled_from(["first", "random"]))
def test_only_observed_cells_are_hidden_and_no_column_loses_all(observed, seed, spare):
    hidden = hide_cells(observed, np.random.default_rng(seed), share=0.9, spare=spare)
    assert not (hidden & ~observed).any()
    np.testing.assert_array_equal((observed & ~hidden).any(axis=0), observed.any(axis=0))


@settings(max_examples=40)
@given(masks(), st.integers(0, 99))
def test_what_is_spared_changes_no_other_cell(observed, seed):
    plain = hide_cells(observed, np.random.default_rng(seed), share=0.5, spare=None)
    np.testing.assert_array_equal(
        plain, observed & (np.random.default_rng(seed).random(observed.shape) < 0.5)
    )
    first = hide_cells(observed, np.random.default_rng(seed), share=0.5)
    assert not (first & ~plain).any()
    spared = plain & ~first
    assert (spared.sum(axis=0) <= 1).all()
    assert (observed.argmax(axis=0)[spared.any(axis=0)] == spared.argmax(axis=0)[spared.any(axis=0)]).all()


def test_keep_is_the_share_that_stays():
    observed = np.ones((400, 50), dtype=bool)
    kept = hide_cells(observed, np.random.default_rng(3), keep=0.6, spare=None)
    np.testing.assert_array_equal(kept, np.random.default_rng(3).random((400, 50)) >= 0.6)
    assert kept.mean() == pytest.approx(0.4, abs=0.02)  # six standard deviations


@pytest.mark.parametrize("seed", range(5))
def test_one_cell_at_least_is_hidden_if_one_may_be(seed):
    observed = np.array([[True, True], [True, False]])
    hidden = hide_cells(observed, np.random.default_rng(seed), share=0.0, at_least_one=True)
    assert hidden.tolist() == [[False, False], [True, False]]
    lone = hide_cells(observed[:1], np.random.default_rng(seed), share=0.0, at_least_one=True)
    assert not lone.any()


def test_of_listed_cells_the_first_of_each_column_stays():
    columns = np.array([2, 0, 2, 2, 0, 1])
    hidden = hide_listed_cells(columns, np.random.default_rng(0), share=1.0)
    assert hidden.tolist() == [False, False, True, True, True, False]


@settings(max_examples=40)
@given(masks(), st.integers(0, 99))
def test_dealt_cells_are_hidden_once_each(observed, seed):
    part = deal_cells(observed, 4, np.random.default_rng(seed), least=2)
    assert (part[~observed] == 4).all()
    few = observed.sum(axis=0) < 2
    assert (part[:, few] == 4).all()
    stays = (observed & (part == 4)).sum(axis=0)
    assert (stays[~few] == 1).all()
    assert ((part >= 0) & (part <= 4)).all()


def test_rows_are_sampled_in_order_and_can_cover_each_column():
    assert sample_rows(5, 5, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]
    rows = sample_rows(1000, 10, np.random.default_rng(0))
    assert len(set(rows)) == 10
    assert (np.diff(rows) > 0).all()
    observed = np.ones((1000, 3), dtype=bool)
    observed[rows, 1] = False
    covered = cover_columns(rows, observed)
    assert set(rows) < set(covered)
    assert len(covered) == 11
    assert observed[covered].any(axis=0).all()


def test_hidden_cells_are_judged_by_their_root_mean_square():
    rng = np.random.default_rng(0)
    values, observed = rng.normal(size=(50, 4)), np.ones((50, 4), dtype=bool)
    held = hold_out(values, observed, rng)
    np.testing.assert_array_equal(held.values[~held.hidden], values[~held.hidden])
    assert (held.values[held.hidden] == 0).all()
    assert held.error(values + 3.0) == pytest.approx(3.0)
    assert hold_out(values[:1], observed[:1], rng).error(values[:1]) == 0.0


def test_long_tables_are_judged_on_some_rows():
    n = MOST_ROWS + 10
    held = hold_out(np.ones((n, 2)), np.ones((n, 2), dtype=bool), np.random.default_rng(0))
    assert len(held.values) == MOST_ROWS
