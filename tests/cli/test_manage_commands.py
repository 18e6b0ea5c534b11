"""Manage a running campaign: budget, prices, other people's leases, the clock."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

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
    assert "got '80,5'. Write 80.5." in quick("budget", "80,5").err
    assert quick.kinds() == ["asked", "budget changed", "budget changed"]
    shown = quick("log").out
    assert "from 50.00 to 80.00: a second grant" in shown
    assert "from 80.00 to no limit" in shown


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


def test_a_category_that_turned_up(quick):
    """Every answer that is refused for its category says which command adds it."""
    table = quick("export", "--out", "now.csv")
    assert table.code == 0
    done = quick("category", "hue", "pink", "--reason", "seen", "--who", "Ann")
    assert (done.code, done.out) == (0, "Column hue may now hold: pink\n"), done.err
    assert quick("category", "hue", "pink").out == "Column hue holds already: pink\n"
    assert quick("category", "stage", "0", "--before", "I", "--json").json == {
        "changed": True,
        "column": "stage",
        "category": "0",
    }
    wrong = quick("category", "hue", "grey", "--before", "pink")
    assert (wrong.code, "no order" in wrong.err) == (3, True)
    assert "only columns of categories" in quick("category", "dose", "much").err
    refused = quick("correct", "p0", "hue", "mauve")
    assert "add it to the categories of the column first: cellworth category." in refused.err
    assert quick.kinds() == ["category added", "category added"]
    shown = quick("log").out
    assert "hue: pink: seen" in shown
    assert "stage: 0, before I" in shown


def test_only_stages_that_there_are(quick):
    done = quick("stage", "finished")
    assert (done.code, done.out) == (2, "")
    assert "archived" in done.err
    assert quick.kinds() == []


def test_a_campaign_on_a_folder_that_is_moved(study, tmp_path):
    """The whole way on the command line: init, ask, tell, status, rows that moved, export, check."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + rng.normal(size=(60, 3))
    holes = rng.random(X.shape) < 0.4
    frame = {name: pa.array(X[:, j], mask=holes[:, j]) for j, name in enumerate("abc")}
    (tmp_path / "big").mkdir()
    ids = pa.array([f"r{i}" for i in rng.permutation(60)])
    pq.write_table(pa.table(frame | {"id": ids}), tmp_path / "big" / "0.parquet", row_group_size=20)
    begun = study("init", "big", "--row-id", "id", "--strategy", "random", "--budget", "30", "--json")
    assert (begun.code, begun.json["rows"], begun.json["holes"]) == (0, 60, int(holes.sum()))
    asked = study("ask", "--count", "4", "--out", "asks.csv", "--json").json["cells"]
    lines = [f"{cell['row']},{cell['column']},0.25" for cell in asked]
    (tmp_path / "asks.csv").write_text("\n".join(["row,column,value", *lines]) + "\n")
    assert "4" in study("tell", "asks.csv").out
    known = next(f"{ids[i]}:a" for i in range(60) if not holes[i, 0])
    assert "has the value" in study("refuse", known, "--reason", "no").err
    (tmp_path / "big").rename(tmp_path / "moved")
    lost = study("ask", "--count", "1")
    assert (lost.code, "cellworth move-table" in lost.err) == (3, True)
    assert study("status", "--json").json["bought"] == 4
    assert study("move-table", "moved", "--json").json["changed"] is True
    assert study("move-table", "moved").out.startswith("The table is known to be at moved")
    done = study("export", "--out", "now", "--json").json
    assert done["holes"] == int(holes.sum()) - 4
    assert pq.read_table(tmp_path / "now").num_rows == 60
    printed = list(csv.DictReader(io.StringIO(study("export").out)))
    assert [line["id"] for line in printed] == ids.to_pylist()
    assert sum(line[name] == "" for line in printed for name in "abc") == int(holes.sum()) - 4
    assert study("check").code == 0
