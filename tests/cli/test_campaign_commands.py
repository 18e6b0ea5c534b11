"""The commands of a campaign, one by one, in this process."""

import json

import numpy as np
import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.cli.commands import run


def test_init_says_what_it_found_and_what_to_do_next(study):
    done = study.begin("--who", "Ann")
    assert (done.code, done.err) == (0, "")
    n_holes = int(study.table.holes.sum())
    assert "Table of 30 rows and 6 columns" in done.out
    assert f"holes: {n_holes} of 180 cells" in done.out
    assert "target: 'outcome', two classes: 'ill', 'well'" in done.out
    for column, holes in zip(study.table.columns, study.table.holes.sum(axis=0), strict=True):
        line = next(line for line in done.out.splitlines() if line.startswith(f"{column.name} "))
        assert line.split()[1:3] == [column.kind, str(holes)]
    assert "cellworth ask --budget 5 --out asks.csv" in done.out
    assert "cellworth tell asks.csv" in done.out
    with Campaign.open("study.db") as campaign:
        assert campaign.table.equals(
            Table.read("table.csv", **study.table.keywords() | {"bounds": {}, "units": {}})
        )
        assert (campaign.budget, campaign.strategy, campaign.name) == (50.0, "recommended", "study")
        assert campaign.prices.groups[0].name == "blood"


def test_init_as_json(study):
    found = study.begin("--json", "--name", "other", "--strategy", "random", "--store", "other.db").json
    assert (found["name"], found["rows"], found["strategy"]) == ("other", 30, "random")
    assert found["holes"] == sum(column["holes"] for column in found["columns"])
    assert [column["kind"] for column in found["columns"]] == [c.kind for c in study.table.columns]
    assert found["target"] == {"name": "outcome", "kind": "two classes"}
    assert not (study.folder / "study.db").exists()


