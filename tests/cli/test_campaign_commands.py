"""Begin a campaign and ask for cells, from the shell."""

import warnings

import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from cellworth.cli.campaign_commands import NO_FORECAST
from cellworth.forecasting import StopWarning


def test_ask_shows_a_table(begun):
    done = begun("ask", "--budget", "6", "--who", "Ann")
    assert (done.code, done.err) == (0, NO_FORECAST + "\n")
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


def test_ask_says_that_no_cell_is_left_whatever_the_money(quick):
    assert quick("ask", "--open").out.startswith("No cell is out.\n0 cells; ")
    assert quick("budget", "100000").code == 0
    assert quick("ask").code == 0
    done = quick("ask", "--budget", "5")
    said = "There is nothing to buy. No cell is left to ask for: all are known, out or refused.\n"
    assert (done.code, done.out.startswith(said)) == (0, True)


def test_ask_says_when_nothing_can_be_had(begun):
    done = begun("ask", "--budget", "0.01")
    assert (done.code, begun.kinds()) == (0, [])
    assert "There is nothing to buy. No cell that is left costs less than " in done.out
    assert "and only 0.01 can be spent." in done.out


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


def test_ask_says_that_nothing_can_be_had_also_after_advice_to_stop(quick, monkeypatch):
    """The advice is no reason: cells are asked for all the same, if there are any for the money."""

    def warn(*_, **__):
        warnings.warn("Stop: hardly anything. Cells are asked for all the same.", StopWarning, stacklevel=1)
        return False

    monkeypatch.setattr("cellworth.campaign.assessment.assessment.Assessment.says_stop", warn)
    done = quick("ask", "--budget", "0.01")
    assert done.code == 0
    assert "Stop: " in done.err
    assert "There is nothing to buy. No cell that is left costs less than " in done.out


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
            Table.read(
                "table.csv", **study.table.keywords() | {"bounds": {}, "units": {}, "descriptions": {}}
            )
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


def test_init_and_status_say_what_auto_chose(study):
    done = study.begin("--strategy", "auto")
    sentence = "auto chose recommended, its fallback: 30 labelled rows are too few"
    assert sentence in done.out
    assert sentence in study("status").out
    assert sentence in study("status", "--json").json["choice"]["sentence"]
    found = study.begin("--json", "--name", "other", "--strategy", "auto", "--store", "other.db").json
    assert (found["strategy"], found["choice"].startswith(sentence)) == ("auto", True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--target", "outcme"], 3, "Did you mean 'outcome'?"),
        (["--strategy", "recomended"], 2, "Did you mean 'recommended'?"),
        (["--kind", "age"], 2, "expected COLUMN=..."),
        (["--kind", "age=colour"], 2, "the kind must be one of"),
        (["--budget", "-1"], 2, "--budget"),
        (["--store", "mysql://x"], 2, "Stores of the kind 'mysql' are not supported"),
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
    assert "A campaign named 'study' already exists" in done.err
    assert begun.begin("--name", "two").code == 0
    done = begun("log")
    assert done.code == 3
    assert "several campaigns; choose one with --name: " in done.err
    assert begun("log", "--name", "two").code == 0


def test_bounds_units_descriptions_and_categories_are_said_at_the_start(study):
    (study.folder / "t.csv").write_text("age,drug,ill\n61,NA,yes\n,aspirin,no\n47,None,no\n")
    said = ["--bounds", "age=0,120", "--unit", "age=years", "--categories", "drug=None,aspirin,other"]
    said += ["--description", "age=At the first visit, 0 = unborn"]
    done = study("init", "t.csv", "--target", "ill", *said)
    assert (done.code, done.err) == (0, "")
    assert "a whole number from 0 to 120, in years" in done.out
    with Campaign.open("study.db") as campaign:
        age, drug = campaign.table.columns
        assert (age.bounds, age.unit) == ((0.0, 120.0), "years")
        assert (age.description, drug.description) == ("At the first visit, 0 = unborn", None)
        assert drug.categories == ("None", "aspirin", "other")
        assert campaign.table.holes[:, 1].tolist() == [True, False, False]
    wrong = study("init", "t.csv", "--target", "ill", "--bounds", "age=0", "--name", "b")
    assert wrong.code == 2
    assert "age=0,120" in wrong.err


def test_lookalikes_of_missing_marks_are_one_line(study):
    (study.folder / "t.csv").write_text("age,drug,ill\n61,unknown,yes\n,aspirin,no\n47,ibuprofen,no\n")
    done = study("init", "t.csv", "--target", "ill")
    assert done.code == 0
    assert done.err.startswith("cellworth: t.csv, column 'drug': 'unknown' is read as a category")
    assert done.err.count("\n") == 1
    assert "say --missing unknown; " in done.err


@pytest.mark.parametrize("wrong", [["--row-id", "stage"], ["--row-id", "rwo"], ["--prices", "wrong.csv"]])
def test_an_init_that_fails_leaves_nothing_behind(study, wrong):
    (study.folder / "wrong.csv").write_text("column,price\ndosee,1\n(other columns),1\n")
    done = study(
        "init", "table.csv", "--target", "outcome", "--kind", "dose=number", "--strategy", "random", *wrong
    )
    assert done.code == 3
    assert not (study.folder / "study.db").exists()
    if "wrong.csv" in wrong:
        assert (
            "wrong.csv, line 2, column 'column': There is no column 'dosee'. Did you mean 'dose'?" in done.err
        )


def test_wrong_bounds_are_answered_with_the_option(study):
    done = study("init", "table.csv", *study.reading(), "--bounds", "age=0,5:120")
    assert (done.code, done.out) == (2, "")
    assert "--bounds, column 'age': expected a number such as 0.5, a comma, and another" in done.err
    assert "--bounds age=0,120" in done.err
    assert "None" not in done.err
