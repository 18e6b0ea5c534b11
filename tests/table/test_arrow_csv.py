"""The quick reader gives what the plain one gives: the same table, the same warnings, the same error."""

import sys
import warnings
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError, ParameterError
from cellworth.table import Table, arrow_csv, read_csv
from cellworth.table.files import FileBytes
from cellworth.table.text_file import TextFile

pytest.importorskip("pyarrow")

NUMBERS = [
    "0", "-0", "7", "007", "-12", "+3", "1.0", "2.5", "-0.0", ".5", "5.", "1e3", "1E-2", "1e400", "9" * 25,
    "9007199254740993", "0.1", "123456.789012345678", "4.9e-324", "-9", "-9.0", " 8", "9\t", "1_000",
    "0x10", "0X1f", "inf", "-Infinity", "nan(1)", "\u0661",
]  # fmt: skip
OTHERS = [
    "", "  ", "NA", "nan", "-NaN", "None", "?", "n/a", "red", "blue", " red ", "Yes", "no", "NO", "true",
    "FALSE", "2020-01-02", "2020-01-02T10:30", "2020-01-02 10:30:15", "2020-02-30", "26.08.2020", "1,5",
    " 2020-03-01 ", "0000-01-01", "2020-1-5", 'a"b', "caf\u00e9", "\u00a0x", "x\x0b", "\x1f3",
]  # fmt: skip
COMMAS = ["1,5", "-2,25", "1.234,5", "1.234", "12", "5,", ",5", "-,5", "1,e3", "1,5e3", "+3,5", "0,0", "1,0"]
DAYS = ["2020-01-02", "2021-12-31", "", "NA", " 2020-03-01 ", "2020-01-02"]
FIELDS = [
    st.sampled_from([*COMMAS, ""]),
    st.sampled_from(COMMAS[:2]),
    st.sampled_from(DAYS),
    st.sampled_from(["26.08.2020", "1.2.2021", "", "NA"]),
    st.sampled_from([*NUMBERS[:14], "", ""]),
    st.sampled_from(NUMBERS + OTHERS),
    st.sampled_from(OTHERS),
    st.floats(allow_nan=False).map(repr),
    st.integers().map(str),
]
KEYWORDS = [
    {}, {"missing": ["?"]}, {"missing": [-9]}, {"missing": ["-9", "?", "NO"]}, {"missing": {"c0": ["?", 7]}},
    {"kinds": {"c0": "number"}}, {"kinds": {"c0": "integer"}}, {"kinds": {"c0": "category", "c1": "boolean"}},
    {"kinds": {"c1": "date"}}, {"kinds": {"c0": "date"}}, {"missing": ["2020-01-02"]}, {"row_id": "c0"},
    {"categories": {"c0": ["red", "blue", "NA"]}}, {"target": "c0"},
    {"row_id": "c1"}, {"bounds": {"c0": (0, 5)}}, {"missing": "inf"},
]  # fmt: skip


