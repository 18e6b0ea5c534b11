"""Cells by name and by position, and the closest name where there is none."""

import pytest

from cellworth.campaign.cell_index import CellIndex
from cellworth.errors import DataError
from cellworth.table import Table


def index_of(*row_ids, target=True):
    y = ["ill", "well"] if target else None
    return CellIndex(
        Table.from_arrays(
            [[61, 1.5], [47, 2.5]], y, columns=["age", "dose"], row_ids=row_ids, target="outcome"
        )
    )


def test_names_lead_to_positions_and_back():
    index = index_of("p1", "p2")
    assert index.cell("p2", "dose") == (1, 1)
    assert index.names((1, 1)) == ("p2", "dose")
    assert index.words((0, 0)) == "row 'p1', column 'age'"


def test_a_label_is_a_cell_of_the_last_column():
    index = index_of("p1", "p2")
    assert index.cell("p2", "outcome") == (1, 2)
    assert (index.features, len(index.columns)) == (2, 3)
    bare = index_of("p1", "p2", target=False)
    assert (bare.features, len(bare.columns)) == (2, 2)
    with pytest.raises(DataError, match="no column 'outcome'"):
        bare.cell("p2", "outcome")


def test_rows_are_added_at_the_end():
    index = index_of("p1", "p2")
    assert "p3" not in index
    index.add(["p3", "p4"])
    assert "p3" in index
    assert index.cell("p4", "age") == (3, 0)
    assert index.cell("p1", "age") == (0, 0)


def test_a_number_finds_the_row_of_that_name():
    assert index_of("7", "8").row(8) == 1


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("p01", "age", "no row 'p01'. Did you mean 'p1'"),
        ("p1", "doze", "no column 'doze'. Did you mean 'dose'"),
        ("p1", 3, "no column 3"),
    ],
)
def test_what_is_not_there_is_named_with_what_may_be_meant(row, column, message):
    with pytest.raises(DataError, match=message):
        index_of("p1", "x2").cell(row, column)
