"""Budget and prices change during a campaign: as events, for what is asked from then on."""

import pytest

from cellworth import Group, Prices
from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import BudgetChanged, PricesChanged
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from tests.campaign.campaigns import PRICES, Clock, answers_to, begin, same_state


@pytest.fixture
def campaign():
    return begin(prices=Prices.same(2.0, currency="EUR"), budget=10.0, strategy="random")


def test_another_budget_is_in_force_at_once_and_in_the_log(campaign):
    assert len(campaign.ask()) == 5
    assert campaign.ask() == []
    assert campaign.change_budget(13, who="Ann", reason="a second grant")
    assert (campaign.budget, campaign.left, campaign.totals().budget) == (13.0, 3.0, 13.0)
    assert len(campaign.ask()) == 1
    assert campaign.change_budget(None)
    assert (campaign.budget, campaign.left) == (None, None)
    assert not campaign.change_budget(None)
    changes = [event for event in campaign.events() if isinstance(event.content, BudgetChanged)]
    assert [each.content for each in changes] == [
        BudgetChanged(10.0, 13.0, "a second grant"),
        BudgetChanged(13.0, None, None),
    ]
    assert changes[0].who == "Ann"


def test_a_budget_that_nobody_has_is_refused(campaign):
    for budget in (1e40, 1e308):
        with pytest.raises(ParameterError, match=r"at most 1e\+15.*no limit"):
            campaign.change_budget(budget)


def test_a_budget_below_what_is_spent_and_reserved_is_refused(campaign):
    batch = campaign.ask(count=3)
    campaign.tell(answers_to(batch[:1]))
    with pytest.raises(ConflictError, match=r"spent, 2.00 EUR, and reserved, 4.00 EUR. Give at least 6.00"):
        campaign.change_budget(5.99)
    campaign.cancel(batch[1:2])
    assert campaign.change_budget(4)
    assert campaign.left == 0.0
    for wrong in (0, -1, float("nan"), "5", 4.001):
        with pytest.raises(ParameterError, match="budget"):
            campaign.change_budget(wrong)
    with pytest.raises(ParameterError, match="the reason"):
        campaign.change_budget(100, reason=" ")
    assert campaign.budget == 4.0


def test_ended_leases_do_not_hold_a_budget_up():
    clock = Clock()
    campaign = begin(prices=2.0, budget=10.0, strategy="random", clock=clock)
    campaign.ask(count=4, lease="1h")
    with pytest.raises(ConflictError):
        campaign.change_budget(2)
    clock.advance(hours=1)
    assert campaign.change_budget(2)


def test_cells_that_are_out_cost_what_they_were_asked_for_at(campaign):
    early = campaign.ask(count=2)
    assert campaign.change_prices(Prices.same(0.5, currency="EUR"), who="Ann", reason="another laboratory")
    assert campaign.prices == Prices.same(0.5, currency="EUR")
    assert campaign.reserved == 4.0
    late = campaign.ask(count=3)
    assert [each.price for each in late] == [0.5] * 3
    assert (campaign.reserved, campaign.left) == (5.5, 4.5)
    campaign.tell(answers_to([*early, *late]))
    assert (campaign.spent, campaign.reserved) == (5.5, 0.0)
    [change] = [event.content for event in campaign.events() if isinstance(event.content, PricesChanged)]
    assert change.reason == "another laboratory"
    assert Prices.from_dict(change.prices) == campaign.prices


def test_prices_of_other_groups_and_visits():
    campaign = begin(prices=PRICES, budget=50.0, strategy="random")
    campaign.ask(count=4)
    reserved = campaign.reserved
    every = Group("all at once", list(campaign.table.column_names), first=4.0, then=1.0)
    campaign.change_prices(Prices.per_column({}, groups=[every], visit=2.0))
    batch = campaign.ask(count=5)
    assert {each.group for each in batch} == {"all at once"}
    rows = {each.row for each in batch}
    # A cell costs 1, the first one of a row 4, and the row a visit.
    assert campaign.reserved == pytest.approx(reserved + len(batch) + 5.0 * len(rows), abs=1e-9)


def test_prices_that_do_not_fit_change_nothing(campaign):
    with pytest.raises(ParameterError, match=r"currency of a campaign cannot change: it has EUR.*in USD"):
        campaign.change_prices(Prices.same(1.0, currency="USD"))
    with pytest.raises(DataError, match="'age'"):
        campaign.change_prices({"dose": 1.0})
    with pytest.raises(ParameterError):
        campaign.change_prices(lambda row, column: 1.0)
    assert not campaign.change_prices(2.0)  # in the campaign's currency
    assert campaign.number == 0
    assert campaign.change_prices(3)
    assert campaign.prices.currency == "EUR"


def test_replay_and_other_processes_see_each_budget_and_price_in_its_time():
    store, clock = MemoryStore(), Clock()
    campaign = begin(prices=2.0, budget=10.0, strategy="random", store=store, clock=clock)
    other = Campaign.open(store, clock=clock)
    campaign.tell(answers_to(campaign.ask(count=2)))
    campaign.change_prices(1.0)
    campaign.change_budget(30)
    assert (other.budget, other.prices, other.left) == (30.0, Prices.same(1.0), 26.0)
    assert [each.price for each in other.ask(count=2)] == [1.0, 1.0]
    assert same_state(Campaign.open(store, clock=clock), campaign)
    then = campaign.replay(3)
    assert (then.budget, then.prices, then.left) == (10.0, Prices.same(1.0), 6.0)
    assert (campaign.replay(2).prices, campaign.replay(0).left) == (Prices.same(2.0), 10.0)
    asked = campaign.events()[-1].content
    again = campaign.replay(4).ask(count=2)
    assert [(each.row, each.column, each.price) for each in again] == [cell[:3] for cell in asked.cells]
    with pytest.raises(ParameterError, match="read-only"):
        then.change_budget(40)


def test_history_as_records_and_as_a_frame(campaign):
    campaign.change_budget(20, reason="more")
    campaign.change_prices(1)
    first, second = campaign.history()
    assert (first["kind"], first["old"], first["new"], first["reason"]) == (
        "budget changed",
        10.0,
        20.0,
        "more",
    )
    assert second["prices"]["cells"]["default"] == 1.0
    frame = campaign.history("pandas")
    assert list(frame["kind"]) == ["budget changed", "prices changed"]
    assert frame["value"][0] == "20.0"
