"""Cells in columns, as Arrow keeps them, against its own conversion."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.blocks import cell_columns
from cellworth.blocks.cell_columns import CellColumns
from cellworth.blocks.row_source import Part

pa = pytest.importorskip("pyarrow")


def as_numbers(column, dtype):
    return np.array([np.nan if value is None else value for value in column.to_pylist()], dtype=dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_slices_and_chunks_of_columns_become_rows(monkeypatch, dtype):
    """Nulls and NaN alike, wherever a slice begins within the bits that say what is null."""
    monkeypatch.setattr(cell_columns, "ROWS_IN_CACHE", 7)
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=n).astype(dtype) for n in (0, 13, 40)]
    parts[2][3] = np.nan
    null = [rng.random(len(part)) < 0.4 for part in parts[:2]]
    chunks = [pa.array(part, mask=mask) for part, mask in zip(parts, null, strict=False)]
    column = pa.chunked_array([*chunks, pa.array(parts[2])])
    for start, length in ((0, 53), (5, 30), (13, 40), (9, 3), (2, 0)):
        cells = CellColumns.of([column.slice(start, length)] * 2, length, np.dtype(dtype))
        expected = as_numbers(column, dtype)[start : start + length]
        assert cells.shape == (length, 2)
        np.testing.assert_array_equal(cells.rows(), np.column_stack([expected, expected]))


@settings(deadline=None)
@given(
    cuts=st.lists(st.lists(st.integers(0, 50), max_size=4), min_size=1, max_size=4),
    start=st.integers(0, 20),
    seed=st.integers(0, 99),
)
def test_runs_are_all_rows_in_order(cuts, start, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, len(cuts)))
    holes = rng.random(X.shape) < 0.3
    columns = []
    for j, ends in enumerate(cuts):
        pieces = np.split(np.arange(50), sorted(ends))
        columns.append(pa.chunked_array([pa.array(X[rows, j], mask=holes[rows, j]) for rows in pieces]))
    cells = CellColumns.of([column.slice(start) for column in columns], 50 - start, np.dtype("f8"))
    runs = list(cells.runs())
    assert all(
        {(c.first, len(c.values)) for c in run} == {(run[0].first, len(run[0].values))} for run in runs
    )
    assert len(runs) <= 1 + len({end for ends in cuts for end in ends})
    for j, column in enumerate(columns):
        found = []
        for run in runs:
            chunk, word = run[j], np.dtype("u8")
            known = np.ones(len(chunk.values), bool) if chunk.known is None else chunk.masks(word) != 0
            found.append(np.where(known, chunk.values, np.nan))
        np.testing.assert_array_equal(np.concatenate(found), as_numbers(column.slice(start), "f8"))


def test_no_rows_have_no_runs():
    cells = CellColumns.of([pa.chunked_array([], pa.float64())] * 3, 0, np.dtype("f8"))
    assert cells.shape == (0, 3)
    assert list(cells.runs()) == []


def test_rows_without_columns_are_counted():
    cells = CellColumns.of([], 4, np.dtype("f8"))
    assert cells.rows().shape == (4, 0)
    assert list(cells.runs()) == []


def test_a_part_makes_its_rows_once_and_when_asked_for():
    column = pa.chunked_array([pa.array([1.0, None, 3.0])])
    part = Part(CellColumns.of([column], 3, np.dtype("f8")), None, None, 7)
    assert part.n_rows == 3
    assert "X" not in vars(part)
    assert part.X is part.X
    np.testing.assert_array_equal(part.X, [[1.0], [np.nan], [3.0]])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)).X, part.X)
    assert part.some([2]).cells.tolist() == [[3.0]]
