"""Delimited text that reads back and is safe in a spreadsheet."""

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError
from cellworth.table.write_csv import csv_text, guard, unguard, write_lines


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("'=+-@\t\rab"), max_size=5) | st.text(max_size=10))
def test_guarding_is_undone_and_leaves_no_formula(text):
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in {"=", "+", "-", "@", "\t", "\r"}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.text(max_size=4), min_size=2, max_size=2), max_size=4), st.sampled_from(",;\t"))
def test_any_text_reads_back(records, separator):
    text = csv_text(records, separator)
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)) == records


def test_a_lone_carriage_return_is_quoted():
    assert csv_text([["a\rb", "c"]]) == '"a\rb","c"\n'


def test_the_name_of_a_file_tells_how_it_is_written(tmp_path):
    for name in ("list.csv", "list.tsv", "list.csv.gz"):
        write_lines(tmp_path / name, [("a", "b")])
    assert (tmp_path / "list.csv").read_bytes() == b"a,b\n"
    assert (tmp_path / "list.tsv").read_bytes() == b"a\tb\n"
    assert gzip.decompress((tmp_path / "list.csv.gz").read_bytes()) == b"a,b\n"


@pytest.mark.parametrize("name", ["list.parquet", "list.ods", "nowhere/list.csv", "folder.csv"])
def test_places_where_no_list_can_be(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="expected a file"):
        write_lines(tmp_path / name, [("a",)])
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]
