"""Ask for cells, from the shell."""

import warnings

import pytest

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
