import pickle

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.errors import DataError, ParameterError
from cellworth.table import Table

from .tables import tables

TABLE = Table.from_arrays(
    [["I", 1], [None, 2], ["II", None]],
    ["a", None, "b"],
    columns=["stage", "count"],
    row_ids=["p1", "p2", "q7"],
    bounds={"count": (0, 5)},
)


def test_a_table_at_a_glance():
    assert repr(TABLE) == (
        "Table of 3 rows and 2 columns (1 integer, 1 category)\n"
        "  holes: 2 of 6 cells (33.3 %)\n"
        "  target: 'target', two classes: 'a', 'b'; 1 label missing"
    )


def test_rows_and_columns_are_found_by_name():
    assert TABLE.row_index("q7") == 2
    assert TABLE.column_index("count") == 1
    assert TABLE.shape == (3, 2)
    assert Table.from_arrays([[1], [2]]).row_index(1) == 1
    with pytest.raises(DataError, match=r"no row 'p11'. The rows are 'p1'"):
        TABLE.row_index("p11")
    with pytest.raises(DataError, match=r"no column 'Stages'. Did you mean 'stage'\?"):
        TABLE.column_index("Stages")


def test_new_values():
    filled = TABLE.with_values([[0, 1], [1, 2], [1, 3]])
    assert not filled.holes.any()
    assert filled.target is TABLE.target
    assert filled.columns == TABLE.columns
    assert TABLE.holes.sum() == 2


@settings(max_examples=30, deadline=None)
@given(tables())
def test_the_own_values_give_an_equal_table(table):
    assert table.with_values(table.values).equals(table)
    assert pickle.loads(pickle.dumps(table)).equals(table)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0, 1]], ["(3, 2)", "(1, 2)"]),
        ([["x", 1]] * 3, ["(3, 2)"]),
        ([[0, 1], [2, 1], [0, 1]], ["'stage'", "row 'p2'", "one of 'I', 'II'", "2.0"]),
        ([[0, 1], [0.5, 1], [0, 1]], ["'stage'", "row 'p2'", "0.5"]),
        ([[0, 1], [0, 1], [0, 6]], ["'count'", "row 'q7'", "from 0 to 5", "6.0"]),
        ([[0, 1], [0, 1], [0, np.inf]], ["'count'", "row 'q7'", "inf"]),
    ],
)
def test_new_values_that_are_not_allowed(values, words):
    with pytest.raises(DataError) as caught:
        TABLE.with_values(values)
    for word in words:
        assert word in str(caught.value)


def test_tables_differ_by_any_part():
    assert TABLE.equals(TABLE)
    for other in (
        TABLE.with_values(np.zeros((3, 2))),
        Table.from_arrays([["I", 1], [None, 2], ["II", None]], columns=["stage", "count"]),
    ):
        assert not TABLE.equals(other)


def test_unknown_frame_library():
    with pytest.raises(ParameterError, match="'pandas', 'polars', 'pyarrow', got 'dask'"):
        TABLE.to_frame("dask")


@pytest.mark.parametrize("name", ["t.json", "missing/t.csv"])
def test_places_that_cannot_be_written(tmp_path, name):
    with pytest.raises(DataError, match=name):
        TABLE.write(tmp_path / name)
