"""Who answered how much, and what is overdue."""

from datetime import timedelta

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.log import utc_now
from cellworth.campaign.stores import MemoryStore
from cellworth.report import people_summary
from tests.campaign.campaigns import PRICES, answers_to, make_table


def test_people_and_what_is_overdue():
    late = [timedelta()]
    campaign = Campaign.create(
        make_table(), prices=PRICES, store=MemoryStore(), strategy="random", clock=lambda: utc_now() + late[0]
    )
    batch = campaign.ask(count=6, lease="3d")
    campaign.tell(answers_to(batch[:2]), who="Bea")
    campaign.tell(answers_to(batch[2:3]), who="Cy")
    campaign.refuse(batch[3:4], "lost", who="Cy")
    found = people_summary(campaign)
    assert [(each.who, each.answers, each.refused) for each in found.people] == [("Bea", 2, 0), ("Cy", 1, 1)]
    assert sum(each.money for each in found.people) == pytest.approx(campaign.spent)
    assert (found.overdue, found.due_soon) == (0, 0)
    late[0] = timedelta(days=2)
    assert people_summary(campaign).due_soon == 2
    late[0] = timedelta(days=4)
    found = people_summary(campaign)
    assert (found.overdue, found.due_soon, found.next_due) == (2, 0, None)
