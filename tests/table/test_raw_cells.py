"""Cells as they were read: their holes, their texts, and what is said of those that are wrong."""

from datetime import date

import numpy as np
import pytest

from cellworth.errors import DataError
from cellworth.table.raw_cells import (
    CodedCells,
    NumberCells,
    Origin,
    TextCells,
    as_texts,
    cells_from_objects,
    coded_cells,
    id_column,
)

NAN = np.nan


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (TextCells(["a", "", "b"]), ["a", "", "b"]),
        (NumberCells(np.array([1.5, NAN, 2.0]), "number"), ["1.5", "", "2"]),
        (NumberCells(np.array([1.0, NAN, 0.0]), "boolean"), ["True", "", "False"]),
        (NumberCells(np.array([0.0, NAN, 0.5]), "date"), ["1970-01-01", "", "1970-01-01T12:00:00"]),
        (CodedCells(np.array([1.0, NAN, 0.0]), ("low", "high"), True), ["high", "", "low"]),
    ],
)
def test_cells_of_any_form_as_texts(cells, texts):
    assert as_texts(cells).texts == texts
    assert cells.holes.tolist() == [False, True, False]


def test_equal_texts_become_one_category():
    cells = coded_cells(np.array([0.0, 1.0, NAN, 2.0]), [1, "1", "b"], ordered=False)
    assert cells.categories == ("1", "b")
    np.testing.assert_array_equal(cells.codes, [0, 0, NAN, 1])
    assert cells.kind == "category"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 2], "integer"),
        ([1, 2.5, None], "number"),
        ([True, None, False], "boolean"),
        ([date(2020, 1, 1), None], "date"),
    ],
)
def test_the_types_of_objects_state_the_kind(values, kind):
    cells = cells_from_objects(values, "x", Origin("X", [str(i) for i in range(len(values))]))
    assert cells.kind == kind
    assert cells.holes.tolist() == [value is None for value in values]


def test_a_column_of_ids_takes_a_name_that_is_free():
    column = id_column(["a", "b"], "id", {"id", "id_"})
    assert (column.name, column.cells.texts) == ("id__", ["a", "b"])


def test_wrong_cells_are_named_three_at_most_with_the_remedy():
    origin = Origin("t.csv", ["a", "b", "c", "d", "e"], [2, 3, 4, 5, 6])
    rows = np.array([0, 2, 3, 4])
    error = origin.cell_error("age", "expected numbers", rows, ["x", "y", "z", "w"], "Mend them.")
    assert isinstance(error, DataError)
    assert str(error) == (
        "t.csv, column 'age': expected numbers, got 'x' in row 'a' (line 2), 'y' in row 'c' (line 4), "
        "'z' in row 'd' (line 5) and 1 more. Mend them."
    )
