"""Campaigns by REST: new ones from files, and summaries that come in the end."""

import gzip

import pytest

from cellworth.errors import ConflictError, DataError
from tests.campaign.campaigns import make_table
from tests.web.servers import until


def test_a_new_campaign_from_files(client, http):
    table = make_table()
    content = ("table.csv", table.to_csv().encode())
    prices = ("prices.csv", b"column,price\nage,2\n(other columns),1\n")
    made = client.create(
        content, name="a/b ~2F ü", prices=prices, target="outcome", row_id=table.row_id, budget=9, seed=3
    )
    assert made.totals().budget == 9.0
    assert made.totals().missing == int(table.holes.sum())
    assert "a/b ~2F ü" in client.names()
    with pytest.raises(ConflictError, match="already"):
        client.create(content, name="a/b ~2F ü")
    with pytest.raises(DataError, match=r"^table.csv, line 3"):
        client.create(("table.csv", b"a,b\n1,2\n1\n"), name="bad")
    with pytest.raises(DataError, match=r"ends in .csv"):
        client.create(("/etc/passwd", b"a,b\n1,2\n"), name="bad")
    fields = {"name": "zipped", "missing": ["?", "n/a"]}
    packed = gzip.compress(b"a,b\n1,?\n2,n/a\n3,4\n")
    response = http.post("/api/v1/campaigns", data=fields, files={"table": ("t.csv.gz", packed)})
    assert (response.status_code, response.json()["missing"]) == (201, 2)
    assert http.get(response.headers["location"]).json()["name"] == "zipped"
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(DataError, match="MB uncompressed"):
        client.create(("t.csv.gz", bomb), name="bomb")


def test_summaries_come_in_the_end(study):
    first = study.summary("overview")
    assert (first.data, first.renewing) == (None, True)
    until(lambda: study.summary("overview").as_of is not None)
    found = study.summary("overview")
    assert (found.as_of, found.newest, found.renewing) == (0, 0, False)
    assert found.data["status"]["name"] == study.name
