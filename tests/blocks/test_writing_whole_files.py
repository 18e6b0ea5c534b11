"""A table in row blocks in one file: that of the table in memory."""

import gzip

import numpy as np
import pytest

from cellworth import Table
from cellworth.blocks import writing
from cellworth.blocks.writing import csv_parts, write_whole
from cellworth.errors import DataError
from cellworth.table.write_table import write_for_spreadsheet
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")


@pytest.fixture(params=["first", "=é"])
def both(request, tmp_path, monkeypatch):
    """The same table in blocks and in memory, in parts of a few rows, with the ids of a strange first row."""
    monkeypatch.setattr(writing, "PART_CELLS", 35)
    frame = make_frame(np.random.default_rng(0))
    names = frame.column("id").to_pylist()
    at = frame.schema.get_field_index("id")
    frame = frame.set_column(at, "id", [[request.param, *names[1:]]])
    return both_of(tmp_path / "big", frame)


@pytest.mark.parametrize("marks", [{}, {"delimiter": ";", "decimal": ","}])
@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_text_is_that_of_the_table_in_memory(both, tmp_path, guarded, ending, marks):
    big, whole = both
    write_whole(big, tmp_path / f"a{ending}", guarded=guarded, **marks)
    write = write_for_spreadsheet if guarded else Table.write
    write(whole, tmp_path / f"b{ending}", **marks)
    one, other = ((tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    if ending.endswith("gz"):
        one, other = map(gzip.decompress, (one, other))
    assert one == other
    assert len(list(csv_parts(big))) > 5


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_other_files_come_back(both, tmp_path, ending):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    big, whole = both
    write_whole(big, tmp_path / f"a.{ending}")
    whole.write(tmp_path / f"b.{ending}")
    one, other = (Table.read(tmp_path / f"{name}.{ending}", **whole.keywords()) for name in "ab")
    assert one.equals(other)
    assert one.row_ids == whole.row_ids


def test_a_workbook_has_so_many_rows_and_other_endings_are_refused(both, tmp_path, monkeypatch):
    big, _ = both
    monkeypatch.setattr(writing, "SHEET_ROWS", big.n_rows)
    with pytest.raises(DataError, match="parquet file"):
        write_whole(big, tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="expected a file that ends in"):
        write_whole(big, tmp_path / "a.doc")
    assert list(tmp_path.glob("a.*")) == []
