"""Delimited files, as tables and as lists."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError
from cellworth.table import Table
from cellworth.table.read_csv import likely_row_id, likely_settings, read_lines
from cellworth.table.write_csv import guard, write_lines

from .tables import read, texts


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"a,b\r\n1,2\r\n",
        b"a,b\r1,2\r",
        b" a , b \n 1 , 2 \n",
        b'"a","b"\n"1","2"\n',
        b"\n\na,b\n\n1,2\n\n",
        b"a,b\n1,2",
    ],
)
def test_files_as_programs_write_them(tmp_path, text):
    table = read(tmp_path, text)
    assert table.column_names == ("a", "b")
    assert table.values.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("name", "text", "keywords"),
    [
        ("t.tsv", "a\tb\n1\t2\n", {}),
        ("t.txt", "a\tb\n1\t2\n", {}),
        ("t.txt", "a,b\n1,2\n", {}),
        ("t.csv", "a;b\n1;2\n", {"delimiter": ";"}),
        ("T.CSV", "a,b\n1,2\n", {}),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), {"encoding": "utf-16"}),
    ],
)
def test_separators_suffixes_and_encodings(tmp_path, name, text, keywords):
    assert read(tmp_path, text, name, **keywords).column_names == ("a", "b")


def test_latin_1(tmp_path):
    table = read(tmp_path, "a\ncaf\u00e9\n".encode("latin-1"), encoding="latin-1")
    assert table.columns[0].categories == ("caf\u00e9",)


def test_line_numbers_count_the_lines_of_quoted_fields(tmp_path):
    text = 'a,b\n"x\ny",1\n\nz,inf\n'
    with pytest.raises(ValueError, match=r"row '1' \(line 5\)"):
        read(tmp_path, text)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=5),
    st.sampled_from(["l.csv", "l.TSV", "l.txt", "l.csv.gz"]),
)
def test_lines_come_back_with_their_numbers(tmp_path_factory, lines, name):
    path = tmp_path_factory.mktemp("lists") / name
    write_lines(path, [("row", "value"), *(tuple(map(guard, line)) for line in lines)])
    read_back = list(read_lines(path, ["value", "row"]))
    assert [fields[::-1] for _, fields in read_back] == lines
    breaks = [sum(len(field.splitlines()) - 1 for field in line) for line in lines]
    if not any(breaks):
        assert [number for number, _ in read_back] == list(range(2, len(lines) + 2))


@pytest.mark.parametrize(
    "content",
    [
        b"Row;VALUE;note\r\na;1,5;x\r\n;;x\r\nb;2;\r\n",
        "note\tvalue\trow\nx\t1,5\ta\n\nz\t2\tb\n".encode("utf-16"),
        "\ufeffrow,value\na,'-3\nb,2\n".encode(),
    ],
)
def test_lists_as_spreadsheets_save_them(tmp_path, content):
    path = tmp_path / "list.csv"
    path.write_bytes(content)
    numbers, lines = zip(*read_lines(path, ["row", "value"]), strict=True)
    assert numbers in [(2, 4), (2, 3)]
    assert lines in [(("a", "1,5"), ("b", "2")), (("a", "-3"), ("b", "2"))]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            "row,val",
            r"line 1: expected a header with 'row', 'value'; 'value' is missing\. Did you mean 'val'\?",
        ),
        ("row,value,Value", "'value' appears more than once"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path, header, words):
    path = tmp_path / "list.csv"
    path.write_text(f"{header}\n" + ",".join("a" * (header.count(",") + 1)) + "\n")
    with pytest.raises(DataError, match=words):
        list(read_lines(path, ["row", "value"]))


def test_lists_are_no_parquet_files(tmp_path):
    with pytest.raises(DataError, match=r"ends in \.csv"):
        list(read_lines(tmp_path / "list.parquet", ["row"]))


def test_a_file_from_a_german_spreadsheet_is_told_all_it_needs_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id;size;seen\na;;4.7.2020\nb;1,5;31.12.2020\n")
    said = "delimiter=';', decimal=',' and date_format='DD.MM.YYYY'; for a file"
    with pytest.raises(DataError, match=re.escape(said)):
        Table.read(path)
    table = Table.read(path, row_id="id", delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    assert [column.kind for column in table.columns] == ["number", "date"]
    path.write_text("id;size\na;2\nb;1\n")
    with pytest.raises(DataError, match="Pass delimiter=';'; for a file"):
        Table.read(path)


@pytest.mark.parametrize(
    "text",
    [
        'id;"HbA1c; %";age\na;6,5;61\nb;7,1;44\n',  # a name that contains the separator
        '"id";"HbA1c";"age"\n"a";6,5;61\n"b";7,1;44\n',  # every text in quotes, as R writes it
        '"id";"HbA1c; %";"age"\n"a";6,5;61\n"b";7,1;44\n',
    ],
)
def test_quotes_do_not_hide_another_separator(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape("Pass delimiter=';' and decimal=','; for a file")):
        Table.read(path)
    assert likely_settings(text) == {"delimiter": ";", "decimal": ","}


def test_quotes_that_do_not_match_are_said_to(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id;note\na;"one\nb;two\n')
    with pytest.raises(DataError, match="delimiter=';'"):
        Table.read(path)
    path.write_text('id,note\na,"one\nb,two\n')
    with pytest.raises(DataError, match="unbalanced quotes"):
        Table.read(path)


@pytest.mark.parametrize(
    ("first", "named"),
    [
        (["a1", "a2", "a3", "a4", "a5"], True),
        (["a1", "a2", "a3", "a4"], False),  # too few to say
        (["f", "m", "f", "m", "f"], False),
        (["a1", "a2", "", "a4", "a5"], False),
        (["1", "2", "3", "4", "5"], False),  # may be values
        (["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"], False),
    ],
)
def test_a_first_column_of_different_texts_likely_names_the_rows(first, named):
    text = "who;size\n" + "".join(f"{each};1,5\n" for each in first)
    assert likely_row_id(text, ";") == ("who" if named else None)
    assert likely_row_id("", ";") is None
