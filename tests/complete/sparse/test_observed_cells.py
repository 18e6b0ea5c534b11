import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, dok_array

from cellworth.complete.sparse import SparseCompleter
from cellworth.complete.sparse.observed_cells import check_cells, compact, split_cells
from cellworth.errors import DataError
from tests.complete.sparse.cases import block_of, sparse_of, tables


def checked(X):
    return check_cells(SparseCompleter(), X, reset=True)


@settings(max_examples=40)
@given(table=tables())
def test_all_formats_and_an_array_with_nan_are_the_same_cells(table):
    values, observed = table
    expected = sparse_of(values, observed)
    i, j = np.nonzero(observed)
    shuffled = np.random.default_rng(0).permutation(len(i))
    coo = coo_array((values[i, j][shuffled], (i[shuffled], j[shuffled])), shape=values.shape)
    for X in (expected, csr_matrix(expected), csc_array(expected), coo, np.where(observed, values, np.nan)):
        cells = checked(X)
        np.testing.assert_array_equal(cells.indptr, expected.indptr)
        np.testing.assert_array_equal(cells.indices, expected.indices)
        np.testing.assert_array_equal(cells.data, expected.data)


def test_the_callers_matrix_is_left_alone():
    X = csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    assert checked(X).data.tolist() == [2.0, 1.0]
    assert X.data.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_stored_value_that_is_no_number_is_refused_by_place(bad):
    X = coo_array(([1.0, bad], ([0, 3], [1, 2])), shape=(5, 4))
    with pytest.raises(DataError, match=r"(NaN|infinity): column 2, row 3 .*not stored"):
        checked(X)


@pytest.mark.parametrize("form", [coo_array, csr_array])
def test_two_values_for_one_cell_are_refused_by_place(form):
    if form is coo_array:
        X = coo_array(([1.0, 5.0, 2.0], ([4, 0, 4], [1, 0, 1])), shape=(5, 4))
    else:
        X = csr_array(([1.0, 5.0, 2.0], [1, 0, 1], [0, 0, 0, 0, 0, 3]), shape=(5, 4))
    with pytest.raises(DataError, match="row 4, column 1"):
        checked(X)


def test_formats_that_lose_zeros_and_empty_tables_are_refused():
    with pytest.raises(DataError, match="DOK"):
        checked(dok_array((3, 3)))
    with pytest.raises(DataError, match="no observed cell"):
        checked(csr_array((3, 3)))


def test_rows_and_columns_without_cells_are_left_out():
    X = coo_array(([7.0, 0.0, 3.0], ([1, 1, 4], [0, 5, 5])), shape=(6, 9))
    small = compact(checked(X))
    assert small.rows.tolist() == [1, 4]
    assert small.columns.tolist() == [0, 5]
    np.testing.assert_array_equal(small.cells.matrix(2).toarray(), [[7.0, 0.0], [0.0, 3.0]])
    assert small.cells.starts.tolist() == [0, 2, 3]


@settings(max_examples=40)
@given(table=tables(), seed=st.integers(0, 99))
def test_hidden_and_seen_cells_are_all_cells_and_no_column_is_emptied(table, seed):
    values, observed = table
    seen, hidden = split_cells(block_of(values, observed), np.random.default_rng(seed))
    marks = [part._replace(values=np.ones(len(part.values))) for part in (seen, hidden)]
    total = sum(part.matrix(values.shape[1]).toarray() for part in marks)
    np.testing.assert_array_equal(total, observed)
    both = seen.matrix(values.shape[1]).toarray() + hidden.matrix(values.shape[1]).toarray()
    np.testing.assert_array_equal(both, values)
    assert set(seen.columns) == set(range(values.shape[1]))


def test_about_a_tenth_is_hidden():
    _, hidden = split_cells(
        block_of(np.ones((500, 100)), np.ones((500, 100), bool)), np.random.default_rng(0)
    )
    assert 4600 < len(hidden.values) < 5400  # 5000 less the columns' first; six standard deviations are 400
