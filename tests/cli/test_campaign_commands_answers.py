"""Tell, refuse, cancel, correct and extend, from the shell."""

import numpy as np
import pytest

from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES


def test_tell_takes_the_filled_file_and_the_same_file_twice(begun):
    asked = begun.asked(count=4)
    begun.fill(skip=1)
    done = begun("tell", "asks.csv", "--who", "laboratory")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 answers recorded, 0 already known, 1 line without a value; ")
    again = begun("tell", "asks.csv", "--json").json
    assert (again["new"], again["known"], again["blank"]) == (0, 3, 1)
    assert again["spent"] == pytest.approx(sum(float(line["price"]) for line in asked[:3]))
    assert begun.kinds() == ["asked", "told"]
    with Campaign.open("study.db") as campaign:
        table = campaign.table
        for line in asked[:3]:
            place = table.row_index(line["row"]), table.column_index(line["column"])
            assert table.values[place] == table.columns[place[1]].parse(VALUES[line["column"]])


def test_tell_with_a_key_is_recorded_once(begun):
    begun.asked()
    begun.fill()
    first = begun("tell", "asks.csv", "--key", "k1", "--json").json
    assert begun("tell", "asks.csv", "--key", "k1", "--json").json == first
    begun.write("other.csv", begun.lines("asks.csv")[:1])
    done = begun("tell", "other.csv", "--key", "k1")
    assert (done.code, done.out) == (4, "")
    assert "the key 'k1' was used before" in done.err


def test_tell_names_every_wrong_line_and_records_nothing(begun):
    begun.asked(count=4)
    lines = begun.fill()
    lines[0]["row"] = "p999"
    lines[1]["column"] = "outcome"
    lines[2]["value"] = "x\ny"
    begun.write("asks.csv", lines)
    done = begun("tell", "asks.csv")
    assert (done.code, done.out) == (3, "")
    one, two, three = done.err.splitlines()
    assert one.startswith("cellworth: asks.csv, line 2, column 'row': There is no row 'p999'.")
    assert two.startswith("cellworth: asks.csv, line 3, column 'value': row ")
    assert "column 'outcome': expected one of 'ill', 'well'" in two
    assert three.startswith("cellworth: asks.csv, line 4, column 'value': row ")
    assert three.endswith(" No value was recorded.")
    assert begun.kinds() == ["asked"]


def test_tell_names_the_lines_that_contradict_what_is_known(begun):
    begun.asked(count=4)
    begun.fill()
    assert begun("tell", "asks.csv").code == 0
    begun.fill(dose=1.25, age=99, stage="I", hue="red", smokes="no", visit="2020-01-01")
    done = begun("tell", "asks.csv")
    assert (done.code, done.out) == (4, "")
    assert [f"line {number}, column 'value'" in line for number, line in enumerate(done.err.splitlines(), 2)]
    assert len(done.err.splitlines()) == 4
    assert begun.kinds() == ["asked", "told", "contradicted"]
    assert ", known: " in begun("log").out


def test_unsolicited_answers_need_a_word(begun):
    i, j = np.argwhere(begun.table.holes)[0]
    column = begun.table.column_names[j]
    line = {"row": begun.table.row_ids[i], "column": column, "value": VALUES[column]}
    begun.write("answers.csv", [line])
    done = begun("tell", "answers.csv")
    assert done.code == 3
    assert "answers.csv, line 2, column 'row'" in done.err
    assert "was never asked for" in done.err
    assert begun("tell", "answers.csv", "--unsolicited").code == 0
    assert begun.kinds() == ["told"]


def test_refuse_and_cancel(begun):
    asked = begun.asked(count=4)
    first, second, *rest = (f"{line['row']}:{line['column']}" for line in asked)
    done = begun("refuse", first, second, "--reason", "lost", "--who", "Ann")
    assert done.out.startswith("2 cells refused; 0.00 spent, ")
    assert begun("refuse", first, "--reason", "lost", "--json").json["refused"] == 0
    assert begun("cancel", rest[0]).out.startswith("1 cell cancelled; ")
    assert begun("cancel", "--all", "--json").json == {
        "cancelled": 1,
        "spent": 0.0,
        "reserved": 0.0,
        "left": 50.0,
        "budget": 50.0,
    }
    assert begun.kinds() == ["asked", "refused", "cancelled", "cancelled"]


