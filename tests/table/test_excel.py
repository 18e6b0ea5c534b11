"""Excel workbooks in and out."""

import datetime
import io
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Prices, Table
from cellworth.errors import DataError, ReadWarning
from cellworth.table.files import FileBytes
from cellworth.table.read_csv import read_lines
from cellworth.table.text_file import TextFile
from cellworth.table.write_csv import write_lines

openpyxl = pytest.importorskip("openpyxl")


def test_a_table_round_trips(tmp_path):
    text = "id,n,k,b,c,d\n007,1.5,3,true,=1+1,2020-08-26\nb,,,,,\nc,-2,4,false,red,2021-01-01\n"
    table = Table.read(FileBytes("t.csv", text.encode()), row_id="id")
    table.write(tmp_path / "t.xlsx")
    assert Table.read(tmp_path / "t.xlsx", row_id="id").equals(table)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    values = [cell.value for cell in sheet[2]]
    assert values == ["007", 1.5, 3, "true", "=1+1", datetime.datetime(2020, 8, 26)]
    assert sheet["E2"].data_type == "s"  # text, not a formula


def test_formulas_that_nothing_has_computed_are_no_holes():
    book, content = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "age", "dose", "left blank"], ["a", "=40+1", 1], ["b", "=40+2", 2]):
        book.active.append(row)
    book.save(content)
    with pytest.raises(DataError, match=r"t\.xlsx, column 'age': its formulas have no stored results"):
        Table.read(FileBytes("t.xlsx", content.getvalue()), row_id="id")


def test_prices_and_lists_of_cells(tmp_path):
    prices = Prices.per_column({"age": 1.25, "mri": 350.0}, visit=5.0)
    prices.write(tmp_path / "p.xlsx")
    assert Prices.read(tmp_path / "p.xlsx") == prices
    write_lines(tmp_path / "asks.xlsx", [["row", "column", "price", "value"], ["1", "'=x", "2.5", ""]])
    book = openpyxl.load_workbook(tmp_path / "asks.xlsx")
    assert [cell.value for cell in book.worksheets[0][2]] == ["1", "=x", 2.5, None]
    book.worksheets[0]["D2"] = 7
    book.save(tmp_path / "asks.xlsx")
    assert list(read_lines(tmp_path / "asks.xlsx", ("row", "column", "value"))) == [(2, ("1", "=x", "7"))]


@settings(max_examples=60)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1), st.sampled_from([".", ","]))
def test_numbers_are_numbers_whatever_the_decimal_mark_of_texts(numbers, decimal):
    """Of cells that are numbers; 1.234 is not 1234 because people in the same file write 1,234."""
    book, content = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "dose"], *([f"r{k}", number] for k, number in enumerate(numbers))):
        book.active.append(row)
    book.active.append(["text", f"1{decimal}234"])
    book.save(content)
    file = FileBytes("t.xlsx", content.getvalue())
    table = Table.read(file, row_id="id", decimal=decimal, kinds={"dose": "number"})
    kept = [row[1] for row in openpyxl.load_workbook(content).active.iter_rows(2, values_only=True)][:-1]
    assert table.values[:, 0].tolist() == [*map(float, kept), 1.234]  # a workbook keeps 16 digits


@pytest.mark.parametrize("decimal", [".", ","])
def test_prices_and_answers_are_numbers_whatever_the_decimal_mark(tmp_path, decimal):
    book = openpyxl.Workbook()
    for row in (["row", "column", "value"], ["r1", "dose", 1.234], ["r2", "dose", f"2{decimal}345"]):
        book.active.append(row)
    book.save(tmp_path / "answers.xlsx")
    lines = read_lines(TextFile(tmp_path / "answers.xlsx", decimal=decimal), ("row", "column", "value"))
    assert [value for _, (_, _, value) in lines] == ["1.234", "2.345"]
    book = openpyxl.Workbook()
    for row in (["column", "price"], ["dose", 1.125]):
        book.active.append(row)
    book.save(tmp_path / "prices.xlsx")
    prices = Prices.read(TextFile(tmp_path / "prices.xlsx", decimal=decimal))
    assert prices == Prices.per_column({"dose": 1.125})


def test_what_is_not_a_workbook_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"t\.xlsx: .*workbook"):
        Table.read(FileBytes("t.xlsx", b"a,b\n1,2\n"))
    book = openpyxl.Workbook()
    book.active.append(["a" * 5000] * 3)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"larger than 0.001 MB"):
        Table.read(FileBytes("t.xlsx", (tmp_path / "t.xlsx").read_bytes(), most=1000))


@pytest.mark.parametrize("second", [None, "x"])
def test_other_sheets_with_values_are_named(second):
    book = openpyxl.Workbook()
    for line in (["a", "b"], [1, 2], [2, 3]):
        book.active.append(line)
    book.create_sheet("notes")["C7"] = second
    content = io.BytesIO()
    book.save(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert Table.read(FileBytes("t.xlsx", content.getvalue())).shape == (2, 2)
    told = [str(each.message) for each in told if issubclass(each.category, ReadWarning)]
    assert len(told) == (second is not None)
    assert all("only its first sheet, 'Sheet', was read, and not 'notes'" in each for each in told)
