"""The cells of a block are those that a frame of the same rows has."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from cellworth.blocks.block_cells import cells_of_array, cells_of_arrow, places_of, texts_at
from cellworth.table.frames import read_frame
from cellworth.table.raw_cells import as_texts

pa = pytest.importorskip("pyarrow")

COLUMNS = {
    "float": [1.5, None, float("nan"), 2.0],
    "whole": [1, 2, 3, 4],
    "whole with holes": [1, None, 3, 4],
    "flag": [True, None, False, True],
    "text": ["a", None, " b ", "a"],
    "day": [datetime.date(2020, 1, 31), None, datetime.date(2021, 1, 1), None],
    "decimal": [Decimal("1.25"), None, Decimal("3"), None],
    "nothing": [None] * 4,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_they_are_those_of_a_frame(name):
    frame = pa.table({name: COLUMNS[name]})
    (found,) = cells_of_arrow(frame, [name])
    (expected,), _ = read_frame(frame)
    assert list(as_texts(found).texts) == list(as_texts(expected.cells).texts)
    assert type(found) is type(expected.cells)
    assert getattr(found, "kind", None) == getattr(expected.cells, "kind", None)


def test_chunks_and_categories():
    chunked = pa.chunked_array([["a", "b"], [], ["b", None]])
    coded = chunked.dictionary_encode()
    texts, codes = cells_of_arrow(pa.table({"t": chunked, "c": coded}), ["t", "c"])
    assert list(as_texts(texts).texts) == list(as_texts(codes).texts) == ["a", "b", "b", ""]


@pytest.mark.parametrize(
    ("cells", "wanted", "rows", "which"),
    [
        (np.array([3.0, 1.0, 2.0, np.nan]), ["2", "3", "9", "p"], [0, 2], [1, 0]),
        (np.array([10, 20]), ["20"], [1], [0]),
        (np.array(["a", "b", None, "a"], dtype=object), ["b", "c", "a"], [0, 1, 3], [2, 0, 2]),
        (np.array([True, False]), ["False"], [1], [0]),
        (np.array([1.0, 2.0]), ["1.0"], [], []),
    ],
)
def test_rows_are_found_by_their_ids(cells, wanted, rows, which):
    found = places_of(cells_of_array(cells), wanted)
    assert (found[0].tolist(), found[1].tolist()) == (rows, which)


def test_texts_of_some_cells():
    assert texts_at(cells_of_array(np.array([1.0, np.nan, 2.5])), np.array([2, 1, 0])) == ["2.5", "", "1"]
    assert texts_at(cells_of_array(np.array(["x", None], dtype=object)), np.array([1, 0])) == ["", "x"]


def test_booleans_are_read_as_those_of_a_frame():
    column = pa.table({"b": pa.array([True, None, False])})
    (cells,) = cells_of_arrow(column, ["b"])
    (raw,), _ = read_frame(column)
    assert (type(cells), cells.kind) == (type(raw.cells), raw.cells.kind)
    assert np.array_equal(cells.values, raw.cells.values, equal_nan=True)
