"""Cells of a block become the values of the table's columns, wherever the block begins."""

import numpy as np
import pytest

from cellworth.blocks.array_source import ArrayBlock
from cellworth.blocks.block_cells import cells_of_array
from cellworth.blocks.cell_rules import CellRules, KnownCells, TableBlock
from cellworth.errors import DataError
from cellworth.table.column import Column
from cellworth.table.missing_marks import missing_marks

SIZE, HUE, SEEN = (
    Column("size", "number", bounds=(0.0, 12.0)),
    Column("hue", "category", categories=("blue", "green", "red")),
    Column("seen", "date", whole_days=True),
)


def rules(*columns, n_rows=9, unmeasured=(), date_format=None):
    marks = {column.name: missing_marks(["?"]) for column in columns}
    empty = np.array([column.name in unmeasured for column in columns])
    return CellRules("big", columns, None, None, marks, date_format, empty, n_rows)


def test_values_of_all_kinds():
    texts = np.array(["red", "?", None, "blue"], dtype=object)
    assert rules(HUE).values(HUE, cells_of_array(texts)).tolist()[::3] == [2.0, 0.0]
    days = np.array(["31.1.1970", "1.1.1970"], dtype=object)
    written = rules(SEEN, date_format="%d.%m.%Y")
    assert written.values(SEEN, cells_of_array(days)).tolist() == [30.0, 0.0]
    with pytest.raises(DataError, match="column 'hue': expected one of 'blue', 'green', 'red'"):
        rules(HUE).values(HUE, cells_of_array(np.array(["pink"], dtype=object)))


def test_learned_cells_are_cut_by_rows():
    cells = KnownCells(np.array([1, 4, 4, 8]), np.array([0, 0, 1, 0]), np.array([1.0, 2.0, 3.0, 4.0]))
    some = cells.between(4, 8)
    assert (some.rows.tolist(), some.values.tolist()) == ([0, 0], [2.0, 3.0])


@pytest.mark.parametrize("n", [40, 120_000])
def test_made_up_values_do_not_depend_on_the_blocks(n):
    X = np.full((n, 2), np.nan)
    X[:, 1] = 1.0
    columns = (SIZE, Column("other", "number"))
    about = rules(*columns, n_rows=n, unmeasured=("size",))
    names = ("size", "other")

    def read(start, stop):
        return TableBlock(ArrayBlock(X[start:stop], None, start, stop, "<f8", names), about).read().X

    whole = read(0, n)
    cut = n // 3
    assert np.array_equal(np.vstack([read(0, cut), read(cut, n)]), whole, equal_nan=True)
    made_up = whole[~np.isnan(whole[:, 0]), 0]
    assert abs(len(made_up) / n - 0.25) < 0.01
    assert abs(made_up.mean() - 6.0) < 0.1
