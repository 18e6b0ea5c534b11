"""The pages without a browser: well-formed, escaped, and what they say."""

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from cellworth.campaign import Campaign
from cellworth.web.dependencies import segment
from tests.campaign.campaigns import VALUES
from tests.web.pages.studies import HOSTILE_NAME
from tests.web.pages.visitor import STUDY

PAGES = ["", "/queue", "/table", "/columns", "/ledger", "/rows/3"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_well_formed(ann, path):
    assert "study" in ann.look(STUDY + path).text


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_hostile_names(ann, path):
    page = ann.wait(f"/campaigns/{segment(HOSTILE_NAME)}{path}")
    assert "<script>alert(1)</script>" in page.text  # as a text, read back from its escapes
    assert "<script>alert" not in page.answer.text
    assert "<img" not in page.answer.text


def test_the_summaries_come(ann):
    overview = ann.wait(STUDY)
    assert "AUC now" in overview.text
    assert "What changed in the last round Since round 3 began: 6 cells bought" in overview.text
    columns = ann.wait(STUDY + "/columns")
    assert "the average cell that could be had is worth 1" in columns.text
    table = ann.wait(STUDY + "/table")
    assert "Rows, 1 to 25 of 60." in table.text
    assert "p26" in ann.look(STUDY + "/table?page=2").text
    assert "Rows 11 to 13 of 60 are shown" in ann.look(STUDY + "/table?first=10&last=13").text
    data = ann.client.get(STUDY + "/map.json").json()
    assert len(data["codes"]) == 60


def test_unknown_things_are_said_on_a_page(ann):
    assert "There is no campaign" in ann.look("/campaigns/studdy", 404).text
    assert "did you mean" in ann.look("/campaigns/studdy", 404).text.lower()
    assert "There is no row number 61" in ann.look(STUDY + "/rows/60", 422).text
    assert "p1" in ann.look(STUDY + "/row?id=p1x", 422).text
    ann.look(STUDY + "/table?first=5&last=2", 422)
    ann.look(STUDY + "/nothing-here", 404)


def test_a_row_by_its_id(ann):
    page = ann.look(STUDY + "/row?id=p7&column=age")
    assert urlsplit(str(page.answer.url)).path == STUDY + "/rows/7"
    assert "Row p7" in page.text


def test_the_ledger_is_paged(fresh):
    with Campaign.open(fresh.url) as campaign:
        for each in campaign.open_purchases()[:28]:
            campaign.tell([(each.row, each.column, VALUES[each.column])])
    page = fresh.look(STUDY + "/ledger")
    numbers = [int(number) for number in re.findall(r'id="event-(\d+)"', page.answer.text)]
    assert numbers == list(range(29, 4, -1))
    rest = fresh.look(STUDY + "/ledger?page=2").answer.text
    assert re.findall(r'id="event-(\d+)"', rest) == ["4", "3", "2", "1"]


def test_formulas_are_disarmed_in_files(ann):
    path = f"/campaigns/{segment(HOSTILE_NAME)}"
    for file in ("/ledger.csv", "/queue.csv"):
        text = ann.client.get(path + file).text
        assert "'=cmd|" in text
        fields = [field for line in csv.reader(io.StringIO(text)) for field in line]
        assert not [field for field in fields if field.startswith(("=", "+", "@"))]


def test_plotly_comes_from_here_and_is_kept(ann):
    answer = ann.client.get("/static/plotly.min.js")
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert b"plotly.js" in answer.content[:300]
    tag = answer.headers["etag"]
    assert ann.client.get("/static/plotly.min.js", headers={"If-None-Match": tag}).status_code == 304


def test_what_was_done_cannot_be_made_up(ann):
    page = ann.look(STUDY + "?done=saved&cell=%3Cb%3E&count=x")
    assert "Saved: <b>." in page.text
    assert "<b>." not in page.answer.text
    assert "Saved" not in ann.look(STUDY + "?done=evil").text
    assert parse_qs(urlsplit(str(page.answer.url)).query)["done"] == ["saved"]
