"""Manage a running campaign: budget, prices, other people's leases, the clock."""

import re
from datetime import UTC, datetime, timedelta

from cellworth.campaign import Campaign
from tests.campaign.campaigns import Clock


def test_another_budget(quick):
    quick.asked(count=3)
    done = quick("budget", "80", "--reason", "a second grant", "--who", "Ann")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("New budget; ")
    assert "left of 80.00" in done.out
    assert quick("budget", "80", "--json").json["changed"] is False
    low = quick("budget", "0.01")
    assert (low.code, low.out) == (4, "")
    assert "below what is spent" in low.err
    assert quick("budget", "none", "--json").json["budget"] is None
    for wrong in ("much", "nan", "0", "1e400"):
        assert quick("budget", wrong).code == 2, wrong
    assert "got '80,5'. Write 1234.5 for 1.234,5." in quick("budget", "80,5").err
    assert quick.kinds() == ["asked", "budget changed", "budget changed"]
    shown = quick("log").out
    assert "from 50.0 to 80.0: a second grant" in shown
    assert "from 80.0 to no limit" in shown


def test_other_prices(quick, tmp_path):
    quick.asked(count=2)
    (tmp_path / "new.csv").write_text("column;price\n(other columns);7,5\n")
    before = quick("status", "--json").json["reserved"]
    done = quick("prices", "new.csv", "--delimiter", ";", "--decimal", ",", "--reason", "inflation")
    assert (done.code, done.err) == (0, "")
    asked = quick("ask", "--count", "1", "--json").json
    assert [cell["price"] for cell in asked["cells"]] == [7.5]
    assert asked["reserved"] == before + 7.5
    assert quick("prices", "nowhere.csv").code == 3
    (tmp_path / "few.csv").write_text("column,price\nage,1\n")
    assert "'dose'" in quick("prices", "few.csv").err
    assert quick.kinds() == ["asked", "prices changed", "asked"]
    assert "inflation" in quick("log").out


def test_release(quick):
    quick.asked(count=3)
    quick("take", "--count", "2", "--who", "Ann")
    assert quick("release", "--holder", "Ann", "--who", "Bob", "--reason", "ill").out == "2 cells released\n"
    taken = quick("take", "--count", "1", "--who", "Bob", "--json").json["cells"][0]
    cell = f"{taken['row']}:{taken['column']}"
    assert quick("release", cell, "--json").json == {"released": 1}
    assert quick("release").code == 2
    assert quick("release", cell, "--holder", "Ann").code == 2
    assert quick.kinds() == ["asked", "taken", "released", "taken", "released"]
    assert ": ill" in quick("log").out


def test_the_clock(quick):
    quick.asked(count=1)
    done = quick("clock", "--json").json
    assert (done["changed"], done["problem"]) == (False, None)
    assert quick("clock", "--set").out.startswith("Last event: ")
    fast = Clock()
    fast.time = datetime.now(UTC) + timedelta(days=300)
    with Campaign.open("study.db", clock=fast) as campaign:
        campaign.ask(count=1, lease="7d")
    refused = quick("ask", "--count", "1")
    assert (refused.code, refused.out) == (4, "")
    assert "cellworth clock --set" in refused.err
    assert "one of the two clocks was wrong" in quick("check").out
    assert "one of the two clocks was wrong" in quick("clock").out
    assert "is set by the clock" in quick("clock", "--set", "--who", "Ann").out
    assert quick("ask", "--count", "1").code == 0
    back = int(re.search(r"back by (\d+) s", quick("log").out)[1])
    assert 0 <= 300 * 24 * 3600 - back < 600  # what passed meanwhile


def test_a_campaign_is_closed_and_opened_again(quick):
    done = quick("stage", "closed", "--reason", "the study is over", "--who", "Ann")
    assert (done.code, done.out) == (0, "The campaign is closed\n"), done.err
    refused = quick("budget", "80")
    assert refused.code == 4
    assert "is closed, so nothing was recorded" in refused.err
    assert quick("stage", "closed").out == "The campaign is closed already\n"
    assert quick("stage", "archived", "--json").json == {"changed": True, "stage": "archived"}
    assert quick("stage", "open").code == quick("budget", "80").code == 0
    assert quick.kinds() == [*["stage changed"] * 3, "budget changed"]


def test_only_stages_that_there_are(quick):
    done = quick("stage", "finished")
    assert (done.code, done.out) == (2, "")
    assert "archived" in done.err
    assert quick.kinds() == []
