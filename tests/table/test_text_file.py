"""Files as people write them: encodings, decimal commas, and dates with the day first."""

import warnings
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import Prices, Table
from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.table import Column, read_csv
from cellworth.table.dates import likely_date_formats, restores, strptime_format
from cellworth.table.files import FileBytes
from cellworth.table.text_file import TextFile

FORMATS = ("DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YY", "%d %b %Y", "YYYY.MM.DD", "%j.%Y")


def table(text, row_id=None, **written):
    content = text if isinstance(text, bytes) else text.encode()
    return Table.read(TextFile(FileBytes("t.csv", content), **written), row_id=row_id)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_other_encodings_are_recognised_and_said(encoding):
    with pytest.warns(ReadWarning, match=r"t\.csv is not UTF-8.*Windows-1252.*'Köln' on line 2"):
        read = table("city,x\nKöln,1\nBonn,2\n".encode(encoding))
    assert read.columns[0].categories == ("Bonn", "Köln")


def test_damaged_utf_8_is_not_taken_for_another_encoding():
    with pytest.raises(DataError, match=r"line 3 .*expected utf-8 text, got the byte 0xe9"):
        table("city,x\nKöln,1\n".encode() + b"caf\xe9,2\n")
    with pytest.raises(DataError, match=r"line 2 .*expected utf-8 text"):
        table(b"city,x\n\x81,2\n")  # no letter in Windows-1252


def test_decimal_commas_and_grouped_thousands():
    read = table("id;price;note\n1.000;1.234,5;a\n2.000;0,5;b\n", row_id="id", decimal=",")
    assert read.values[:, 0].tolist() == [1234.5, 0.5]
    assert read.row_ids == ("1.000", "2.000")  # names stay as they are
    for text in ("1 234,5", "1'234,5", "1234,5", "1\u202f234,5"):
        assert table(f"a;b\n{text};1\n", decimal=",").values[0, 0] == 1234.5


@pytest.mark.parametrize(
    ("text", "date_format"),
    [("26.08.2020", "DD.MM.YYYY"), ("08/26/20", "MM/DD/YY"), ("26.8.2020", "%d.%m.%Y")],
)
def test_dates_in_a_stated_format(text, date_format):
    read = table(f"seen,x\n{text},1\n2020-07-04,2\n", date_format=date_format)
    assert read.columns[0].kind == "date"
    days = [read.columns[0].format(day).isoformat() for day in read.values[:, 0]]
    assert days == ["2020-08-26", "2020-07-04"]


def test_dates_in_another_format_are_refused_with_a_hint():
    with pytest.raises(DataError, match=r"'26\.08\.2020' looks like a date.*date_format='DD\.MM\.YYYY'"):
        table("seen,x\n26.08.2020,1\n04.07.2020,2\n")
    with pytest.raises(DataError, match=r"date_format='DD/MM/YYYY' or date_format='MM/DD/YYYY'"):
        table("seen,x\n04/07/2020,1\n")
    assert likely_date_formats(["26.08.2020", "unknown"]) == ()


@pytest.mark.parametrize("text", ["", "DD.MM", "%H:%M", "%d.%m.%Y %Q"])
def test_a_format_needs_day_month_and_year(text):
    with pytest.raises(ParameterError, match="date_format must have"):
        strptime_format(text)


def test_price_lists_may_use_any_separator_and_a_decimal_comma():
    file = TextFile(FileBytes("p.csv", b"column;price\nage;1.234,50\n"), decimal=",")
    assert Prices.read(file).cells.prices == {"age": 1234.5}
    with pytest.raises(ParameterError, match="decimal must be"):
        TextFile(FileBytes("p.csv", b""), decimal=";")


@pytest.mark.parametrize(
    ("text", "date_format", "pattern"),
    [
        ("seen,x\n26.08.2020,1\n,2\n01.02.2021,3\n", "DD.MM.YYYY", "%d.%m.%Y"),
        ("seen,x\n04/07/2020,1\n,2\n12/31/2021,3\n", "MM/DD/YYYY", "%m/%d/%Y"),
        ("seen,x\n26.08.2020 10:30,1\n,2\n01.02.2021 00:00,3\n", "DD.MM.YYYY hh:mm", "%d.%m.%Y %H:%M"),
    ],
)
def test_dates_are_written_as_they_came(tmp_path, text, date_format, pattern):
    (tmp_path / "t.csv").write_text(text)
    table = Table.read(tmp_path / "t.csv", date_format=date_format)
    assert table.columns[0].date_format == pattern
    assert table.to_csv() == text
    table.write(tmp_path / "again.csv")
    assert Table.read(tmp_path / "again.csv", **table.keywords()).equals(table)


