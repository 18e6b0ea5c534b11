"""All that happened, in pages and as a file."""

import csv
import io
import re

from cellworth.campaign import Campaign
from cellworth.web.dependencies import segment
from tests.campaign.campaigns import VALUES
from tests.web.pages.studies import HOSTILE_NAME
from tests.web.pages.visitor import STUDY


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


def test_changes_of_budget_and_prices(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.change_budget(1000, reason="<b>more</b>")
        campaign.change_prices(3)
    text = fresh.look(STUDY + "/ledger").answer.text
    assert "Budget changed</h2>" in text
    assert "to 1000.00</p>" in text
    assert "&lt;b&gt;more" in text
    assert "Prices.same(3.0)" in text
