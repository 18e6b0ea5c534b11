"""Tables that spreadsheets open without running or misreading anything."""

import pytest

from cellworth import Table
from cellworth.table.write_table import guard_table, write_for_spreadsheet


def test_a_guarded_table_has_the_same_cells():
    pytest.importorskip("pandas")
    table = Table.from_arrays(
        [["+", -1.5], ["-", 2.0], [None, None]],
        ["=a", "b", "=a"],
        columns=["@x", "y"],
        row_ids=["=1", "2", "3"],
    )
    guarded = guard_table(table)
    assert guarded.row_ids == ("'=1", "2", "3")
    assert guarded.column_names == ("'@x", "y")
    assert sorted(guarded.columns[0].categories) == ["'+", "'-"]
    assert guarded.target.classes == ("'=a", "b")
    frame = guarded.to_frame("pandas")
    assert frame["'@x"].tolist()[:2] == ["'+", "'-"]
    assert frame["y"].tolist()[:2] == [-1.5, 2.0]
    assert frame["target"].tolist() == ["'=a", "b", "'=a"]


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t")])
def test_text_with_other_letters_is_marked(tmp_path, name, separator):
    table = Table.from_arrays([["größe", "=1"], ["x", None]], columns=["a", "b"])
    write_for_spreadsheet(table, tmp_path / name)
    lines = (tmp_path / name).read_bytes().decode("utf-8").splitlines()
    assert lines[:2] == [f"\ufeffa{separator}b", f"größe{separator}'=1"]
    assert Table.read(tmp_path / name).column_names == ("a", "b")  # the mark is not part of a name
    plain = Table.from_arrays([["x", "=1"], ["y", None]], columns=["a", "b"])
    write_for_spreadsheet(plain, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"a")


def test_a_workbook_needs_no_guard(tmp_path):
    pytest.importorskip("openpyxl")
    table = Table.from_arrays([["größe", "=1"], ["x", "y"]], columns=["a", "b"])
    write_for_spreadsheet(table, tmp_path / "t.xlsx")
    assert sorted(Table.read(tmp_path / "t.xlsx").columns[1].categories) == ["=1", "y"]
