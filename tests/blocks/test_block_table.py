"""Rows, ids and learned cells of a table in blocks."""

import numpy as np
import pytest

from cellworth import Table
from cellworth.blocks import ThreadEngine
from cellworth.errors import DataError, ParameterError
from cellworth.table import as_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 30


@pytest.fixture(scope="module", params=["texts", "numbers", "none"])
def both(request, tmp_path_factory):
    """The same table in blocks and in memory, with row ids of several kinds."""
    rng = np.random.default_rng(0)
    columns = {
        "size": pa.array(np.where(rng.random(N) < 0.4, np.nan, rng.normal(size=N)), from_pandas=True),
        "hue": pa.array([None if i % 3 else "rgb"[i % 2] for i in range(N)]),
        "ill": pa.array(rng.integers(0, 2, N)),
    }
    ids = {"texts": [f"p{i}" for i in rng.permutation(N)], "numbers": rng.permutation(N) + 100}
    row_id = None
    if request.param in ids:
        columns["id"], row_id = pa.array(ids[request.param]), "id"
    folder = tmp_path_factory.mktemp("both")
    pq.write_table(pa.table(columns), folder / "part.parquet", row_group_size=11)
    said = {"target": "ill", "row_id": row_id}
    whole = Table.read(folder / "part.parquet", **said)
    return Table.open(folder, engine=ThreadEngine(1, 4), **said), whole


def test_rows_and_ids(both):
    big, whole = both
    numbers = np.array([3, 11, 12, 29])
    some = big.rows(numbers)
    assert np.array_equal(some.values, whole.values[numbers], equal_nan=True)
    assert list(some.row_ids) == [whole.row_ids[i] for i in numbers]
    assert np.array_equal(some.y, whole.y[numbers])
    any_order = np.array([29, 3, 3])
    assert big.row_ids(any_order) == [whole.row_ids[i] for i in any_order]
    assert big.row_numbers([whole.row_ids[i] for i in any_order]).tolist() == any_order.tolist()
    assert big.head(2).equals(whole.head(2))
    assert big.every(7).row_ids == whole.row_ids[::7]
    assert big.rows([]).shape == (0, 2)


def test_unknown_rows_and_columns(both):
    big, _ = both
    with pytest.raises(DataError, match="no row 'p99'"):
        big.row_numbers(["p99"])
    with pytest.raises(DataError, match=r"no column 'sizes'.*Did you mean 'size'"):
        big.column_index("sizes")


def test_learned_cells_replace_those_in_the_files(both):
    big, whole = both
    rows, columns = np.nonzero(whole.holes)
    pick = np.random.default_rng(1).permutation(len(rows))[:10]
    rows, columns = rows[pick], columns[pick]
    values = np.where(columns == 0, 7.5, 1.0)
    told = big.with_cells(rows, columns, values)
    cells = whole.values.copy()
    cells[rows, columns] = values
    assert np.array_equal(told.every(1).values, cells, equal_nan=True)
    assert told.known.tolist() == (~np.isnan(cells)).sum(axis=0).tolist()
    assert np.array_equal(big.every(1).values, whole.values, equal_nan=True)


def test_cells_of_one_column_are_those_of_the_whole_table(both):
    """One column is read alone; the learned cells, labels and added rows are those of all columns."""
    big, whole = both
    now = big.with_rows(whole.head(3))
    now = now.with_cells(np.array([4, 5, 6, N + 1]), np.array([0, 1, 2, 0]), np.array([0.5, 1.0, 1.0, 2.5]))
    table, rows = now.every(1), np.random.default_rng(1).permutation(N + 3)
    together = now.values_at(np.repeat(rows, 3), np.tile([0, 1, 2], len(rows))).reshape(-1, 3)
    for j, cells in enumerate([*table.values.T, table.target.cells]):
        alone = now.values_at(rows, np.full(len(rows), j))
        assert np.array_equal(alone, cells[rows], equal_nan=True)
        assert np.array_equal(alone, together[:, j], equal_nan=True)


def test_what_needs_the_table_in_memory_says_so(both):
    big, _ = both
    with pytest.raises(ParameterError, match=r"in memory.*table\.every\(100\)"):
        as_table(big)


def test_labels_that_are_learned_are_cells_of_the_column_after_the_last():
    X, y = np.arange(24.0).reshape(12, 2), np.where(np.arange(12) % 3 == 0, np.nan, np.arange(12) % 2)
    table = Table.open(X, labels=y, engine=ThreadEngine(1, 5))
    rows, columns = np.array([0, 1, 9]), np.array([2, 0, 2])
    now = table.with_cells(rows, columns, np.array([1.0, -5.0, 0.0]), np.array([False, True, False]))
    expected = y.copy()
    expected[[0, 9]] = [1.0, 0.0]
    np.testing.assert_array_equal(now.every(1).target.values, expected)
    assert now.values_at(np.array([9, 1, 0, 3]), np.array([2, 0, 2, 2])).tolist()[:3] == [0.0, -5.0, 1.0]
    assert (now.labelled, now.labelled_in_files, now.n_unlabelled) == (10, 8, 2)
    assert (table.labelled, now.corrects, now.known.tolist()) == (8, True, [12, 12])
    assert now.unlabelled_rows(9).tolist() == [3, 6]
    np.testing.assert_array_equal(table.every(1).target.values, y)


def test_a_new_class_numbers_the_labels_anew():
    y = np.array([2, 4, np.nan, 4, 2, np.nan])
    table = Table.open(np.ones((6, 1)), labels=y, engine=ThreadEngine(1, 4), bounds={"target": (0, 9)})
    assert table.target.classes == (2, 4)
    now = table.with_cells(np.array([2]), np.array([1]), np.array([3.0]))
    assert (now.target.classes, now.target.kind) == ((2, 3, 4), "several classes")
    np.testing.assert_array_equal(now.every(1).target.values, [0, 2, 1, 2, 0, np.nan])