def test_refuse_and_cancel_take_files(begun):
    begun.asked("some.csv", count=2)
    begun.asked("others.csv", count=2)
    assert begun("refuse", "--from", "some.csv", "--reason", "moved away", "--json").json["refused"] == 2
    assert begun("cancel", "--from", "others.csv", "--json").json["cancelled"] == 2
    (begun.folder / "wrong.csv").write_text("row,column\np1,dose\npp,dose\n")
    done = begun("cancel", "--from", "wrong.csv")
    assert done.code == 3
    assert "wrong.csv, line 3, column 'row': There is no row 'pp'." in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["refuse", "--reason", "lost"], 2, "one of the two"),
        (["refuse", "p1:dose", "--from", "table.csv", "--reason", "lost"], 2, "one of the two"),
        (["refuse", "p1:dose"], 2, "--reason"),
        (["refuse", "p1", "--reason", "lost"], 3, "expected a cell as ROW:COLUMN"),
        (["refuse", "p1:dos", "--reason", "lost"], 3, "Did you mean 'dose'?"),
        (["refuse", "p0:dose", "--reason", "lost"], 4, "has the value"),
        (["cancel"], 2, "one of the two"),
        (["cancel", "p1:dose", "--all"], 2, "--all means every cell"),
        (["cancel", "p0:dose"], 4, "has the value"),
        (["correct", "p0", "dose", "much"], 3, "expected a number"),
        (["correct", "p0", "dose"], 2, "VALUE"),
        (["tell", "none.csv"], 3, "none.csv: no such file"),
        (["extend", "table.csv"], 3, "new rows must have new ids"),
        (["fill", "--out", "x.csv", "--level", "1"], 2, "expected a share"),
        (["fill", "--out", "x.doc"], 3, "ends in .csv"),
        (["log", "--since", "-1"], 2, "--since"),
    ],
)
def test_what_is_refused_changes_nothing(begun, words, code, message):
    done = begun(*words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert begun.kinds() == []


def test_correct_takes_negative_numbers_and_says_when_there_is_nothing_to_do(begun):
    assert begun("correct", "p0", "dose", "-5.5", "--reason", "sign").out == "1 value corrected\n"
    assert begun("correct", "p0", "dose", "-5.5").out.startswith("This value is already known")
    assert begun("correct", "p0", "dose", "7", "--json").json == {"changed": True}
    with Campaign.open("study.db") as campaign:
        assert campaign.table.values[0, 0] == 7
        assert [event["new"] for event in campaign.history()] == [-5.5, 7]


def test_all_commands_take_cells_in_both_forms(begun):
    assert begun("correct", "p0:dose", "-5.5").out == "1 value corrected\n"
    assert begun("correct", "p0", "dose", "-5.5").out.startswith("This value is already known")
    begun.asked(count=2)
    first, second = begun("ask", "--open", "--json").json["cells"]
    assert begun("refuse", first["row"], first["column"], "--reason", "lost").code == 0
    assert begun("cancel", f"{second['row']}:{second['column']}").code == 0


def test_extend_adds_rows_with_and_without_labels(begun):
    assert begun("extend", "rows.csv").out == "4 rows added; the table has 34 rows now\n"
    (begun.folder / "more.csv").write_text(f"{begun.row_id},dose,age,hue\nq1,?,40,red\nq2,?,-9,\n")
    more = begun("extend", "more.csv", "--missing", "?", "--missing", "-9", "--json").json
    assert more == {"added": 2, "rows": 36}
    with Campaign.open("study.db") as campaign:
        assert np.isnan(campaign.table.y[-2:]).all()
        assert campaign.table.row_ids[-2:] == ("q1", "q2")
        expected = np.array([[np.nan, 40, np.nan, 2, np.nan, np.nan], [np.nan] * 6])
        np.testing.assert_array_equal(campaign.table.values[-2:], expected)


def test_rows_without_names_are_numbered_on(study):
    (study.folder / "t.csv").write_text("size,y\n1.5,0\n,1\n2.5,1\n")
    (study.folder / "more.csv").write_text("size\n7.5\n")
    assert study("init", "t.csv", "--target", "y").code == 0
    assert study("extend", "more.csv").code == 0
    assert study("extend", "more.csv").code == 0
    assert [row["row"] for row in study("export", "--json").json["rows"]] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ID,age\nq1,4\n", "There is no column 'row_id'"),
        ("row_id,agee\nq1,\n", "Did you mean 'age'?"),
        ("row_id,age\nq1,old\n", "row 'q1', column 'age': expected a whole number"),
        ("row_id,age\nq1,1\nq1,2\n", "lines 2 and 3"),
        ("row_id,age\n,1\n", "every row needs an id"),
        ("row_id,age\np1,1\n", "new rows must have new ids"),
        ("row_id,age\nq1,1,2\n", "line 2"),
    ],
)
def test_rows_that_do_not_fit_are_refused(begun, text, message):
    (begun.folder / "more.csv").write_text(text)
    done = begun("extend", "more.csv")
    assert (done.code, done.out) == (3, "")
    assert message in done.err
    assert begun.kinds() == []


