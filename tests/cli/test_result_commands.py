"""What a campaign amounts to, from the shell: log, export, complete, status, report."""

import json

import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from tests.campaign.campaigns import VALUES
from tests.cli.commands import run


def test_log_writes_money_dates_and_numbers_as_the_user_does(study):
    (study.folder / "t.csv").write_text("id;seen;dose\na;26.08.2020;1,50\nb;;\nc;27.08.2020;2,25\n")
    (study.folder / "p.csv").write_text("column;price\nseen;2,50 \u20ac\ndose;1\n", encoding="utf-8")
    how = ("--delimiter", ";", "--decimal", ",", "--date-format", "DD.MM.YYYY", "--row-id", "id")
    assert (
        study(
            "init",
            "t.csv",
            *how,
            "--prices",
            "p.csv",
            "--budget",
            "30",
            "--name",
            "s",
            "--strategy",
            "random",
        ).code
        == 0
    )
    assert study("ask", "--out", "asks.csv").code == 0
    (study.folder / "a.csv").write_text("row;column;value\nb;seen;3.9.2020\nb;dose;2,5\n")
    assert study("tell", "a.csv").code == 0
    assert study("correct", "b:seen", "4.9.2020").code == 0
    assert study("budget", "40").code == 0
    lines = study("log").out.splitlines()[2:]
    assert "b:seen=03.09.2020" in lines[0]
    assert "b:dose=2,50" in lines[0]
    assert "b:seen from 03.09.2020 to 04.09.2020" in lines[1]
    assert "from 30,00 EUR to 40,00 EUR" in lines[2]
    assert study("export").out.splitlines()[2] == "b;04.09.2020;2,50"


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
    assert done.out == f"30 rows with {holes} holes written to now.csv\n"
    assert Table.read("now.csv", **table.keywords()).equals(table)
    assert begun("export").out == (begun.folder / "now.csv").read_text()
    rows = begun("export", "--json").json["rows"]
    assert [row[begun.row_id] for row in rows] == list(table.row_ids)
    assert sum(value is None for row in rows for value in row.values()) == holes
    assert begun("export", "--out", "b.csv", "--json").json == {"out": "b.csv", "rows": 30, "holes": holes}


def test_exports_for_spreadsheets_hold_no_formulas(study):
    (study.folder / "f.csv").write_text("id,=x,test,ill\n@a,1,+,-\nb,,=1+1,yes\nc,-3.5,+,-\nd,2,+,yes\n")
    assert study("init", "f.csv", "--target", "ill", "--row-id", "id").code == 0
    assert study("export").out == (study.folder / "f.csv").read_text()
    assert study("export", "--spreadsheet").out == (
        "id,'=x,test,ill\n'@a,1,'+,'-\nb,,'=1+1,yes\nc,-3.5,'+,'-\nd,2,'+,yes\n"
    )


def test_complete_fills_with_and_without_intervals(begun):
    holes = int(begun.table.holes.sum())
    assert begun("fill", "--out", "a.csv").out == f"{holes} holes filled; the table is in a.csv\n"
    plain = Table.read("a.csv", **begun.table.keywords())
    assert not plain.holes.any()
    known = ~begun.table.holes
    assert (plain.values[known] == begun.table.values[known]).all()
    done = begun("fill", "--out", "b.csv", "--intervals", "--level", "0.5", "--json")
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
    done = study("fill", "--out", "b.csv", "--intervals")
    assert done.code == 3
    assert "has no intervals" in done.err
    assert not (study.folder / "b.csv").exists()


@pytest.mark.slow
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


@pytest.mark.service
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
