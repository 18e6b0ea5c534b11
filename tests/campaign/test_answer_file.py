"""Lists of cells as files: what is written reads back, and every wrong line is named."""

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Campaign, Table
from cellworth.campaign.answer_file import (
    FileAnswer,
    FileResult,
    check_asks_path,
    parse_cells,
    read_answers,
    read_cells,
    write_asks,
)
from cellworth.errors import ConflictError, ConflictingAnswersError, DataError, WrongAnswersError
from cellworth.strategy import Purchase
from cellworth.strategy.batch import FIELDS
from tests.campaign.campaigns import VALUES, answers_to, begin, make_table

TABLE = make_table()


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).map(str.strip)


ODD_NAMES = NAMES.filter(bool) | st.builds("{}{}".format, st.sampled_from(["=", "+", "-", "@", "'="]), NAMES)


def write(folder, text, name="answers.csv", **keywords):
    (folder / name).write_text(text, newline="", **{"encoding": "utf-8"} | keywords)
    return folder / name


def filled(path, values):
    """Fill in the values of a file of asks; values by column."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = list(csv.DictReader(file))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**line, "value": values[line["column"]]} for line in lines)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def problems(path, table=TABLE):
    with pytest.raises(WrongAnswersError) as caught:
        read_answers(path, table)
    return [problem.removeprefix(f"{path}, ") for problem in caught.value.problems]


@settings(max_examples=60, deadline=None)
@given(
    row_ids=st.lists(ODD_NAMES, min_size=1, max_size=4, unique=True),
    columns=st.lists(ODD_NAMES, min_size=1, max_size=3, unique=True),
    suffix=st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz"]),
)
def test_a_file_of_asks_reads_back_as_the_cells_that_were_asked_for(
    tmp_path_factory, row_ids, columns, suffix
):
    # As frames and files have them, which no table takes as names.
    if any(name.casefold() in ("nan", "nat") or name.lstrip("+-").casefold() == "nan" for name in row_ids):
        return
    table = Table.from_arrays([[1.5] * len(columns)] * len(row_ids), columns=columns, row_ids=row_ids)
    batch = [
        Purchase(row, column, 1.0, 0.5, why="=why") for row in table.row_ids for column in table.column_names
    ]
    path = tmp_path_factory.mktemp("asks") / f"asks{suffix}"
    write_asks(path, batch)
    cells = [(each.row, each.column) for each in batch]
    assert read_cells(path, table) == cells
    assert [answer[1:] for answer in read_answers(path, table)] == [(*cell, None) for cell in cells]
    content = gzip.decompress(path.read_bytes()) if suffix.endswith("gz") else path.read_bytes()
    separator = "\t" if suffix == ".tsv" else ","
    for line in csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator):
        assert not any(field.startswith(("=", "+", "-", "@")) for field in line)


def test_a_campaigns_asks_are_told_from_the_filled_file(tmp_path):
    campaign = begin()
    batch = campaign.ask(count=12)
    path = tmp_path / "asks.csv"
    write_asks(path, batch)
    assert campaign.tell_file(path) == FileResult(new=0, known=0, blank=12)
    assert campaign.number == 1
    filled(path, VALUES)
    assert campaign.tell_file(path, who="laboratory") == FileResult(new=12, known=0, blank=0)
    assert campaign.tell_file(path) == FileResult(new=0, known=12, blank=0)
    twin = begin()
    twin.ask(count=12)
    twin.tell(answers_to(batch))
    assert campaign.table.equals(twin.table)
    assert campaign.spent == twin.spent
    assert [event["who"] for event in campaign.history()] == [None, "laboratory"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_as_spreadsheets_write_them(tmp_path, end, separator, encoding):
    lines = ["Value,why,ROW,Column,", "II,because,p1,stage,", "", ",,,,", " 47 ,,p2,age,x", ",,p3,age,"]
    text = end.join(lines).replace(",", separator) + end
    path = write(tmp_path, text, encoding=encoding)
    assert read_answers(path, TABLE) == [
        FileAnswer(2, "p1", "stage", "II"),
        FileAnswer(5, "p2", "age", "47"),
        FileAnswer(6, "p3", "age", None),
    ]


def test_another_encoding_is_passed(tmp_path):
    table = Table.from_arrays([[1.5]], columns=["größe"], row_ids=["a"])
    path = write(tmp_path, "row,column,value\na,größe,2\n", encoding="latin-1")
    with pytest.raises(
        DataError, match=r"line 2 .*expected utf-8 text, got the byte 0xf6.*encoding='latin-1'"
    ):
        read_answers(path, table, encoding="utf-8")
    assert read_answers(path, table, encoding="latin-1") == [FileAnswer(2, "a", "größe", "2")]


def test_every_wrong_line_is_named(tmp_path):
    text = (
        "row,column,value\np1,dose,1.5\nq,dose,1\np1,dos,1\np1,outcome,dead\n,dose,1\np1,,1\np1,dose,much\n"
        'p1,dose,2.5\n"p\n1",dose,1\np2,age,1.5\n'
    )
    found = problems(write(tmp_path, text))
    beginnings = [
        "line 3, column 'row': There is no row 'q'.",
        "line 4, column 'column': There is no column 'dos'. Did you mean 'dose'?",
        "line 5, column 'value': row 'p1', column 'outcome': expected one of 'ill', 'well', got 'dead'",
        "line 6, column 'row': expected the name of a row, got a blank.",
        "line 7, column 'column': expected the name of a column, got a blank.",
        "line 8, column 'value': row 'p1', column 'dose': expected a number",
        "line 9, column 'value': row 'p1', column 'dose' has a different value on line 2.",
        "line 10, column 'row': There is no row 'p\\n1'.",
        "line 12, column 'value': row 'p2', column 'age': expected a whole number",
    ]
    assert len(found) == len(beginnings)
    for problem, beginning in zip(found, beginnings, strict=True):
        assert problem.startswith(beginning)


def test_a_check_says_what_telling_will_do_and_records_nothing(tmp_path):
    campaign = begin(budget=None)
    batch = campaign.ask(count=4)
    write_asks(tmp_path / "asks.csv", batch)
    path = filled(tmp_path / "asks.csv", VALUES)
    campaign.tell(dict([next(iter(answers_to(batch).items()))]))
    number = campaign.number
    checked = campaign.check_file(path)
    assert campaign.number == number
    told = campaign.tell_file(path)
    assert (len(checked.new), checked.known, checked.blank) == (told.new, told.known, told.blank)
    recorded = [(cell["row"], cell["column"]) for cell in campaign.history()[-1]["cells"]]
    assert sorted(line[1:3] for line in checked.new) == sorted(recorded)
    again = campaign.check_file(path)
    assert (again.new, again.known) == ([], 4)


def test_the_same_value_twice_is_one_answer(tmp_path):
    campaign = begin()
    (each,) = campaign.ask(count=1)
    value = VALUES[each.column]
    path = write(tmp_path, "row,column,value\n" + f"{each.row},{each.column},{value}\n" * 2)
    assert campaign.tell_file(path) == FileResult(new=1, known=0, blank=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty file"),
        ("row,column,value\n", "got only line 1"),
        ("row,column,valeu\np1,dose,1\n", "line 1: .*'value' is missing. Did you mean 'valeu'?"),
        ("row,row,column,value\np1,p1,dose,1\n", "line 1: .*'row' appears more than once"),
        ("row,column,value\np1,dose\n", "line 2: expected 3 fields"),
        ('row,column,value\np1,dose,"1\n', "line 2: the row that begins here has unbalanced quotes"),
        ("row,column,value\np1,dose,\0\n", "line 2: expected text, got a NUL"),
        ("row,column,value\np1,dose," + "1" * 200_000 + "\n", "line 2: a field .* is longer than"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_their_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=message) as caught:
        read_answers(path, TABLE)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("name", ["answers.ods", "answers.parquet", "answers", "no/answers.csv"])
def test_only_lists_that_can_be_written_are(tmp_path, name):
    with pytest.raises(DataError, match=name):
        check_asks_path(tmp_path / name)
    with pytest.raises(DataError, match=name):
        write_asks(tmp_path / name, [])
    with pytest.raises(DataError, match=name):
        read_answers(tmp_path / name, TABLE)
    assert list(tmp_path.iterdir()) == []


def test_what_the_campaign_does_not_take_is_named_by_line(tmp_path):
    campaign = begin()
    batch = campaign.ask(count=3)
    campaign.tell(answers_to(batch[:1]))
    never = next(
        (row, "dose")
        for row, hole in zip(TABLE.row_ids, TABLE.holes[:, 0], strict=True)
        if hole and (row, "dose") not in {(each.row, each.column) for each in batch}
    )
    other = {"dose": "1", "age": "1", "stage": "I", "hue": "red", "smokes": "no", "visit": "2020-01-01"}
    known = f"{batch[0].row},{batch[0].column},{other[batch[0].column]}"
    right = f"{batch[1].row},{batch[1].column},{VALUES[batch[1].column]}"
    path = write(tmp_path, f"row,column,value\n{right}\n{known}\n")
    with pytest.raises(ConflictingAnswersError, match=r"line 3, column 'value': .*Use correct") as caught:
        campaign.tell_file(path)
    assert isinstance(caught.value, ConflictError)
    assert not isinstance(caught.value, DataError)
    path = write(tmp_path, f"row,column,value\n{right}\n{known}\n{never[0]},{never[1]},1\n")
    with pytest.raises(WrongAnswersError) as wrong:
        campaign.tell_file(path)
    assert [problem.removeprefix(f"{path}, ")[:6] for problem in wrong.value.problems] == ["line 3", "line 4"]
    assert "column 'row'" in wrong.value.problems[1]
    path = write(tmp_path, f"row,column,value\n{right}\n{known}\nnobody,{batch[1].column},1\n")
    for act in (campaign.tell_file, campaign.check_file):
        with pytest.raises(WrongAnswersError) as both:
            act(path)
        assert [problem.split(", ")[1] for problem in both.value.problems] == ["line 3", "line 4"]
        assert "Use correct" in both.value.problems[0]
        assert "no row 'nobody'" in both.value.problems[1]
    assert [event.kind for event in campaign.events()] == ["asked", "told", "contradicted"]


def test_a_key_that_is_taken_is_no_fault_of_a_line(tmp_path):
    campaign = begin()
    batch = campaign.ask(count=2)
    campaign.tell(answers_to(batch[:1]), key="k")
    path = write(tmp_path, f"row,column,value\n{batch[1].row},{batch[1].column},{VALUES[batch[1].column]}\n")
    with pytest.raises(ConflictError, match="the key 'k' was used before") as caught:
        campaign.tell_file(path, key="k")
    assert not isinstance(caught.value, ConflictingAnswersError)
    assert campaign.number == 2


def test_cells_are_found_by_row_and_column():
    table = Table.from_arrays([[1.0, 2.0]] * 3, columns=["a", "b:a"], row_ids=["x", "x:b", "=y"])
    assert parse_cells(["x:a", "=y:b:a"], table) == [("x", "a"), ("=y", "b:a")]
    with pytest.raises(DataError, match="several cells"):
        parse_cells(["x:b:a"], table)
    with pytest.raises(DataError, match="expected a cell as ROW:COLUMN"):
        parse_cells(["x"], table)
    with pytest.raises(DataError, match="no row 'z'"):
        parse_cells(["z:a"], table)
    with pytest.raises(DataError, match="no column 'c'"):
        parse_cells(["x:c"], table)


def test_answers_may_be_written_as_the_table_was(tmp_path):
    (tmp_path / "t.csv").write_text("id;dose;seen\na;1,5;4.7.2020\nb;;\nc;2,5;12.12.2020\n")
    table = Table.read(tmp_path / "t.csv", row_id="id", delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    with Campaign.create(table, strategy="random", store=tmp_path / "s.db") as campaign:
        campaign.ask(count=2)
        for text in ("row;column;value\nb;dose;1,75\nb;seen;5.7.2020\n", "row,column,value\nb,dose,1.75\n"):
            path = write(tmp_path, text)
            campaign.check_file(path)
            campaign.tell_file(path)
        assert campaign.table.to_csv(";", ",") == (
            "id;dose;seen\na;1,5;4.7.2020\nb;1,75;5.7.2020\nc;2,5;12.12.2020\n"
        )


def test_a_wrong_answer_is_shown_as_it_was_typed(tmp_path):
    (tmp_path / "t.csv").write_text("id;count;dose;seen\na;1;1,5;4.7.2020\nb;;;\nc;2;2,5;12.12.2020\n")
    how = {"row_id": "id", "delimiter": ";", "decimal": ",", "date_format": "DD.MM.YYYY"}
    table = Table.read(tmp_path / "t.csv", bounds={"dose": (0, 10)}, **how)
    with Campaign.create(table, strategy="random", store=tmp_path / "s.db") as campaign:
        campaign.ask(count=3)
        path = write(tmp_path, "row;column;value\nb;count;131,5\nb;dose;1.234,5\nb;seen;1,5\n")
        with pytest.raises(WrongAnswersError) as wrong:
            campaign.tell_file(path)
        assert [problem.rpartition(" ")[2] for problem in wrong.value.problems] == [
            "'131,5'.",
            "'1.234,5'.",
            "'1,5'.",
        ]
        campaign.tell_file(write(tmp_path, "row;column;value\nb;dose;'+1,75\n"))  # as spreadsheets quote it
        assert campaign.table.values[1, 1] == 1.75


def test_doubtful_values_are_named_beside_wrong_lines(tmp_path):
    table = Table.from_arrays(
        [[float(k % 5), float(k)] for k in range(30)] + [[None, None], [None, 1.0]], columns=["count", "x"]
    )
    with Campaign.create(table, strategy="random", store=tmp_path / "s.db") as campaign:
        campaign.ask(count=3)
        path = write(tmp_path, "row,column,value\n30,count,-99999999\n31,count,many\n")
        with pytest.raises(WrongAnswersError) as both:
            campaign.tell_file(path)
        assert [problem.split(", ")[1] for problem in both.value.problems] == ["line 2", "line 3"]
