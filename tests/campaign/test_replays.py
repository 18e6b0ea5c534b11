"""A replay gives what was recorded, whatever other writers did; each ask can be worked out again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.asking import Asker
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_events import Asked, Wish
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import Rounds
from cellworth.campaign.settings import registered
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError
from tests.campaign.campaigns import Clock, Interrupted, answers_to, begin, cells

pytestmark = pytest.mark.usefixtures("own_strategies")
SENSITIVE = "linear-impact"


def busy_campaign(store, clock):
    """Return a campaign in which others tell, and ask in rounds of their own, before each ask gets in.

    Its strategy finds other cells worth their price after each answer, so a wrong round shows.
    """
    other = begin(store=store, clock=clock, strategy=SENSITIVE, budget=None)

    def tell_and_ask():
        other.tell(answers_to(other.open_purchases()[:2]))
        other.ask(count=2)

    def only_tell():
        other.tell(answers_to(other.open_purchases()[:1]))

    other.ask(count=6)
    for others in ([tell_and_ask], [only_tell], [only_tell, tell_and_ask], [tell_and_ask] * 4, []):
        clock.advance(hours=1)
        late = Campaign.open(Interrupted(store, *others), clock=clock)
        late.ask(count=3, lease="2h")
    return Campaign.open(store, clock=clock)


def test_each_recorded_ask_is_what_a_replay_gives():
    clock, store = Clock(), MemoryStore()
    campaign = busy_campaign(store, clock)
    asks = [event for event in campaign.events() if isinstance(event.content, Asked)]
    assert len(asks) >= 10
    for event in asks:
        wish = event.content.wish
        then = campaign.replay(event.number - 1)
        batch = then.ask(wish.budget, wish.count, lease=wish.lease)
        assert [(p.row, p.column, p.price) for p in batch] == [cell[:3] for cell in event.content.cells]
        assert then.number == event.number - 1


def test_an_ask_says_what_was_wished_for_and_what_it_rests_on():
    campaign = begin(strategy=SENSITIVE, budget=None)
    campaign.tell(answers_to(campaign.ask(5.0, count=2, lease="2h")))
    campaign.ask(count=1, lease=None)
    first, _, second = (event.content for event in campaign.events())
    assert (first.wish, first.round, first.based_on) == (Wish(5.0, 2, timedelta(hours=2)), 1, 0)
    assert (second.wish, second.round, second.based_on) == (Wish(None, 1, None), 2, 2)


def test_each_recorded_ask_can_be_worked_out_again_from_what_it_says():
    """From its wish, its time and its round: also where another writer had begun a newer one."""
    store = MemoryStore()
    campaign = busy_campaign(store, Clock())
    for event in campaign.events():
        if not isinstance(event.content, Asked):
            continue
        asked = event.content
        log = Log(store, "study", until=event.number - 1)
        rounds = [*log.state.rounds[: asked.round - 1], asked.based_on]
        asker = Again(log, campaign, rounds)
        assert replace(asker.asked(asked.wish, event.time), until=asked.until) == asked


class Again(Asker):
    """An asker that takes the given round as the newest."""

    def __init__(self, log, campaign, rounds):
        super().__init__(log, BudgetAndPrices(log))
        self._rounds = Given(log, registered(SENSITIVE), BudgetAndPrices(log), campaign.seed)
        self._rounds.given = rounds


class Given(Rounds):
    def newest(self, **_):
        return self.after(self.given)


def test_who_loses_to_others_takes_a_turn_and_runs_no_round_in_it():
    clock, store = Clock(), MemoryStore()
    other = begin(store=store, clock=clock, strategy="stating", budget=None)
    other.ask(count=12)

    def tell_and_ask():
        other.tell(answers_to(other.open_purchases()[:1]))
        other.ask(count=1)

    class Turns(Interrupted):
        alone_now = False

        def alone(self, name):
            self.others = []  # they wait
            self.alone_now = True
            return self.store.alone(name)

    shared = Turns(store, *[tell_and_ask] * 50)
    late = Campaign.open(shared, clock=clock)
    assert len(late.ask(count=2)) == 2
    assert shared.alone_now
    asked = late.events()[-1].content
    assert asked.round <= len(late._log.state.rounds)
    assert late.number == 1 + 2 * 2 + 1  # two of the others got in


def test_an_ask_that_finds_nothing_is_remembered_if_it_has_a_key():
    campaign = begin(budget=0.05, strategy="stating")
    assert campaign.ask(key="first") == []
    assert campaign.ask() == []
    assert campaign.number == 1
    assert campaign.events()[0].content == Asked(
        0, 0, None, (), Wish(None, None, campaign.events()[0].content.wish.lease)
    )
    assert campaign.ask(key="first") == []
    assert campaign.number == 1
    with pytest.raises(ConflictError, match="used before"):
        campaign.ask(count=2, key="first")
    assert campaign.history()[0]["cells"] == []
    assert cells(campaign.open_purchases()) == []
