"""``cellworth next``: what to measure next in new rows."""

import pytest

LIGHT = ["--model", "logistic regression"]


def test_rows_of_a_file_by_a_table(study):
    said = ["--table", "table.csv", *study.reading(), "--prices", "prices.csv", *LIGHT]
    done = study("next", "rows.csv", *said, "--budget", "5")
    assert (done.code, done.err) == (0, "")
    *rows, last = done.out.splitlines()
    assert len(rows) == 4
    assert all("once all is known" in row and ("measure" in row or "stop" in row) for row in rows)
    assert "rows of 4 to go on with" in last or "row of 4 to go on with" in last
    (study.folder / "one.csv").write_text(f"{study.row_id},age\nq1,61\n")
    done = study("next", "one.csv", *said, "--confidence", "0.999", "--free", "hue", "--json")
    assert done.code == 0, done.err
    [step] = done.json
    assert (step["row"], step["take"], step["price"]) == ("q1", ["hue"], 0.0)
    assert {cell["column"] for cell in step["cells"]} == set(study.table.column_names) - {"age"}
    done = study("next", "one.csv", *said, "--confidence", "0.999")
    assert "gain per unit of money" in done.out


def test_money_has_the_currency_of_the_prices(study):
    (study.folder / "euros.csv").write_text("column,price\n(other columns),1.5\n(currency),EUR\n")
    (study.folder / "one.csv").write_text(f"{study.row_id},age\nq1,61\n")
    said = ["--table", "table.csv", *study.reading(), "--prices", "euros.csv", *LIGHT, "--budget", "2"]
    done = study("next", "one.csv", *said)
    assert (done.code, done.err) == (0, "")
    first, _, *cells, last = done.out.splitlines()
    assert "for 1.50 EUR: " in first
    assert all("1.50 EUR" in line for line in cells[1:])
    assert last == "1 row of 1 to go on with, for 1.50 EUR"


def test_rows_of_a_campaign(quick):
    done = quick("next", *LIGHT, "--error-cost", "100")
    assert done.code == 0, done.err
    assert "Nothing to decide" in done.out
    done = quick("next", "rows.csv", *LIGHT, "--error-cost", "100", "--json")
    assert done.code == 0, done.err
    assert [step["row"] for step in done.json] == ["p100", "p101", "p102", "p103"]
    assert all(step["stop"] or step["gain"] > step["price"] for step in done.json)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["next", "rows.csv", "--table", "table.csv"], 2, "needs --target"),
        (["next", "rows.csv", *LIGHT], 2, "when to stop; give --error-cost, --budget, --mean-budget"),
        (
            ["next", "rows.csv", *LIGHT, "--confidence", "3"],
            2,
            "--confidence must be a probability, at most 1",
        ),
        (["next", "rows.csv", *LIGHT, "--deviation", "3"], 2, "for classes, give"),
        (["next", "rows.csv", *LIGHT, "--budget", "3", "--free", "agee"], 3, "'age'"),
        (["next", "none.csv", *LIGHT, "--budget", "3"], 3, "none.csv"),
    ],
)
def test_what_is_refused(quick, words, code, message):
    done = quick(*words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_a_campaign_whose_rows_all_have_labels_says_so(quick, monkeypatch):
    monkeypatch.setattr("cellworth.campaign.Campaign.undecided", lambda *_, **__: [])
    assert (
        "all rows have a label, or none of their cells is worth" in quick("next", "--confidence", "0.9").out
    )
