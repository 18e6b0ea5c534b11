"""A row by its id, and corrections."""

import csv
import io
from urllib.parse import urlsplit

from starlette.testclient import TestClient

from cellworth import Table
from cellworth.campaign import Campaign
from cellworth.web import create_app
from tests.web.pages.visitor import STUDY, Visitor
from tests.web.pages.visitor import lines as queue_lines
from tests.web.servers import LOCAL


def test_a_row_by_its_id(ann):
    page = ann.look(STUDY + "/row?id=p7&column=age")
    assert urlsplit(str(page.answer.url)).path == STUDY + "/rows/7"
    assert "Row p7" in page.text


def test_an_address_typed_by_hand_may_have_the_id_of_a_row(ann):
    assert urlsplit(str(ann.look(STUDY + "/rows/p7").answer.url)).path == STUDY + "/rows/7"
    unknown = ann.look(STUDY + "/rows/p7000", 422)
    assert "There is no row 'p7000'." in unknown.text
    assert f'href="{STUDY}">To the campaign</a>' in unknown.answer.text
    for place in ("-1", "1.5", "9" * 40):
        assert f"There is no row '{place}" in ann.look(f"{STUDY}/rows/{place}", 422).text
    assert "There is no row number 100; the table has 60 rows." in ann.look(STUDY + "/rows/99", 422).text


def test_dates_are_shown_as_the_table_writes_them(tmp_path):
    lines = [f"r{k};{1 + k:02d}.07.2020;{'' if k == 3 else k};{k % 2}" for k in range(20)]
    lines[4] = "r4;;4;0"
    (tmp_path / "t.csv").write_text("id;seen;dose;y\n" + "\n".join(lines) + "\n")
    how = {"delimiter": ";", "date_format": "DD.MM.YYYY", "row_id": "id", "target": "y"}
    url = f"sqlite:///{tmp_path}/study.db"
    with Campaign.create(Table.read(tmp_path / "t.csv", **how), strategy="random", store=url) as campaign:
        campaign.ask(count=2)
    with TestClient(create_app(url), base_url=LOCAL) as client:
        bob = Visitor(client, "Bob")
        [line] = [each for each in queue_lines(bob.look(STUDY + "/queue")) if each.column == "seen"]
        fields = {**line.fields, f"value.{line.key}": "2020-07-30"}  # as the control of browsers sends it
        in_place = {"Accept": "text/html", "HX-Request": "true"}
        saved = client.post(f"{STUDY}/queue/tell", data=fields, headers=in_place).text
        shown = [saved, *(bob.look(STUDY + path).answer.text for path in ("/table", "/rows/4", "/ledger"))]
    for text in shown:
        assert "30.07.2020" in text
    assert "2020-07" not in "".join(shown[1:])


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
