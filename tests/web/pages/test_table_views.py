"""A row by its id, and corrections."""

import csv
import io
from urllib.parse import urlsplit

from cellworth.campaign import Campaign
from tests.web.pages.visitor import STUDY


def test_a_row_by_its_id(ann):
    page = ann.look(STUDY + "/row?id=p7&column=age")
    assert urlsplit(str(page.answer.url)).path == STUDY + "/rows/7"
    assert "Row p7" in page.text


def test_correct_a_value_and_find_it_in_the_ledger(fresh):
    with Campaign.open(fresh.url) as campaign:
        table = campaign.table
    j = table.column_index("age")
    place = next(i for i in range(60) if not table.holes[i, j])
    path = STUDY + f"/rows/{place}"
    form = fresh.look(path).form("/correct", column="age")
    wrong = fresh.send(form, value="old")
    assert "expected a whole number" in wrong.text
    assert wrong.form("/correct", column="age").fields["value"] == "old"
    assert "expected a whole number" in fresh.look(str(wrong.answer.url)).text  # a reload is a look
    assert "Corrected: age, p" in fresh.send(form, value="77", reason="=typing slip").text
    assert "it was so already" in fresh.send(form, value="77").text
    ledger = fresh.look(STUDY + "/ledger")
    assert "2 " in ledger.text
    text = fresh.client.get(STUDY + "/ledger.csv").text
    last = list(csv.DictReader(io.StringIO(text)))[-1]
    assert (last["what"], last["value"], last["reason"]) == ("corrected", "77", "'=typing slip")


def test_nothing_is_begun_for_a_campaign_that_does_not_exist(fresh):
    jobs = fresh.client.app.state.jobs
    before = set(jobs._summaries)
    for path in ("map.json", "table", "columns", ""):
        assert fresh.client.get(f"/campaigns/nobody/{path}".rstrip("/")).status_code == 404
    assert set(jobs._summaries) == before
    assert "nobody" not in jobs.notifications._newest