def test_the_store_can_come_from_the_environment(study, monkeypatch):
    monkeypatch.setenv("CELLWORTH_STORE", "sqlite:///elsewhere.db")
    assert study.begin().code == 0
    assert (study.folder / "elsewhere.db").exists()
    assert study("log").out == "There are no events yet\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--target", "outcme"], 3, "Did you mean 'outcome'?"),
        (["--strategy", "recomended"], 2, "did you mean 'recommended'?"),
        (["--kind", "age"], 2, "expected COLUMN=..."),
        (["--kind", "age=colour"], 2, "the kind must be one of"),
        (["--budget", "-1"], 2, "--budget"),
        (["--store", "mysql://x"], 2, "Stores of the kind 'mysql' are not known"),
        (["--prices", "none.csv"], 3, "none.csv: no such file"),
        (["--seed", "-1"], 2, "--seed"),
    ],
)
def test_what_init_refuses_is_one_line_and_leaves_no_campaign(study, words, code, message):
    done = study("init", "table.csv", *study.reading(), *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.startswith("cellworth: ")
    assert done.err.count("\n") == 1
    assert study("log").code == 3


def test_a_second_campaign_of_the_same_name_is_a_conflict(begun):
    done = begun.begin()
    assert (done.code, done.out) == (4, "")
    assert "There is a campaign 'study' already" in done.err
    assert begun.begin("--name", "two").code == 0
    done = begun("log")
    assert done.code == 3
    assert "several campaigns" in done.err
    assert begun("log", "--name", "two").code == 0


@pytest.mark.parametrize("command", ["ask", "status", "log", "export", "report"])
def test_looking_for_a_campaign_creates_no_store(study, command):
    done = study(command)
    assert (done.code, done.out) == (3, "")
    assert "study.db: no campaign is kept there. Begin one with: cellworth init" in done.err
    assert not (study.folder / "study.db").exists()


def test_ask_shows_a_table(begun):
    done = begun("ask", "--budget", "6", "--who", "Ann")
    assert (done.code, done.err) == (0, "")
    header, *lines = done.out.splitlines()
    assert header.split() == ["row", "column", "group", "price", "worth", "why", "until"]
    with Campaign.open("study.db") as campaign:
        batch = campaign.open_purchases()
        assert campaign.history()[0]["who"] == "Ann"
    assert len(batch) == len(lines) - 1
    for line, purchase in zip(lines, batch, strict=False):
        assert line.startswith(f"{purchase.row} ")
        assert f"{purchase.price:.2f}" in line
        assert purchase.why in line
    assert lines[-1].startswith(f"{len(batch)} cells; 0.00 spent, ")


def test_ask_writes_a_file_that_has_all_fields_and_no_values(begun):
    done = begun("ask", "--count", "3", "--out", "asks.csv", "--lease", "12h")
    assert "3 cells" in done.out
    assert "cellworth tell asks.csv" in done.out
    lines = begun.lines("asks.csv")
    with Campaign.open("study.db") as campaign:
        batch = campaign.open_purchases()
        asked_at = campaign.history()[0]["time"]
    assert list(lines[0]) == ["row", "column", "group", "price", "worth", "why", "until", "value"]
    for line, each in zip(lines, batch, strict=True):
        assert (line["row"], line["column"], line["group"]) == (each.row, each.column, each.group or "")
        assert float(line["price"]) == each.price
        assert float(line["worth"]) == pytest.approx(each.worth, rel=1e-5)
        assert (line["why"], line["value"]) == (each.why, "")
        assert (each.until - asked_at).total_seconds() == 12 * 3600


def test_ask_as_json(begun):
    answer = begun("ask", "--count", "2", "--lease", "never", "--json").json
    assert [sorted(cell) for cell in answer["cells"]] == [
        ["asked_by", "column", "group", "held_until", "holder", "price", "row", "until", "why", "worth"]
    ] * 2
    assert all(cell["until"] is None for cell in answer["cells"])
    assert answer["left"] == pytest.approx(50 - answer["reserved"])


def test_ask_open_lists_what_is_out_and_asks_for_nothing(begun):
    asked = begun.asked(count=3)
    done = begun("ask", "--open", "--out", "again.csv")
    assert done.code == 0
    assert begun.lines("again.csv") == asked
    assert begun.kinds() == ["asked"]


def test_ask_says_when_nothing_can_be_had(begun):
    done = begun("ask", "--budget", "0.01")
    assert (done.code, begun.kinds()) == (0, [])
    assert "nothing that can be had for the money" in done.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--lease", "soon"], 2, "a lease must be a time"),
        (["--budget", "-1"], 2, "--budget"),
        (["--count", "many"], 2, "--count"),
        (["--count", "2", "--out", "no/such/asks.csv"], 3, "folder that exists"),
        (["--count", "2", "--out", "asks.xls"], 3, "ends in .csv"),
        (["--name", "stdy"], 3, "Did you mean 'study'?"),
    ],
)
def test_what_ask_refuses_reserves_no_money(begun, words, code, message):
    done = begun("ask", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert begun.kinds() == []


def test_tell_takes_the_filled_file_and_the_same_file_twice(begun):
    asked = begun.asked(count=4)
    begun.fill(skip=1)
    done = begun("tell", "asks.csv", "--who", "laboratory")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 answers recorded, 0 known before, 1 line without a value; ")
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
    assert two.startswith("cellworth: asks.csv, line 3, column 'column': 'outcome' is the target")
    assert three.startswith("cellworth: asks.csv, line 4, column 'value': row ")
    assert three.endswith(" Nothing was recorded.")
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
    assert begun.kinds() == ["asked", "told"]


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
        (["cancel", "p1:dose", "--all"], 2, "--all stands for every cell"),
        (["cancel", "p0:dose"], 4, "has the value"),
        (["correct", "p0", "dose", "much"], 3, "expected a number"),
        (["correct", "p0", "dose"], 2, "VALUE"),
        (["tell", "none.csv"], 3, "none.csv: no such file"),
        (["extend", "table.csv"], 3, "new rows must have new ids"),
        (["complete"], 2, "--out"),
        (["complete", "--out", "x.csv", "--level", "1"], 2, "expected a share"),
        (["complete", "--out", "x.doc"], 3, "ends in .csv"),
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
    assert begun("correct", "p0", "dose", "-5.5").out.startswith("This value is known already")
    assert begun("correct", "p0", "dose", "7", "--json").json == {"changed": True}
    with Campaign.open("study.db") as campaign:
        assert campaign.table.values[0, 0] == 7
        assert [event["new"] for event in campaign.history()] == [-5.5, 7]


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


def test_log_lists_what_happened(begun):
    asked = begun.asked(count=2)
    begun.fill()
    begun("tell", "asks.csv", "--who", "laboratory")
    begun("correct", "p0", "age", "41", "--reason", "typo")
    begun("extend", "rows.csv")
    header, *lines = begun("log").out.splitlines()
    assert header.split() == ["number", "time", "(UTC)", "kind", "who", "what"]
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4"]
    assert f"2 cells ({asked[0]['row']}:{asked[0]['column']}=" in lines[1]
    assert "laboratory" in lines[1]
    assert "p0:age from " in lines[2]
    assert lines[2].rstrip().endswith("to 41: typo")
    assert "4 rows (p100, p101, p102, ...)" in lines[3]
    assert len(begun("log", "--since", "3").out.splitlines()) == 2
    assert begun("log", "--since", "4").out == "There are no events after 4\n"
    assert [event["number"] for event in begun("log", "--since", "2", "--json").json["events"]] == [3, 4]


def test_export_gives_the_table_with_its_answers(begun):
    begun.asked()
    begun.fill()
    begun("tell", "asks.csv")
    done = begun("export", "--out", "now.csv")
    with Campaign.open("study.db") as campaign:
        table = campaign.table
    holes = int(table.holes.sum())
    assert done.out == f"30 rows with {holes} holes are in now.csv\n"
    assert Table.read("now.csv", **table.keywords()).equals(table)
    assert begun("export").out == (begun.folder / "now.csv").read_text()
    rows = begun("export", "--json").json["rows"]
    assert [row[begun.row_id] for row in rows] == list(table.row_ids)
    assert sum(value is None for row in rows for value in row.values()) == holes
    assert begun("export", "--out", "b.csv", "--json").json == {"out": "b.csv", "rows": 30, "holes": holes}


def test_exports_for_spreadsheets_hold_no_formulas(study):
    (study.folder / "f.csv").write_text("id,=x,test,ill\n@a,1,+,-\nb,,=1+1,yes\nc,-3.5,+,-\nd,2,+,yes\n")
    assert study("init", "f.csv", "--target", "ill", "--row-id", "id").code == 0
    assert study("export").out == (study.folder / "f.csv").read_text().replace("1,+", "1.0,+").replace(
        "2,+", "2.0,+"
    )
    assert study("export", "--spreadsheet").out == (
        "id,'=x,test,ill\n'@a,1.0,'+,'-\nb,,'=1+1,yes\nc,-3.5,'+,'-\nd,2.0,'+,yes\n"
    )


def test_complete_fills_with_and_without_intervals(begun):
    holes = int(begun.table.holes.sum())
    assert begun("complete", "--out", "a.csv").out == f"{holes} holes filled; the table is in a.csv\n"
    plain = Table.read("a.csv", **begun.table.keywords())
    assert not plain.holes.any()
    known = ~begun.table.holes
    assert (plain.values[known] == begun.table.values[known]).all()
    done = begun("complete", "--out", "b.csv", "--intervals", "--level", "0.5", "--json")
    assert done.json == {"out": "b.csv", "filled": holes, "level": 0.5}
    lines = begun.lines("b.csv")
    numbers = [c.name for c in begun.table.columns if c.kind in ("number", "integer", "date")]
    expected = [
        name
        for column in begun.table.column_names
        for name in ([column, f"{column}_lower", f"{column}_upper"] if column in numbers else [column])
    ]
    assert list(lines[0]) == [begun.row_id, *expected, "outcome"]
    for line, is_hole in zip(lines, begun.table.holes, strict=True):
        lower, value, upper = (float(line[name]) for name in ("dose_lower", "dose", "dose_upper"))
        assert lower < value < upper if is_hole[0] else lower == value == upper


def test_complete_says_where_there_are_no_intervals(study):
    study.begin("--strategy", "afasmc")
    done = study("complete", "--out", "b.csv", "--intervals")
    assert done.code == 3
    assert "has no intervals" in done.err
    assert not (study.folder / "b.csv").exists()


def test_status_and_report(begun):
    begun.asked()
    done = begun("status")
    assert (done.code, done.err) == (0, "")
    assert "campaign 'study' after 1 event" in done.out
    assert begun("status", "--json").json["number"] == 1
    done = begun("report", "--out", "page.html")
    assert (done.code, done.out) == (0, "The report is in page.html\n")
    assert "<html" in (begun.folder / "page.html").read_text("utf-8")
    assert begun("report", "--out", "again.html", "--json").json == {"out": "again.html"}


def test_simulate_draws_writes_and_tells(study):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    words = ["simulate", "table.csv", *study.reading(), "--prices", "prices.csv", "--seeds", "2"]
    words += [
        "--rounds",
        "2",
        "--budget-per-round",
        "10",
        "--strategy",
        "recommended",
        "--strategy",
        "random",
    ]
    done = study(*words, "--out", "curves.csv", "--plot", "curves.png")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[:3]] == ["strategy", "recommended", "random"]
    lines = study.lines("curves.csv")
    assert len(lines) == 2 * 2 * 3
    assert max(float(line["money"]) for line in lines) <= 20
    assert (study.folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    curves = study(*words, "--json").json["curves"]
    assert [(line["strategy"], line["round"]) for line in curves] == [
        (line["strategy"], int(line["round"])) for line in lines
    ]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "give budget_per_round"),
        (["--budget-per-round", "5", "--strategy", "rndom"], 2, "did you mean 'random'?"),
        (["--budget-per-round", "5", "--plot", "x.doc"], 2, "ends in .png"),
        (["--budget-per-round", "5", "--out", "x.doc"], 2, "ends in .csv"),
        (["--budget-per-round", "5", "--observed", "0"], 2, "expected a share"),
    ],
)
def test_what_simulate_refuses(study, words, code, message):
    done = study("simulate", "table.csv", *study.reading(), *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_real_processes_share_a_campaign(study, tmp_path):
    words = ["init", "table.csv", *study.reading(), "--store", "shared.db"]
    done = run(*words, CELLWORTH_STORE="elsewhere.db")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("ask", "--count", "2", "--json", CELLWORTH_STORE="shared.db")
    assert (done.returncode, done.stderr) == (0, "")
    study.write(
        "answers.csv",
        [{**cell, "value": VALUES[cell["column"]]} for cell in json.loads(done.stdout)["cells"]],
    )
    done = run("tell", "answers.csv", CELLWORTH_STORE="shared.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 answers recorded")
    done = run(*words)
    assert (done.returncode, done.stdout) == (4, "")


def test_a_json_document_holds_names_in_any_script(study):
    (study.folder / "t.csv").write_text("id,größe,y\nä,1.5,0\nβ,,1\nc,2.5,1\n")
    done = study("init", "t.csv", "--target", "y", "--row-id", "id", "--json")
    assert done.out.isascii()
    assert json.loads(done.out)["columns"][0]["name"] == "größe"
