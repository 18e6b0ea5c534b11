"""Files whose first line may be missing, and columns without a name."""

import warnings

import pytest

from cellworth import Prices, Table
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


def test_the_line_that_tells_excel_the_separator_is_understood(tmp_path):
    for start in ("sep=;\n", "\ufeffSEP=;\r\n", '"sep=;"\n'):
        assert read(f"{start}a;b\n1;2\n3;\n").to_csv() == "a,b\n1,2\n3,\n"
    with pytest.raises(DataError, match=r"line 4"):
        read("sep=;\na;b\n1;2\n3;4;5\n")
    path = tmp_path / "p.csv"
    path.write_text("sep=;\ncolumn;price\na;2\n")
    assert Prices.read(path).cells.prices == {"a": 2.0}


@pytest.mark.parametrize("text", ["Report of May\nid,a,b\n1,2,3\n", "Report,,\nid,a,b\n1,2,3\n"])
def test_a_title_above_the_names_is_refused(text):
    with pytest.raises(DataError, match=r"t\.csv, line 1: expected the names of 3 columns, got only 'Rep"):
        read(text)


@pytest.mark.parametrize(
    "texts", [["45 %", "50 %", ""], ["1.80 m", "2 m", "2 m"], ["$1,250.00", "$3"], ["<0.5", ">100", "< 1"]]
)
def test_numbers_with_something_beside_them_are_noticed(texts):
    lines = "".join(f'{row},"{text}"\n' for row, text in enumerate(texts))
    with pytest.warns(ReadWarning, match=r"column 'a': .* looks like a number with something beside it"):
        assert read(f"n,a\n{lines}").columns[1].kind == "category"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(f"n,a\n{lines}", kinds={"a": "category"})
    many = "".join(f"{row},{row + 0.5} mg\n" for row in range(20))
    with pytest.raises(DataError, match=r"'0.5 mg' looks like a number"):
        read(f"n,a\n{many}")


@pytest.mark.parametrize(
    "texts", [["3a", "3b"], ["18-25", "26-40"], ["I", "II"], ["5 mg", "red"], ["5 mg", "5 m"]]
)
def test_other_texts_with_digits_are_categories(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read("a,n\n" + "".join(f"{text},1\n" for text in texts)).columns[0].kind == "category"
