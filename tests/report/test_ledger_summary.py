"""The ledger: every event once, with its cells and prices, and a file that runs no formulas."""

import csv
import io

import pytest

from cellworth.report.ledger_summary import ledger_csv, ledger_entries
from tests.campaign.campaigns import begin, make_table


def test_entries_are_the_events_of_the_campaign(campaign):
    entries = ledger_entries(campaign)
    history = campaign.history()
    assert [(e.number, e.time, e.who, e.kind) for e in entries] == [
        (record["number"], record["time"], record["who"], record["kind"]) for record in history
    ]
    assert [e.what for e in entries[:3]] == ["asked for", "bought", "refused"]
    assert entries[2].reason == "the sample is lost"
    bought = [line for e in entries if e.kind == "told" for line in e.lines]
    assert sum(line.price for line in bought) == pytest.approx(campaign.spent)
    assert ledger_entries(campaign, after=2, most=3) == entries[2:5]


def test_corrections_and_new_rows_have_lines_of_their_own():
    campaign = begin(make_table(10))
    campaign.correct("p0", "age", 33, who="Dee", reason="typing slip")
    old = campaign.history()[0]["old"]
    campaign.extend({"new": {"age": 3}, "newer": {}})
    corrected, extended = ledger_entries(campaign)
    (line,) = corrected.lines
    assert (line.row, line.column, line.value, line.old, line.price) == ("p0", "age", 33, old, None)
    assert [(line.row, line.column) for line in extended.lines] == [("new", ""), ("newer", "")]


def test_the_file_has_a_line_for_each_cell_and_runs_no_formulas():
    campaign = begin(make_table(10))
    campaign.correct("p0", "dose", -1 + 3, who="=cmd", reason="+slip")
    batch = campaign.ask(count=3, who="Ann")
    lines = list(csv.DictReader(io.StringIO(ledger_csv(ledger_entries(campaign)))))
    assert len(lines) == 4
    assert (lines[0]["who"], lines[0]["reason"], lines[0]["value"]) == ("'=cmd", "'+slip", "2.0")
    assert [(line["row"], line["column"], float(line["price"])) for line in lines[1:]] == [
        (p.row, p.column, p.price) for p in batch
    ]


def test_changes_of_the_whole_campaign_have_no_cells():
    campaign = begin(make_table(10), budget=None)
    campaign.change_budget(20, who="Ann", reason="=grant")
    campaign.change_prices(2)
    budget, prices = ledger_entries(campaign)
    assert (budget.lines, budget.change, budget.what) == ((), "from no limit to 20.00", "budget changed")
    assert prices.change == "Prices.same(2.0)"
    lines = list(csv.DictReader(io.StringIO(ledger_csv([budget, prices]))))
    assert [line["value"] for line in lines] == [budget.change, prices.change]
    assert lines[0]["reason"] == "'=grant"
    assert (lines[0]["row"], lines[0]["price"]) == ("", "")