def test_a_date_may_be_written_as_in_the_table_or_in_iso():
    column = Column("seen", "date", whole_days=True, date_format="%d.%m.%Y")
    assert column.expected == "a date such as 31.12.2020 without a time"
    assert column.parse("26.08.2020") == column.parse("2020-08-26")
    with pytest.raises(DataError, match=r"such as 31\.12\.2020"):
        column.parse("08/26/2020")


def test_dates_of_frames_and_arrays_in_a_format():
    table = Table.from_arrays(
        [["26.08.2020", 1.0], ["04.07.2020", 2.0]], columns=["seen", "x"], date_format="DD.MM.YYYY"
    )
    assert table.columns[0].kind == "date"
    assert table.to_csv().splitlines()[1:] == ["26.08.2020,1.0", "04.07.2020,2.0"]
    frame = pytest.importorskip("pandas").DataFrame({"seen": ["26.08.2020", None], "x": [1, 2]})
    assert Table.from_frame(frame, date_format="%d.%m.%Y").columns[0].date_format == "%d.%m.%Y"


def test_a_parquet_file_keeps_the_format(tmp_path):
    pytest.importorskip("pyarrow")
    table = Table.from_arrays([["26.08.2020", 1.0], ["04.07.2020", 2.0]], date_format="DD.MM.YYYY")
    table.write(tmp_path / "t.parquet")
    assert Table.read(tmp_path / "t.parquet").columns[0].date_format == "%d.%m.%Y"


@pytest.mark.parametrize("date_format", ["%Y-%d-%m", "%Y-%m-%d"])
def test_a_format_that_could_be_taken_for_iso_is_read_but_not_written(date_format):
    """Otherwise 2020-07-04 in an answer could mean two days."""
    read = table("seen,x\n2020-12-07,1\n2020-11-08,2\n", date_format=date_format)
    assert read.columns[0].date_format is None


def test_a_format_that_would_lose_the_time_is_not_kept():
    read = table("seen,x\n26.08.2020,1\n2020-07-04T10:30,2\n", date_format="DD.MM.YYYY")
    assert read.columns[0].date_format == "%Y-%m-%dT%H:%M"


@given(st.lists(st.dates(date(1970, 1, 1), date(2068, 12, 31)), min_size=1), st.sampled_from(FORMATS))
def test_any_date_comes_back_in_any_format(days, written):
    """Two-digit years stand for 1969 to 2068."""
    pattern = strptime_format(written)
    texts = [day.strftime(pattern) for day in days]
    column = Column("seen", "date", whole_days=True, date_format=pattern)
    numbers = np.array([column.parse(text) for text in texts])
    assert [column.format(number) for number in numbers] == days
    assert column.texts(numbers) == texts
    assert restores(pattern, numbers, whole=True)


def test_decimal_marks_and_formats_as_keywords(tmp_path):
    (tmp_path / "t.csv").write_text("size;seen\n1.234,5;26.08.2020\n;04.07.2020\n")
    plain = Table.read(tmp_path / "t.csv", delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    stated = TextFile(tmp_path / "t.csv", delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    assert plain.equals(Table.read(stated))
    assert plain.read_options == Table.read(stated).read_options
    assert plain.values[0, 0] == 1234.5
    with pytest.raises(ParameterError, match="decimal must be a point or a comma"):
        Table.read(tmp_path / "t.csv", decimal=";")
    with pytest.raises(ParameterError, match="date_format must have a day"):
        Table.read(tmp_path / "t.csv", date_format="DD.MM")


def test_dates_without_leading_zeros_come_back_without(tmp_path):
    text = "id,seen,sent,x\na,4.7.2020,04.07.2020,1\nb,12.11.2021,12.11.2021,2\nc,,,3\n"
    (tmp_path / "t.csv").write_text(text)
    table = Table.read(tmp_path / "t.csv", row_id="id", date_format="DD.MM.YYYY")
    assert table.to_csv().splitlines()[1] == "a,4.7.2020,04.07.2020,1"
    assert table.columns[0].parse("5.6.2021") == table.columns[0].parse("05.06.2021")
    for suffix in ("csv", "parquet"):
        table.write(tmp_path / f"again.{suffix}")
        assert Table.read(tmp_path / f"again.{suffix}", **table.keywords()).equals(table)


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
