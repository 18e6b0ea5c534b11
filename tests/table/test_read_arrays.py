import numpy as np
import pytest
import scipy.sparse

from cellworth.errors import DataError
from cellworth.table import Table


def test_types_of_arrays_state_the_kinds():
    for X, kind in (
        (np.array([[1], [2]]), "integer"),
        (np.array([[True], [False]]), "boolean"),
        (np.array([[1.0], [2.0]]), "number"),
        (np.array([["a"], ["b"]]), "category"),
        (np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]"), "date"),
        ([[1], [None]], "integer"),
        ([[1.5], [2]], "number"),
        (np.ma.masked_equal([[1], [5]], 5), "integer"),
    ):
        assert Table.from_arrays(X).columns[0].kind == kind


def test_a_mask_is_a_hole():
    table = Table.from_arrays(np.ma.masked_equal([[1.0], [5.0]], 5))
    assert table.holes.tolist() == [[False], [True]]


def test_names_and_ids():
    table = Table.from_arrays([[1, 2], [3, 4]], row_ids=[7, "b"])
    assert table.column_names == ("x0", "x1")
    assert table.row_ids == ("7", "b")
    assert table.row_id == "row_id"
    assert table.y is None


def test_the_table_neither_changes_nor_is_changed_by_its_input():
    X = np.array([[1.0], [2.0]])
    table = Table.from_arrays(X)
    X[0, 0] = 9
    assert table.values[0, 0] == 1
    for array in (table.values, table.holes):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@pytest.mark.parametrize(
    ("X", "keywords", "words"),
    [
        ([1, 2, 3], {}, ["(rows, columns)", "(3,)", "reshape(-1, 1)"]),
        ([[1, 2], [3]], {}, ["X", "equal length"]),
        (np.empty((0, 2)), {}, ["(0, 2)"]),
        (np.empty((2, 0)), {}, ["(2, 0)"]),
        ([[1], [2]], {"y": [1]}, ["y must have the shape (2,)", "(1,)"]),
        ([[1], [2]], {"columns": ["a", "b"]}, ["each of the 1 columns"]),
        ([[1], [2]], {"row_ids": ["a"]}, ["each of the 2 rows", "got 1"]),
        (
            [[1], [2]],
            {"row_ids": ["a", "a"]},
            ["the arrays: row", "number 1 and 2", "leave row_ids= out"],
        ),
        ([[1], [2]], {"row_ids": ["a", None]}, ["every row needs an id", "row number 2"]),
        ([[1, 2]], {"columns": ["a", "a"]}, ["'a' more than once"]),
        ([[1j]], {}, ["'x0'", "row '0'", "imaginary"]),
        (np.array([[1j]]), {}, ["'x0'", "row '0'", "imaginary"]),
        ([[1.0], [-np.inf]], {}, ["'x0'", "row '1'", "'-inf'"]),
        ([[10**400], [1]], {}, ["'x0'", "row '0'", "finite"]),
        (np.array([["20000-01-01"]], dtype="M8[D]"), {}, ["'x0'", "years 1 to 9999"]),
        (np.array([[b"x"]]), {}, ["X", "S1"]),
        (scipy.sparse.eye_array(2), {}, ["sparse", "toarray()"]),
    ],
)
def test_arrays_that_cannot_be_used(X, keywords, words):
    with pytest.raises(DataError) as caught:
        Table.from_arrays(X, **keywords)
    for word in words:
        assert word in str(caught.value)
