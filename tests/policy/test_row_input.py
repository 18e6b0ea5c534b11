"""What users state of new rows."""

import math
import warnings

import numpy as np
import pandas
import polars
import pytest

from cellworth.errors import DataError
from cellworth.policy.row_input import (
    existing_names,
    parse_row,
    parse_rows,
    warn_of_strange_values,
    with_free_columns,
)
from cellworth.setting_names import speaking
from cellworth.table import Column
from cellworth.table.seen_values import seen_in


def test_values_by_column_name(three):
    table, _ = three
    row = parse_row({"hue": "red", "size": "1.5", "smokes": None}, table.columns, "target")
    assert row[0] == 1.5
    assert math.isnan(row[1])
    assert table.columns[2].format(row[2]) == "red"


def test_names_and_free_columns():
    assert existing_names("a", ("a", "b")) == {"a"}
    with pytest.raises(DataError, match="'aa'"):
        existing_names(["aa"], ("a", "b"))
    assert with_free_columns({"a": 2.0}, ["b"]) == {"a": 2.0, "b": 1.0}
    assert with_free_columns(3.0, ["b"]) == 3.0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_a_frame(three, library):
    """Nulls are missing, columns may be left out, labels are not looked at, and the index names the rows."""
    table, _ = three
    cells = {"size": [1.5, None], "hue": ["red", None], "target": ["low", None]}
    frame = pandas.DataFrame(cells, index=["p1", "p2"]) if library == "pandas" else polars.DataFrame(cells)
    values, ids = parse_rows(frame, table.columns, "target")
    assert ids == (["p1", "p2"] if library == "pandas" else ["0", "1"])
    said = {ids[0]: {"size": 1.5, "hue": "red"}, ids[1]: {}}
    assert np.array_equal(values, parse_rows(said, table.columns, "target")[0], equal_nan=True)
    assert np.isnan(values[1]).all()


def test_no_row_of_a_frame_with_a_repeated_index_is_lost(three):
    table, _ = three
    frame = pandas.DataFrame({"size": [1.5, 2.5]}, index=["p1", "p1"])
    with pytest.raises(DataError, match=r"index names the rows, so its labels must differ; got 'p1'"):
        parse_rows(frame, table.columns, "target")
    assert parse_rows(frame.reset_index(drop=True), table.columns, "target")[1] == ["0", "1"]
    assert parse_rows(frame[:0], table.columns, "target")[1] == []


def test_what_is_wrong_with_a_row_is_said_with_its_id(three):
    table, _ = three
    with pytest.raises(DataError, match=r"row 'p2': column 'hue': expected one of .*, got 'rod'"):
        parse_rows({"p1": {}, "p2": {"hue": "rod"}}, table.columns, "target")
    with pytest.raises(DataError, match="rows must be a Table, a DataFrame, or a mapping"):
        parse_rows([{"size": 1.0}], table.columns, "target")


def test_values_far_outside_what_was_seen_bring_a_warning():
    columns = (Column("age", "integer"), Column("hue", "category", categories=("red", "blue")))
    seen = [seen_in(columns[0], np.arange(20.0, 80.0)), seen_in(columns[1], np.ones(50))]
    values = np.array([[6100.0, 1.0], [61.0, 0.0], [np.nan, np.nan]])
    with pytest.warns(UserWarning, match=r"row 'p1', column 'age': 6100 is far outside the 60 values known"):
        warn_of_strange_values(values, ["p1", "p2", "p3"], columns, seen)
    with pytest.warns(UserWarning, match=r"; and 2 more\. If it is a slip"):
        warn_of_strange_values(np.full((5, 2), -9000.0), list("abcde"), columns, seen)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_strange_values(values[1:], ["p2", "p3"], columns, seen)
        for door in ("pages", "rest"):  # values of people stay out of a server's log
            with speaking(door):
                warn_of_strange_values(values, ["p1", "p2", "p3"], columns, seen)
