"""A wrong clock is noticed, asks and takes wait, answers do not, and the time can be set right."""

import warnings
from datetime import UTC, datetime, timedelta

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import ClockSet
from cellworth.campaign.clock import BEHIND, FAR_BEHIND, IDLE, clock_problem, late_leases, may_lease, new_time
from cellworth.campaign.maintenance import check_campaign
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError
from tests.campaign.campaigns import Clock, answers_to, begin, same_state

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
YEARS = 3650  # days


@pytest.fixture
def two():
    """A campaign with two cells out, its clock, and a writer whose clock is ten years fast."""
    store, clock, fast = MemoryStore(), Clock(), Clock()
    fast.advance(days=YEARS)
    campaign = begin(store=store, clock=clock, strategy="random")
    campaign.ask(count=2, lease="7d", who="Ann")
    return campaign, clock, Campaign.open(store, clock=fast)


def test_what_is_far_apart():
    for gap, wrong in ((BEHIND, False), (BEHIND * 2, True), (-IDLE, False), (-IDLE * 2, True)):
        assert (clock_problem("study", NOON + gap, NOON) is not None) == wrong
        assert (new_time(NOON + gap, NOON, None) is not None) == wrong
    for gap, allowed in ((FAR_BEHIND, True), (FAR_BEHIND * 2, False), (-IDLE, True), (-IDLE * 2, False)):
        assert may_lease(NOON + gap, NOON, ends_leases=True) == allowed
        assert may_lease(NOON + gap, NOON, ends_leases=False) == (allowed or gap < timedelta(0))
    assert new_time(NOON + timedelta(hours=1), NOON, "why") == ClockSet(3600.0, "why")
    assert late_leases([NOON + timedelta(days=7)], NOON) is None
    assert late_leases([NOON + 2 * IDLE] * 2, NOON).startswith("2 leases end more than a year")


def test_a_fast_clock_may_not_ask_or_take(two):
    campaign, _, wrong = two
    for write in (lambda: wrong.ask(count=1), lambda: wrong.take(1, who="Bob")):
        with pytest.raises(ConflictError, match=r"2024-05-01 12:00.*says 2034-.*more than a year later"):
            write()
    assert campaign.number == 1
    assert len(campaign.open_purchases()) == 2


def test_answers_dated_by_a_fast_clock_count_and_the_time_can_be_set_back(two):
    campaign, clock, wrong = two
    out = campaign.open_purchases()
    wrong.tell(answers_to(out[:1]), who="Bob")
    assert wrong.ask(count=1, lease="7d")  # the last event is of its own time now
    clock.advance(hours=1)
    with pytest.warns(UserWarning, match="one of the two clocks was wrong"):
        left = campaign.open_purchases()
    assert len(left) == 1  # the other lease has ended by the campaign's time
    for write in (lambda: campaign.ask(count=1), lambda: campaign.take(1, who="Ann")):
        with pytest.raises(
            ConflictError, match=r"is dated 2034-.*clock says 2024-05-01 13:00.*cellworth clock --set"
        ):
            write()
    assert campaign.tell(answers_to(out[1:]), who="Cy") == 1
    assert campaign.times().problem is not None
    assert campaign.set_clock(who="Boss", reason="a fast clock")
    assert campaign.times() == (clock.time, clock.time, None)
    event = campaign.events()[-1]
    assert (event.time, event.who, event.content.reason) == (clock.time, "Boss", "a fast clock")
    [late] = campaign.open_purchases()
    assert clock.time < late.until <= clock.time + timedelta(days=7)
    assert not campaign.set_clock()
    taken = campaign.take([late], who="Ann", lease="1h")
    assert taken[0].held_until == clock.time + timedelta(hours=1)
    clock.advance(days=7)
    assert campaign.open_purchases() == []
    assert campaign.ask(count=3)
    assert same_state(Campaign.open(campaign._log.store, clock=clock), campaign)


def test_holds_end_earlier_too_and_replays_by_time_go_by_the_time_set(two):
    campaign, clock, wrong = two
    wrong.tell({})
    wrong.set_clock(reason="idle for long")  # forward: allowed, and wrong
    held = wrong.take(wrong.ask(count=1), who="Zoe", lease="8h")
    clock.advance(minutes=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert campaign.set_clock()
    [again] = [each for each in campaign.open_purchases() if each.holder == "Zoe"]
    assert again.held_until == held[0].held_until - timedelta(days=YEARS) + timedelta(minutes=30)
    number = campaign.number
    clock.advance(hours=1)
    campaign.ask(count=1)
    assert campaign.replay(clock.time - timedelta(minutes=30)).number == number
    assert campaign.replay(clock.time).number == number + 1
    assert campaign.replay(NOON).number == 1


def test_a_campaign_with_nothing_out_that_rested_for_more_than_a_year_goes_on_with_a_warning():
    clock = Clock()
    campaign = begin(clock=clock, strategy="random")
    campaign.tell(answers_to(campaign.ask(count=2, lease="7d")))
    campaign.ask(count=1, lease=None)  # a lease without an end cannot end too early
    clock.advance(days=400)
    with pytest.warns(UserWarning, match="more than a year later"):
        assert campaign.ask(count=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert campaign.ask(count=1)  # said once


@pytest.mark.parametrize("held", [False, True])
def test_with_cells_out_a_jump_of_more_than_a_year_must_be_confirmed(held):
    """If the clock were wrong, they would be paid for twice."""
    clock = Clock()
    campaign = begin(clock=clock, strategy="random")
    out = campaign.ask(count=1, lease=None if held else "7d")
    if held:
        campaign.take(out, who="Zoe", lease="8h")
    clock.advance(days=400)
    with pytest.raises(ConflictError, match=r"more than a year later.*cellworth clock --set"):
        campaign.ask(count=1)
    assert campaign.set_clock(who="Ann")
    assert campaign.ask(count=1)
    assert campaign.events()[-2].content.back == -400 * 86400


def test_check_reports_odd_times():
    store, clock = MemoryStore(), Clock()
    clock.time = datetime.now(UTC)
    campaign = begin(store=store, clock=clock, strategy="random")
    campaign.ask(count=1, lease="30d")
    assert check_campaign(store, "study").note is None
    campaign.ask(count=2, lease=timedelta(days=1000))
    assert "2 leases end more than a year from now" in check_campaign(store, "study").note
    clock.advance(days=300)
    campaign.ask(count=1)
    assert "one of the two clocks was wrong" in check_campaign(store, "study").note
