"""The rounds of a campaign: which are run again, and which are spared."""

import pytest

from cellworth import Prices
from cellworth.campaign import Campaign
from cellworth.campaign.cache import unpack_cache
from cellworth.campaign.stores.memory import MemoryStore
from tests.campaign.campaigns import (
    COLUMNS,
    Clock,
    Interrupted,
    answers_to,
    begin,
    cells,
    check_next_ask,
    completions,
    counted_completions,
    played,
    rounds_of,
)

pytestmark = pytest.mark.usefixtures("own_strategies")


def test_whoever_runs_a_round_spares_the_others_that_round():
    store, _ = played(3)
    for expected in (1, 1, 1, 1):  # a new process each time, as on a command line
        campaign = Campaign.open(store, clock=Clock())
        batch, ran = completions(lambda campaign=campaign: campaign.ask(count=2))
        assert ran == expected
        campaign.tell(answers_to(campaign.open_purchases()))
        assert batch


def test_who_closes_a_campaign_spares_the_next_one_all_rounds_but_the_newest():
    store, campaign = played(2)
    campaign.close()
    for _ in range(3):
        with Campaign.open(store, clock=Clock()) as campaign:
            _, ran = completions(lambda campaign=campaign: campaign.ask(count=2))
            assert ran == 1
            campaign.tell(answers_to(campaign.open_purchases()))


def test_a_round_that_never_got_into_the_log_is_not_kept():
    store, campaign = played(2)
    campaign.preview(count=2)
    campaign.close()
    kept = store.load_cache("study", at_most=10**6)
    assert kept is None or unpack_cache(kept[1])["rounds"] == rounds_of(campaign)


def test_a_second_ask_in_a_round_needs_no_completion():
    _, campaign = played(2)
    _, ran = completions(lambda: campaign.ask(count=2))
    assert ran == 1
    first = cells(campaign.open_purchases())
    more, ran = completions(lambda: campaign.ask(count=2))
    assert ran == 0
    assert not set(more) & set(first)


def test_somebody_else_begins_another_round(shared):
    """The round that was begun here is thrown away, and the adviser led along the log."""
    store, clock, other = shared
    other.tell(answers_to(other.ask(count=4)))
    late = Campaign.open(Interrupted(store, lambda: other_round(other)), clock=clock)
    mine = late.ask(count=6)
    kinds = [(event["kind"], event.get("round"), event.get("based_on")) for event in late.history()]
    assert kinds[2:] == [("told", None, None), ("asked", 2, 3), ("asked", 2, 3)]
    assert len(mine) == 6
    check_next_ask(late, store, clock)
    check_next_ask(other, store, clock)


def other_round(other):
    tell_something(other)
    other.ask(count=2)


def tell_something(other):
    row = next(i for i in range(30) if other.table.holes[i, 0])
    other.tell({(f"p{row}", "dose"): 3.0}, unsolicited=True)


def test_a_round_that_was_begun_here_counts_if_nobody_began_another(shared):
    store, clock, other = shared
    other.tell(answers_to(other.ask(count=4)))
    late = Campaign.open(Interrupted(store, lambda: tell_something(other)), clock=clock)
    with counted_completions() as counted:
        late.ask(count=6)
    assert len(counted) == 1  # the first round is in the store
    event = late.history()[-1]
    assert (event["number"], event["round"], event["based_on"]) == (4, 2, 2)
    check_next_ask(late, store, clock)
    check_next_ask(other, store, clock)


def test_a_round_is_scored_by_the_prices_of_its_time():
    """Prices changed within a round: a process that runs the round anew asks for the same cells."""
    store = MemoryStore()
    here = begin(store=store, strategy="recommended", budget=500.0)
    here.ask(count=3)
    here.change_prices(Prices.per_column(dict(zip(COLUMNS, (9.0, 0.1, 5.0, 0.2, 7.0, 0.4), strict=True))))
    copy = MemoryStore()  # without a cache
    copy.create(store.record("study"))
    copy.append("study", 0, store.events("study"))
    there = Campaign.open(copy, clock=Clock())
    assert here.ask(count=6) == there.ask(count=6)