def test_extend_reads_rows_as_init_read_the_table(study, tmp_path):
    (tmp_path / "t.csv").write_text("size;seen\n1,5;26.08.2020\n?;04.07.2020\n2,5;04.07.2020\n")
    way = ["--delimiter", ";", "--decimal", ",", "--date-format", "DD.MM.YYYY", "--missing", "?"]
    assert study("init", "t.csv", *way, "--strategy", "random").code == 0
    (tmp_path / "more.csv").write_text("size;seen\n3,5;05.07.2020\n?;\n")
    done = study("extend", "more.csv")
    assert (done.code, done.err) == (0, "")
    (tmp_path / "point.csv").write_text("size,seen\n4.5,-\n")
    assert study("extend", "point.csv", "--decimal", ".", "--delimiter", ",", "--missing", "-").code == 0
    assert study("export").out.splitlines()[-3:] == ["3,5;05.07.2020", ";", "4,5;"]
    assert study("extend", "more.csv", "--decimal", "x").code == 2


def test_dates_go_out_and_come_back_as_people_write_them(study):
    lines = [
        "id,seen,dose,y",
        *(f"{k},{1 + k % 28:02d}/07/2020,{'' if k % 3 else k},{k % 2}" for k in range(30)),
    ]
    lines[5] = "4,,4,0"
    (study.folder / "t.csv").write_text("\n".join(lines) + "\n")
    begun = study(
        "init",
        "t.csv",
        "--target",
        "y",
        "--row-id",
        "id",
        "--date-format",
        "DD/MM/YYYY",
        "--strategy",
        "random",
    )
    assert begun.code == 0, begun.err
    assert "a date such as 31/12/2020 without a time" in begun.out
    (study.folder / "answers.csv").write_text("row,column,value\n4,seen,05/07/2020\n")
    assert study("tell", "answers.csv", "--unsolicited").code == 0
    assert study("correct", "0", "seen", "26/08/2020").code == 0
    exported = study("export").out.splitlines()
    assert [exported[1], exported[2], exported[5]] == ["0,26/08/2020,0,0", lines[2], "4,05/07/2020,4,0"]
    wrong = study("correct", "0", "seen", "26.08.2020")
    assert "expected a date such as 31/12/2020 without a time, got '26.08.2020'" in wrong.err
    (study.folder / "more.csv").write_text("id,seen,dose,y\n40,06/07/2020,1,0\n")
    assert study("extend", "more.csv").code == 0
    assert study("export").out.splitlines()[-1] == "40,06/07/2020,1,0"


def test_absurd_answers_need_a_yes(quick):
    lines = quick.asked(count=20)
    asked = [line for line in lines if line["column"] == "dose"]
    assert asked
    quick.fill(dose=1e9)
    done = quick("tell", "asks.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.count("got 1000000000.0, but the") == len(asked)
    assert "insist: --yes" in done.err
    assert "No value was recorded." in done.err
    assert quick.kinds() == ["asked"]
    assert quick("tell", "asks.csv", "--yes").code == 0
    wrong = quick("correct", asked[0]["row"], "dose", "5e12")
    assert (wrong.code, "--yes" in wrong.err) == (3, True)
    assert quick("correct", asked[0]["row"], "dose", "5e12", "--yes").code == 0
