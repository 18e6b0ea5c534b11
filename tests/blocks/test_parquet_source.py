"""Tables in Parquet files: there and back, row by row once, and what is wrong with them by name."""

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter
from cellworth.blocks import open_blocks, parquet_source
from cellworth.blocks.parquet_source import parquet_table
from tests.blocks.tables import SAME, difference, make_table, write_parquet

pytestmark = pytest.mark.usefixtures("files")


pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
NORMAL = GaussianCompleter(margins="normal", label_trust=0.5)


@pytest.fixture(scope="module")
def table():
    X, y = make_table(330, 4, 0, labelled=0.8)
    return X, y, GaussianCompleter(margins="normal", label_trust=0.5).fit(X, y)


def test_parquet_there_and_back(table, local, tmp_path):
    X, y, whole = table
    people = np.array([f"p{i}" for i in range(len(X))])
    names = write_parquet(tmp_path / "big", X, y, person=people)
    local.block_rows = 70
    source = open_blocks(tmp_path / "big", target="outcome", row_id="person", engine=local)
    assert (source.n_rows, source.columns) == (330, tuple(names))
    clone(NORMAL).fit(source).completed_.write(tmp_path / "filled", variance=True)
    again = open_blocks(tmp_path / "filled", target="outcome", row_id="person", columns=names)
    part = again.table.blocks(1000)[0].read()
    assert difference(part.X, whole.completed_) < SAME
    assert np.array_equal(part.y, y, equal_nan=True)
    assert part.row_ids.tolist() == people.tolist()
    spread = open_blocks(tmp_path / "filled", columns=[f"{name}_variance" for name in names])
    assert difference(spread.table.blocks(1000)[0].read().X, whole.variance_) < SAME


@pytest.mark.parametrize("most_rows", [1, 7, 40, 41, 95, 1000])
def test_blocks_of_parquet_cover_every_row_once(table, tmp_path, most_rows):
    X, y, _ = table
    write_parquet(tmp_path / "big", X, y, files=4, row_group=37)
    blocks = open_blocks(tmp_path / "big", target="outcome").table.blocks(most_rows)
    assert [b.start for b in blocks] == [0, *(b.stop for b in blocks[:-1])]
    assert all(0 < b.stop - b.start <= most_rows for b in blocks)
    parts = [b.read() for b in blocks]
    assert np.array_equal(np.concatenate([p.X for p in parts]), X, equal_nan=True)
    assert np.array_equal(np.concatenate([p.y for p in parts]), y, equal_nan=True)


def test_columns_of_other_types_become_numbers(local, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, _ = make_table(60, 2, 0)
    counts = pa.array([None if i % 5 == 0 else i for i in range(60)], pa.int16())
    smokes = pa.array([None if i % 7 == 0 else i % 2 == 0 for i in range(60)])
    single = pa.array(X[:, 0].astype(np.float32), from_pandas=True)
    pq.write_table(pa.table({"n": counts, "smokes": smokes, "x": single}), tmp_path / "a.parquet")
    part = open_blocks(tmp_path / "a.parquet").table.blocks(100)[0].read()
    assert part.X.dtype == np.float64
    assert np.isnan(part.X[::5, 0]).all()
    assert part.X[1:5, 0].tolist() == [1, 2, 3, 4]
    assert part.X[1:4, 1].tolist() == [0, 1, 0]
    pq.write_table(pa.table({"x": single, "z": single}), tmp_path / "b.parquet")
    single = GaussianCompleter().fit(open_blocks(tmp_path / "b.parquet", engine=local)).completed_
    assert single.gather()[0].dtype == np.float32


def test_a_row_group_that_is_read_in_parts_is_decoded_once(tmp_path, monkeypatch):
    """And not kept any longer than its rows are wanted, nor once the file is another."""
    kept = parquet_source.DecodedRowGroups(most=2)
    monkeypatch.setattr(parquet_source, "_ROW_GROUPS", kept)
    decoded, read = [], pq.ParquetFile.read_row_group
    monkeypatch.setattr(
        pq.ParquetFile, "read_row_group", lambda self, g, **how: (decoded.append(g), read(self, g, **how))[1]
    )
    x = np.arange(100.0)
    pq.write_table(pa.table({"x": x}), tmp_path / "a.parquet", row_group_size=40)
    blocks = parquet_table(tmp_path, None, None, None).blocks(10)
    assert [(block.start, block.stop) for block in blocks][:5] == [(k, k + 10) for k in range(0, 50, 10)]
    for _ in range(2):
        assert np.concatenate([block.read().X[:, 0] for block in blocks]).tolist() == x.tolist()
    assert decoded == [0, 1, 2] * 2
    assert len(kept) == 0
    blocks[0].read()
    pq.write_table(pa.table({"x": -x}), tmp_path / "a.parquet", row_group_size=40)
    assert blocks[1].read().X[0, 0] == -10.0
    for block in (blocks[4], blocks[8], blocks[0]):
        block.read()
    assert len(kept) == 2


def test_what_is_read_ahead_is_a_row_group(tmp_path, monkeypatch):
    """Each row group asks once for the one after the next few, across files, by the bytes of its columns."""
    X, y = make_table(90, 3, 0)
    write_parquet(tmp_path / "big", X, y, files=3, row_group=10)
    asked = []
    monkeypatch.setattr(parquet_source, "read_ahead", lambda *what: asked.append(what))
    table = open_blocks(tmp_path / "big", target="outcome").table
    for block in table.blocks(5):  # halves of row groups
        block.read()
    groups = [(group.path, group.row_group) for group in table.groups]
    assert asked == groups[parquet_source.AHEAD :]
    monkeypatch.undo()
    path, number = groups[4]
    start, length = parquet_source._bytes_of(path, number, 0)
    about = pq.read_metadata(path).row_group(number)
    columns = [about.column(j) for j in range(about.num_columns)]
    starts = [each.dictionary_page_offset or each.data_page_offset for each in columns]
    assert start == min(starts)
    assert start + length == max(
        at + each.total_compressed_size for at, each in zip(starts, columns, strict=True)
    )
    assert 4 <= start < start + length < (tmp_path / "big").joinpath(path).stat().st_size
    parquet_source.read_ahead(path, number)
    parquet_source.read_ahead(str(tmp_path / "gone.parquet"), 0)  # read later, or reported then
