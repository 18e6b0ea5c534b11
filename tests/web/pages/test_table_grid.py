"""The grid: windows of rows, sorted and filtered on the server."""

import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.web.pages.table_grid import GridFilter, window_of
from tests.web.pages.visitor import STUDY


def rows(ann, query=""):
    return ann.client.get(f"{STUDY}/table/rows.json?{query}").json()


def test_a_window_of_rows(ann, looked_at):
    found = rows(ann, "first=10&count=5")
    assert (found["total"], found["first"]) == (60, 10)
    assert [row["id"] for row in found["rows"]] == [f"p{k}" for k in range(10, 15)]
    with Campaign.open(looked_at, "study") as campaign:
        record = campaign.rows(after=10, most=1)[0]
    assert [status for status, _ in found["rows"][0]["cells"]] == [cell.status for cell in record.cells]
    assert len(rows(ann, "first=58&count=50")["rows"]) == 2
    assert len(rows(ann, "first=99999")["rows"]) == 1
    assert ann.client.get(f"{STUDY}/table/rows.json?count=100000").status_code == 422


def test_a_window_reads_the_log_a_few_times_and_sorts_once(looked_at, monkeypatch):
    """Of 100,000 rows a window must cost no more than its own rows."""
    with Campaign.open(looked_at, "study") as campaign:
        reads, sorts = [], []
        refresh, argsort = campaign._log.refresh, np.argsort
        monkeypatch.setattr(campaign._log, "refresh", lambda: reads.append(1) or refresh())
        monkeypatch.setattr(np, "argsort", lambda *a, **k: sorts.append(1) or argsort(*a, **k))
        window = window_of(campaign, GridFilter(sort="age"), 0, 50)
        assert len(reads) <= 6
        assert len(sorts) == 1
        assert window_of(campaign, GridFilter(sort="age"), 0, 50).rows == window.rows
        assert len(window_of(campaign, GridFilter(sort="age"), 10, 5).rows) == 5
        assert len(sorts) == 1


def test_sorted_and_filtered(ann, looked_at):
    with Campaign.open(looked_at, "study") as campaign:
        table = campaign.table
    j = table.column_index("age")
    places = [row["place"] for row in rows(ann, "sort=age&count=200")["rows"]]
    known = table.values[places, j]
    known = known[~np.isnan(known)]
    assert known.tolist() == sorted(known)
    assert np.isnan(table.values[places, j][len(known) :]).all()  # missing ones last
    down = [row["place"] for row in rows(ann, "sort=age&down=1&count=200")["rows"]]
    assert table.values[down[0], j] == known.max()
    missing = rows(ann, "missing=age&count=200")
    assert missing["total"] == table.holes[:, j].sum()
    assert {row["id"] for row in rows(ann, "find=P1&count=200")["rows"]} == {
        row for row in table.row_ids if "p1" in row
    }
    assert rows(ann, "find=nobody")["rows"] == []


def test_sorted_by_the_labels(ann, looked_at):
    with Campaign.open(looked_at, "study") as campaign:
        target = campaign.table.target
    assert len(np.unique(target.cells[~np.isnan(target.cells)])) > 1
    for query, sign in (("", 1.0), ("&down=1", -1.0)):
        places = [row["place"] for row in rows(ann, f"sort={target.name}{query}&count=200")["rows"]]
        assert places == np.argsort(sign * target.cells, kind="stable").tolist()


def test_without_a_script_there_are_pages(ann):
    page = ann.look(STUDY + "/table?page=2")
    assert "p55" in page.text
    assert "p49" not in page.text
    assert "No row fits" in ann.look(STUDY + "/table?find=nobody").text


@pytest.mark.slow
def test_guesses_of_rows(ann, looked_at):
    found = ann.client.get(f"{STUDY}/table/guesses.json?place=3&place=4").json()
    with Campaign.open(looked_at, "study") as campaign:
        holes = campaign.table.holes[3]
    assert [text is not None for text in found["3"]] == holes.tolist()
    assert ann.client.get(f"{STUDY}/table/guesses.json?place=99999").status_code in (200, 503)
