"""A campaign goes on where it was, and what comes of its answers: the filled table and the model."""

from cellworth.campaign import Campaign
from tests.campaign.campaigns import PRICES, Clock, answers_to, cells, make_table


def test_a_campaign_on_a_file_goes_on_where_it_was(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    with Campaign.create(make_table(), prices=PRICES, budget=30, store=url, clock=Clock()) as campaign:
        campaign.tell(answers_to(campaign.ask(count=3)), who="Ann")
        left = campaign.left
        expected = cells(campaign.replay(2).ask(count=3))
    with Campaign.open(url, clock=Clock()) as again:
        assert (again.name, again.left, again.budget) == ("study", left, 30.0)
        assert again.prices == PRICES
        assert again.original.equals(make_table())
        assert cells(again.ask(count=3)) == expected
