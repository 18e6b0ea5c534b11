"""What goes out comes back exactly: through files, through frames, and across frame libraries."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError
from cellworth.table import Table, read_csv

from .tables import tables


def assert_same(got, wanted):
    assert got.columns == wanted.columns
    assert got.row_ids == wanted.row_ids
    assert got.row_id == wanted.row_id
    assert got.values.tobytes() == wanted.values.tobytes()
    assert got.equals(wanted)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([".csv", ".tsv", ".csv.gz"]))
def test_csv_reads_back_exactly(tmp_path_factory, table, suffix):
    path = tmp_path_factory.mktemp("csv") / f"table{suffix}"
    table.write(path)
    assert_same(Table.read(path, **table.keywords()), table)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_parquet_reads_back_exactly_without_a_word(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("parquet") / "table.parquet"
    table.write(path)
    assert_same(Table.read(path), table)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_frames_of_all_libraries_give_the_same_table(table):
    for library in ("pandas", "polars", "pyarrow"):
        assert_same(Table.from_frame(table.to_frame(library), **table.keywords()), table)


@settings(max_examples=25, deadline=None)
@given(tables())
def test_frames_keep_kinds_by_their_types(table):
    kinds = [column.kind for column in table.columns]
    for library in ("pandas", "polars", "pyarrow"):
        again = Table.from_frame(table.to_frame(library), row_id=table.row_id)
        assert [column.kind for column in again.columns[: len(kinds)]] == kinds


def test_values_come_back_as_the_user_wrote_them(tmp_path):
    text = "id,age,hue,visit,at,ok,y\na,61,red,2020-01-02,2020-01-02T10:30:00.000000,true,well\nb,,,,,,ill\n"
    path = tmp_path / "t.csv"
    path.write_text(text)
    table = Table.read(path, row_id="id", target="y")
    table.write(path)
    assert path.read_text() == text
    row = table.to_frame("polars").row(0)
    assert [str(value) for value in row] == [
        "a", "61", "red", "2020-01-02", "2020-01-02 10:30:00", "True", "well",
    ]  # fmt: skip
    assert table.to_frame("polars").row(1)[1:6] == (None,) * 5


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")
    table = Table.from_arrays([[1.0], [2.0]])

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cellworth.table.files.os.replace", fail)
    with pytest.raises(DataError, match="No space left"):
        table.write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_gzipped_files_are_the_same_each_time(tmp_path):
    table = Table.from_arrays([[1.0], [2.0]])
    table.write(tmp_path / "a.csv.gz")
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"x0\n1.0\n2.0\n"


def test_stale_metadata_of_others_is_passed_over(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    for entry in (b"no json", b"[]", b'{"kinds": "odd", "bounds": 3, "categories": "x"}'):
        field = pyarrow.field("a", pyarrow.int64(), metadata={b"cellworth": entry})
        frame = pyarrow.table([[1, 2]], schema=pyarrow.schema([field]))
        assert Table.from_frame(frame).columns[0].kind == "integer"


def test_the_user_overrides_what_a_parquet_file_declares(tmp_path):
    path = tmp_path / "t.parquet"
    Table.from_arrays([[1], [3]], ["a", "b"], bounds={"x0": (0, 3)}).write(path)
    assert Table.read(path).target.name == "target"
    assert Table.read(path).columns[0].bounds == (0, 3)
    table = Table.read(path, kinds={"x0": "category"})
    assert table.columns[0].categories == ("1", "3")
    assert np.isinf(table.columns[0].bounds).all()


@pytest.mark.parametrize("quick", [False, True])
def test_numbers_are_written_with_the_decimals_they_came_with(monkeypatch, tmp_path, quick):
    if quick:
        monkeypatch.setattr(read_csv, "FEWEST_BYTES", 0)
    text = "income;size;share;n\n687,50;1,5;0,10;1\n1200,00;2;NA;2\n;;0,20;3\n"
    (tmp_path / "t.csv").write_text(text)
    table = Table.read(tmp_path / "t.csv", delimiter=";", decimal=",")
    assert table.to_csv(";", ",") == text.replace("NA", "")
    values = table.values.copy()
    values[2, 0], values[1, 2] = 99.125, 0.3
    assert table.with_values(values).to_csv(";", ",").splitlines()[2:] == [
        "1200,00;2;0,30;2",
        "99,125;;0,20;3",
    ]
    if not quick:
        pytest.importorskip("pyarrow")
        table.write(tmp_path / "t.parquet")
        assert Table.read(tmp_path / "t.parquet").to_csv(";", ",") == table.to_csv(";", ",")
