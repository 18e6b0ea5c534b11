"""What users state of new rows."""

import math

import pytest

from cellworth.errors import DataError
from cellworth.policy.row_input import existing_names, parse_row, with_free_columns


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
