"""The state of a campaign: its money adds up, and a correction keeps the old value."""

import numpy as np
import pytest

from cellworth.errors import DataError
from tests.campaign.campaigns import Clock, answers_to, begin


def test_money_is_reserved_spent_and_released():
    campaign = begin(budget=10.0)
    batch = campaign.ask(budget=4.0)
    total = sum(purchase.price for purchase in batch)
    assert 0 < total <= 4.0
    assert campaign.reserved == pytest.approx(total)
    campaign.tell(answers_to(batch[:1]))
    campaign.refuse(batch[1:2], "lost")
    assert campaign.spent == batch[0].price
    assert campaign.reserved == pytest.approx(total - batch[0].price - batch[1].price)
    assert campaign.left == pytest.approx(10.0 - total + batch[1].price)
    rest = campaign.ask()
    assert campaign.left >= 0
    assert rest
    for _ in range(3):  # rounding may leave a cent or ten for a second list
        last = campaign.ask()
    assert last == []
    assert 0 <= campaign.left < 1.0  # less than the cheapest cell that is still missing, its fee included
    assert {p.group for p in batch + rest if p.column in ("dose", "age")} <= {"blood"}
    assert {p.group for p in batch + rest if p.column not in ("dose", "age")} <= {None}


@pytest.fixture
def campaign():
    return begin()


def hole(campaign, column="dose", which=0):
    table = campaign.table
    rows = np.flatnonzero(table.holes[:, table.column_index(column)])
    return table.row_ids[rows[which]], column


def test_a_late_answer_counts_and_costs():
    clock = Clock()
    campaign = begin(clock=clock)
    (purchase,) = campaign.ask(count=1, lease="1h")
    clock.advance(hours=2)
    assert campaign.reserved == 0
    assert campaign.open_purchases() == []
    campaign.tell(answers_to([purchase]))
    assert campaign.spent == purchase.price


def test_corrections_keep_the_old_value(campaign):
    old = float(campaign.original.values[0, 0])
    assert campaign.correct("p0", "dose", old + 1, reason="misread", who="Ann")
    assert not campaign.correct("p0", "dose", old + 1)
    event = campaign.history()[-1]
    assert (event["old"], event["new"], event["reason"], event["who"]) == (old, old + 1, "misread", "Ann")
    assert campaign.table.values[0, 0] == old + 1
    assert campaign.original.values[0, 0] == old
    with pytest.raises(DataError, match="has no value yet"):
        campaign.correct(*hole(campaign), 3.0)
