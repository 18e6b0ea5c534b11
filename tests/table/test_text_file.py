"""Files as people write them: encodings, decimal commas, and dates with the day first."""

import pytest

from cellworth import Prices, Table
from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.table.files import FileBytes
from cellworth.table.text_file import TextFile, likely_date_formats, strptime_format


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
    assert read.to_csv().splitlines()[1:] == ["2020-08-26,1", "2020-07-04,2"]


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
