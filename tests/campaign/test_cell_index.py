"""Cells by name and by position, and the closest name where there is none."""

import pytest

from cellworth.campaign.cell_index import CellIndex
from cellworth.errors import DataError
from cellworth.table import Column

COLUMNS = (Column("age", "integer"), Column("dose", "number"))


def test_names_lead_to_positions_and_back():
    index = CellIndex(["p1", "p2"], COLUMNS, "outcome")
    assert index.cell("p2", "dose") == (1, 1)
    assert index.names((1, 1)) == ("p2", "dose")
    assert index.words((0, 0)) == "row 'p1', column 'age'"


def test_rows_are_added_at_the_end():
    index = CellIndex(["p1", "p2"], COLUMNS, None)
    assert "p3" not in index
    index.add(["p3", "p4"])
    assert "p3" in index
    assert index.cell("p4", "age") == (3, 0)
    assert index.cell("p1", "age") == (0, 0)


def test_a_number_finds_the_row_of_that_name():
    assert CellIndex(["7", "8"], COLUMNS, None).row(8) == 1


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("p01", "age", "no row 'p01'. Did you mean 'p1'"),
        ("p1", "doze", "no column 'doze'. Did you mean 'dose'"),
        ("p1", 3, "no column 3"),
        ("p1", "outcome", "'outcome' is the target"),
    ],
)
def test_what_is_not_there_is_named_with_what_may_be_meant(row, column, message):
    with pytest.raises(DataError, match=message):
        CellIndex(["p1", "x2"], COLUMNS, "outcome").cell(row, column)