@st.composite
def files(draw):
    """Draw the bytes of a file of two columns, mostly plain, sometimes damaged, and how to read it."""
    fields = [draw(st.sampled_from(FIELDS)) for _ in range(draw(st.integers(1, 3)))]
    rows = draw(st.lists(st.tuples(*fields), min_size=1, max_size=12))
    delimiter = draw(st.sampled_from([",", ",", ";", "\t"]))
    if draw(st.booleans()):
        rows = [tuple(_quoted(draw, field) for field in row) for row in rows]
    lines = [delimiter.join(f" c{place} " if place else "c0" for place in range(len(fields)))]
    lines += [delimiter.join(row) for row in rows]
    damage = draw(st.sampled_from(["", "", "", "blank", "ragged", "quotes", "first"]))
    if damage:
        place = draw(st.integers(1, len(lines) - 1))
        lines.insert(
            0 if damage == "first" else place,
            {"blank": "", "first": "", "ragged": "1", "quotes": delimiter.join(['"1"'] * len(fields))}[
                damage
            ],
        )
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join(lines) + draw(st.sampled_from(["", end, 2 * end]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    content = text.encode(encoding, errors="ignore")
    stated = draw(st.sampled_from([None, encoding]))
    decimal = draw(st.sampled_from([".", ".", ".", ","]))
    given = None if delimiter == "," and draw(st.booleans()) else delimiter
    dates = draw(st.sampled_from([None, None, None, "DD.MM.YYYY", "YYYY-DD-MM", "%d%m%Y", "YYYY-MM-DD"]))
    file = TextFile(FileBytes("t.csv", content), stated, given, decimal, dates)
    return file, draw(st.sampled_from(KEYWORDS))


def _quoted(draw, field):
    """Quote a field or not, well or badly; a quoted one may hold separators, quotes and line ends."""
    inside = draw(st.sampled_from(["", "", "", "", ",", ";", '""', "\n", "\r\n", ' ""x""', "\n\n"]))
    ways = ["{0}", '"{0}"', '"{0}"', '"{0}{1}"', '"{1}{0}"', ' "{0}"', '"{0}" ', '"{0}']
    return draw(st.sampled_from(ways[:5] * 4 + ways)).format(field.replace('"', '""'), inside)


def outcome(file, keywords):
    """Return the table or the message, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = Table.read(file, **keywords)
        except (DataError, ParameterError) as error:
            result = str(error)
    return result, [str(warning.message) for warning in caught]


def same(first, second):
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    labels = [np.zeros(0) if table.y is None else table.y for table in (first, second)]
    return (
        first.equals(second)
        and first.values.tobytes() == second.values.tobytes()
        and labels[0].tobytes() == labels[1].tobytes()
        and first.keywords() == second.keywords()
    )


@settings(max_examples=500, deadline=None)
@given(files())
def test_both_readers_give_the_same(monkeypatch_module, case):
    plain, said = outcome(*case)
    monkeypatch_module.setattr(read_csv, "FEWEST_BYTES", 0)
    quick, heard = outcome(*case)
    monkeypatch_module.undo()
    assert same(plain, quick), (plain, quick)
    assert said == heard


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def many(rows, field):
    return "a,b\n" + "".join(f"{field(row)},{row % 7}\n" for row in range(rows))


@pytest.mark.parametrize(
    "text",
    [
        many(3000, lambda row: "2.5" if row == 2900 else row),  # an integer column, but for one
        many(3000, lambda row: "x" if row in (2900, 2950) else row / 8),
        many(3000, lambda row: f"{row}.0"),
        many(3000, lambda row: 10**17 + row),
        many(3000, lambda row: 10**20 + row),
        many(3000, lambda row: ["red", "green ", "blue", ""][row % 4]),
        many(3000, lambda row: f"2020-01-{1 + row % 28:02}"),
        many(3000, lambda row: "a" * 140_000 if row == 1500 else row),  # longer than a field may be
    ],
)
def test_columns_that_a_sample_misjudges(monkeypatch, text):
    file = FileBytes("t.csv", text.encode())
    plain = outcome(file, {})
    monkeypatch.setattr(read_csv, "FEWEST_BYTES", 0)
    assert same(plain[0], outcome(file, {})[0])


@pytest.mark.parametrize(
    ("fields", "how"),
    [
        (["2020-01-02", "2021-03-04", ""], {"date_format": "YYYY-DD-MM"}),  # 1 February
        (["2020-01-02", "2021-03-04", ""], {"date_format": "DD.MM.YYYY"}),
        (["31122020", "01022021", ""], {"date_format": "DDMMYYYY"}),  # not numbers
        (["31,122020", "01,022021", ""], {"date_format": "DD,MMYYYY", "decimal": ","}),
        (["26.08.2020", "NA", "1.2.2021"], {"date_format": "DD.MM.YYYY", "decimal": ","}),
        (["7,5", "1.234,5", "1.234"], {"decimal": ","}),
        (["7,50", "1,25", ""], {"decimal": ","}),
        (["7.5", "1.5", ""], {"decimal": ","}),
    ],
)
def test_other_ways_to_write_numbers_and_dates_mean_the_same(monkeypatch, fields, how):
    text = "a;b\n" + "".join(f"{fields[row % len(fields)]};{row}\n" for row in range(30))
    compare(monkeypatch, TextFile(FileBytes("t.csv", text.encode()), delimiter=";", **how), {})


@pytest.mark.parametrize(
    ("usual", "odd", "how", "keywords"),
    [
        ("2020-01-02", "0000-01-01", {}, {}),
        ("2020-01-02", "2020-02-30", {}, {}),
        ("2020-01-02", "2021-01-01", {}, {"missing": ["2021-01-01"]}),
        ("2020-01-02", "2021-01-01T10:30", {}, {}),
        ("7,5", "7,", {"decimal": ","}, {}),
        ("7,5", ",5", {"decimal": ","}, {}),
        ("7,5", "7,e1", {"decimal": ","}, {}),
        ("7", ",5", {"decimal": ","}, {}),
        ("7,5", "1.234,5", {"decimal": ","}, {}),
    ],
)
def test_fields_that_no_sample_shows(monkeypatch, usual, odd, how, keywords):
    text = "a;b\n" + "".join(f"{odd if row == 2900 else usual};{row}\n" for row in range(3000))
    compare(monkeypatch, TextFile(FileBytes("t.csv", text.encode()), delimiter=";", **how), keywords)


def compare(monkeypatch, file, keywords):
    """Read a file in both ways."""
    plain = outcome(file, keywords)
    monkeypatch.setattr(read_csv, "FEWEST_BYTES", 0)
    quick = outcome(file, keywords)
    assert same(plain[0], quick[0]), (plain[0], quick[0])
    assert plain[1] == quick[1]
    if isinstance(plain[0], Table):
        assert plain[0].to_csv() == quick[0].to_csv()


@pytest.mark.parametrize(
    "how", [{"date_format": "DD.MM.YYYY"}, {"date_format": "YYYY-DD-MM"}, {"decimal": ","}]
)
def test_they_are_read_quickly_too(monkeypatch, how):
    """Otherwise the test above compares the plain reader with itself."""
    monkeypatch.setattr(read_csv, "FEWEST_BYTES", 0)
    monkeypatch.setattr(read_csv, "_split", None)
    text = b"a;b\n01.02.2020;1,5\n;2,5\n" if "YYYY-DD-MM" not in how.values() else b"a;b\n2020-01-02;1\n;2\n"
    how = {"date_format": "DD.MM.YYYY", "decimal": ","} | how
    assert Table.read(TextFile(FileBytes("t.csv", text), delimiter=";", **how)).values[0, 0] == 18293


def test_plain_files_are_read_quickly(monkeypatch):
    """Otherwise the tests above compare the plain reader with itself."""
    text = many(500, lambda row: ["1.5", "", "NA", "-2"][row % 4])
    found = arrow_csv.parse_quickly(text.encode(), ",", arrow_csv.Wishes())
    assert found is not None
    names, cells, lines = found
    assert lines == range(2, 502)
    assert names == ["a", "b"]
    assert [each.numbers.kind for each in cells] == ["number", "integer"]
    assert np.isnan(cells[0].numbers.values).sum() == 250
    assert list(cells[0].texts[:4]) == ["1.5", "", "NA", "-2"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert arrow_csv.parse_quickly(text.encode(), ",", arrow_csv.Wishes()) is None


def test_files_of_other_countries_are_read_quickly():
    rows = "".join(f"{row},5;{row % 28 + 1}.12.2020;2020-12-{row % 28 + 1:02}\n" for row in range(300))
    commas = arrow_csv.Wishes(decimal=",")
    found = arrow_csv.parse_quickly(f"a;b;c\n{rows}".encode(), ";", commas)
    np.testing.assert_array_equal(found.cells[0].numbers.values, np.arange(300) + 0.5)
    assert [cell.numbers and cell.numbers.kind for cell in found.cells] == ["number", None, "date"]
    assert found.cells[2].numbers.values[0] == (date(2020, 12, 1) - date(1970, 1, 1)).days
    formatted = arrow_csv.parse_quickly(f"a;b;c\n{rows}".encode(), ";", replace(commas, iso_dates=False))
    assert formatted.cells[2].numbers is None  # the user's format may read them otherwise


@pytest.mark.parametrize("field", ["7,", ",7", "-,7", "7,e1", "7, ", '"7,"'])
@pytest.mark.parametrize("size", [3, arrow_csv._BLOCK - 9, arrow_csv._BLOCK - 8, arrow_csv._BLOCK - 7])
def test_commas_that_only_pyarrow_takes_for_decimal_marks_are_found(field, size):
    fine = "a;b\n" + "1,5;x\n" * (size // 6)
    assert not arrow_csv._has_bare_commas(fine.encode(), ";")
    padded = fine + "y" * (size - len(fine) % 6)
    for text in (f"{padded};{field}", f"{padded};{field};z\n", f"{padded}\n{field}\n"):
        assert arrow_csv._has_bare_commas(text.encode(), ";")
    assert not arrow_csv._has_bare_commas(f"{padded};red, blue;x,y\n".encode(), ";")


def test_quoted_fields_are_read_quickly_and_lines_are_counted():
    text = '"a ""b""",b\n' + "".join(f'"{row}, or\nmore","{row / 2}"\n' for row in range(300))
    found = arrow_csv.parse_quickly(text.encode(), ",", arrow_csv.Wishes())
    assert found.names == ['a "b"', "b"]
    assert found.lines[:3] == [2, 4, 6]
    assert list(found.cells[0].texts[:2]) == ["0, or\nmore", "1, or\nmore"]
    np.testing.assert_array_equal(found.cells[1].numbers.values, np.arange(300) / 2)


@pytest.mark.parametrize("row", ['1," 2"x', '1, "2"', '1,2"3', '1,"2', '"1""",2"', '1,"2"3"'])
def test_odd_quotes_are_left_to_the_plain_reader(row):
    assert arrow_csv.parse_quickly(f'a,b\n"3","4"\n{row}\n5,6'.encode(), ",", arrow_csv.Wishes()) is None
