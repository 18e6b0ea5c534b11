"""All that happened, in pages and as a file."""

import csv
import io
import re

from cellworth import Group, Prices
from cellworth.campaign import Campaign
from cellworth.web.url_paths import segment
from tests.campaign.campaigns import VALUES
from tests.web.pages.studies import HOSTILE_NAME
from tests.web.pages.visitor import STUDY


def test_the_ledger_is_paged(fresh):
    with Campaign.open(fresh.url) as campaign:
        for each in campaign.open_purchases():
            campaign.take([(each.row, each.column)], who="Bob")
            campaign.tell([(each.row, each.column, VALUES[each.column])])
    page = fresh.look(STUDY + "/ledger")
    numbers = [int(number) for number in re.findall(r'id="event-(\d+)"', page.answer.text)]
    assert numbers == list(range(61, 11, -1))
    [older] = {link for link in page.links if link and "before=" in link}
    rest = fresh.look(older).answer.text
    assert re.findall(r'id="event-(\d+)"', rest) == [str(number) for number in range(11, 0, -1)]


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
        blood = Group("blood", ["age"], first=2.5, then=1.5)
        campaign.change_prices(Prices.same(3, groups=[blood], visit=4))
    page = fresh.look(STUDY + "/ledger")
    assert "budget changed from 200.00 to 1000.00 <b>more</b>" in page.text
    assert "&lt;b&gt;more" in page.answer.text
    prices = "age: 2.50, 1.50 after the first of blood in a row All other columns: 3.00 Each visit to a row"
    assert prices in page.text  # and nothing that only programmers read


def test_the_ledger_is_filtered(fresh):
    with Campaign.open(fresh.url) as campaign:
        first, second = campaign.open_purchases()[:2]
        campaign.tell([(first.row, first.column, VALUES[first.column])], who="Cy")
        campaign.refuse([(second.row, second.column)], "lost", who="Dee")
        day = campaign.history()[-1]["time"].date().isoformat()

    def numbers(query):
        found = fresh.look(f"{STUDY}/ledger?{query}")
        return re.findall(r'id="event-(\d+)"', found.answer.text)

    assert numbers("who=cy") == ["2"]
    assert numbers("kind=refused") == ["3"]
    assert numbers(f"day={day}") == ["3", "2", "1"]
    assert numbers("day=1999-01-01") == []
    assert numbers(f"row={first.row}&kind=told") == ["2"]
    assert numbers("kind=nonsense&day=nonsense&before=nonsense") == ["3", "2", "1"]
    text = fresh.client.get(f"{STUDY}/ledger.csv?who=Dee").text
    assert [line["event"] for line in csv.DictReader(io.StringIO(text))] == ["3"]
    assert "1.00" in fresh.look(f"{STUDY}/ledger?who=cy").text  # money for each event
