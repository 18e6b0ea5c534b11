"""German pages say in German what is wrong with prices and with what is asked of a campaign."""

import pytest

from cellworth.campaign import Campaign
from cellworth.prices import Prices
from cellworth.table import Table
from cellworth.table.files import FileBytes
from cellworth.web.pages.library_texts import said
from tests.campaign.campaigns import begin
from tests.web.pages.german import english_in, message_of

WRONG = {
    "no price": "column,price\n",
    "another header": "column,cost\nage,1\n",
    "a field twice": "column,price,price\nage,1,1\n",
    "no field of prices": "column\nage\n",
    "a word": "column,price\nage,much\n",
    "a comma": 'column,price\nage,"1,5"\n',
    "a blank": "column,price\nage,\nsex,1\n",
    "nothing": "column,price\nage,0\n",
    "below nothing": "column,price\nage,-1\n",
    "no column": "column,price\n,1\n",
    "a column twice": "column,price\nage,1\nage,2\n",
    "a currency": "column,price\nage,1\n(currency),euros\n",
    "no group": "column,price,price_after_first\nage,2,1\n",
    "dearer later": "column,price,group,price_after_first\nage,1,blood,2\n",
    "lasting or not": "column,price,group,price_after_first,lasting\nage,2,blood,1,perhaps\n",
    "not alike": "column,price,group,price_after_first,lasting\nage,2,blood,1,yes\nsex,2,blood,1,no\n",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_prices_are_refused_in_german(what):
    message = message_of(lambda: Prices.read(FileBytes("preise.csv", WRONG[what].encode())))
    assert said(message, "de") != message
    assert english_in(message) == []


def test_prices_of_another_table_are_refused_in_german():
    table = Table.read(FileBytes("a.csv", b"id,age,size\np1,1,2\np2,,3\n"), row_id="id")
    for prices in ("column,price\nwage,1\n(other columns),1\n", "column,price\nage,1\n"):
        message = message_of(lambda text=prices: Prices.read(FileBytes("p.csv", text.encode())).on(table))
        assert said(message, "de") != message
        assert english_in(message) == []


def wishes(campaign):
    """Yield what cannot be done with a campaign."""
    yield lambda: campaign.change_budget(0)
    yield lambda: campaign.change_budget(1e20)
    yield lambda: campaign.ask(count=1, lease="soon")
    yield lambda: campaign.ask(count=1, who="x" * 9999)
    yield lambda: campaign.change_budget(9, reason=" ")
    yield lambda: campaign.change_prices(Prices.per_column({"wage": 1.0}, default=1.0))
    yield lambda: campaign.change_stage("asleep")
    yield lambda: campaign.extend({"new": {"wage": 1}})
    yield lambda: campaign.extend({"new": {"age": "old"}})


def test_what_cannot_be_done_is_said_in_german():
    campaign = begin(strategy="random")
    for act in wishes(campaign):
        message = message_of(act)
        assert said(message, "de") != message
        assert english_in(message) == [], said(message, "de")


def test_a_campaign_that_cannot_begin_is_refused_in_german(tmp_path):
    table = Table.read(FileBytes("a.csv", b"id,age,size\np1,1,2\np2,,3\n"), row_id="id")
    url = f"sqlite:///{tmp_path / 'study.db'}"
    Campaign.create(table, name="one", store=url).close()
    for keywords in ({"name": "one"}, {"name": ""}, {"name": "x" * 300}, {"name": "two", "strategy": "luck"}):
        message = message_of(lambda keywords=keywords: Campaign.create(table, store=url, **keywords))
        assert said(message, "de") != message
        assert english_in(message) == [], said(message, "de")
