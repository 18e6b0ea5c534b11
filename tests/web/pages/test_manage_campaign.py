"""Files to take away, and what managers change."""

import io

import pytest

from cellworth.campaign import Campaign
from cellworth.table import Table
from cellworth.table.files import FileBytes
from tests.web.pages.visitor import STUDY


@pytest.mark.slow
def test_files_are_taken_away(fresh):
    for suffix in ("csv", "xlsx", "parquet"):
        answer = fresh.client.get(f"{STUDY}/files/table.{suffix}")
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
        assert Table.read(FileBytes(f"table.{suffix}", answer.content)).shape[0] == 60
    filled = Table.read(FileBytes("f.csv", fresh.client.get(f"{STUDY}/files/filled.csv").content))
    assert not filled.holes.any()
    assert b"<html" in fresh.client.get(f"{STUDY}/files/report.html").content
    for name in ("table.exe", "secret.csv", "..%2Fstudy.db"):
        assert fresh.client.get(f"{STUDY}/files/{name}").status_code == 404


def test_budget_and_prices_are_changed_as_events(fresh):
    page = fresh.look(STUDY + "/manage")
    assert "The budget is changed." in fresh.send(page.form("/budget"), budget="1.5e3", reason="more").text
    assert "it was so already" in fresh.send(page.form("/budget"), budget="1500").text
    wrong = fresh.send(page.form("/budget"), budget="much")
    assert "expected an amount of money" in wrong.text
    prices = {"prices": ("p.csv", b"column,price\n(other columns),3\n", "text/csv")}
    assert "The prices are changed" in fresh.send(page.form("/prices"), files=prices).text
    with Campaign.open(fresh.url) as campaign:
        assert [event["kind"] for event in campaign.history()][1:] == ["budget changed", "prices changed"]
        assert campaign.budget == 1500


def test_a_category_is_added(fresh):
    with Campaign.open(fresh.url) as campaign:
        names = [column.name for column in campaign.columns if column.categories]
    page = fresh.look(STUDY + "/manage")
    assert all(f"<option>{name}</option>" in page.answer.text for name in names)
    done = fresh.send(page.form("/category"), column=names[0], category="another", reason="seen")
    assert "The column has a new category." in done.text
    assert "it was so already" in fresh.send(page.form("/category"), column=names[0], category="another").text
    wrong = fresh.send(page.form("/category"), column=names[0], category="more", before="nothing")
    assert "expected one of" in wrong.text or "have no order" in wrong.text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.events()[-1].content.new == "another"


def test_rows_are_added(fresh):
    with Campaign.open(fresh.url) as campaign:
        rows = campaign.table.to_csv().splitlines()[:2]
    named = rows[0].partition(",")[0]
    lines = io.StringIO()
    lines.write(rows[0] + "\n" + "new" + rows[1][rows[1].index(",") :] + "\n")
    page = fresh.look(STUDY + "/manage")
    added = fresh.send(page.form("/rows"), files={"rows": ("r.csv", lines.getvalue().encode(), "text/csv")})
    assert "Added one row." in added.text, named
    again = fresh.send(page.form("/rows"), files={"rows": ("r.csv", b"x\n1\n", "text/csv")})
    assert "page-note" in again.answer.text


def test_others_values_are_freed_and_many_withdrawn(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.take(4, who="Cy")
    page = fresh.look(STUDY + "/manage")
    assert "4 values can be taken by others" in fresh.send(page.form("/free"), holder="Cy").text
    page = fresh.look(STUDY + "/manage")
    assert "Withdrawn: 30 values" in fresh.send(page.form("/withdraw"), column="").text
    with Campaign.open(fresh.url) as campaign:
        assert campaign.open_purchases() == []
        assert campaign.reserved == 0


def test_a_campaign_is_closed_archived_opened_and_renamed(fresh):
    page = fresh.look(STUDY + "/manage")
    closed = fresh.send(page.form("/stage"), stage="closed", reason="done")
    assert closed.text.count("This campaign is closed") == 1
    assert "is closed, so nothing was recorded" in fresh.send(page.form("/budget"), budget="9000").text
    assert "it is not in the list" in fresh.send(page.form("/stage"), stage="archived").text
    assert "There is no stage" in fresh.send(page.form("/stage"), stage="shut").text
    assert "open again" in fresh.send(page.form("/stage"), stage="open").text
    with Campaign.open(fresh.url) as campaign:
        changes = [event for event in campaign.history() if event["kind"] == "stage changed"]
        assert [(each["new"], each["who"], each["reason"]) for each in changes] == [
            ("closed", "Bob", "done"),
            ("archived", "Bob", None),
            ("open", "Bob", None),
        ]
    assert "from open to closed" in fresh.look(STUDY + "/ledger").text
    assert "page-note" in fresh.send(page.form("/rename"), new=" ").answer.text
    renamed = fresh.send(page.form("/rename"), new="second study")
    assert "has its new name" in renamed.text
    assert renamed.answer.url.path == "/campaigns/second study/manage"
    fresh.look(STUDY, status=404)
