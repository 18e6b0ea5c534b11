"""Files whose first line may be missing, and columns without a name."""

import warnings

import pytest

from cellworth import Table
from cellworth.errors import DataError, ReadWarning
from cellworth.table import read_csv
from cellworth.table.files import FileBytes


def read(text, **keywords):
    return Table.read(FileBytes("t.csv", text.encode()), **keywords)


@pytest.mark.parametrize(
    "text", ["5.1,3.5,low\n4.9,3.0,high\n4.7,,low\n", "P1,2020-12-31,ill\nP2,2021-01-01,well\n"]
)
def test_a_first_line_of_values_is_noticed(text):
    with pytest.warns(ReadWarning, match=r"t\.csv: the names of its columns, .* look like values"):
        read(text, kinds={"P1": "category"} if "P1" in text else None)


@pytest.mark.parametrize(
    "header", ["0,1,2", "id,2019,2020", "id,400.5,410.5", "a,7,b", "a,2020-01-01,2020-02-01"]
)
def test_names_that_are_numbers_or_dates_may_be_meant(header):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(f"{header}\n1,2,3\n2,,4\n")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("text", ["a,b,,\n1,2,,\n3,,,\n", "a,b\n1,2,,\n3,, ,\n", "a,b,\n1,2,\n3,,\n"])
def test_separators_at_the_end_of_lines_make_no_columns(monkeypatch, quick, text):
    if quick:
        monkeypatch.setattr(read_csv, "FEWEST_BYTES", 0)
    table = read(text)
    assert table.column_names == ("a", "b")
    assert table.to_csv() == "a,b\n1,2\n3,\n"


@pytest.mark.parametrize("text", ["a,,b\n1,,2\n", "a,b,\n1,2,3\n", "a,b\n1,2,3\n"])
def test_values_without_a_name_are_not_dropped(text):
    with pytest.raises(DataError, match=r"has no name|expected 2 fields"):
        read(text)
