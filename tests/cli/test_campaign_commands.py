"""Begin a campaign and ask for cells, from the shell."""

import pytest

from cellworth import Table
from cellworth.campaign import Campaign


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


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--target", "outcme"], 3, "Did you mean 'outcome'?"),
        (["--strategy", "recomended"], 2, "did you mean 'recommended'?"),
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
    assert "several campaigns" in done.err
    assert begun("log", "--name", "two").code == 0


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
    assert "nothing to buy for this money" in done.out


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
