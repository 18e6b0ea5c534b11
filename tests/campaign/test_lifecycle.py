"""A campaign that is closed or archived can be read, and takes nothing until it is opened again."""

import pytest

from cellworth import Prices
from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import StageChanged
from cellworth.campaign.lifecycle import STAGES
from cellworth.campaign.state import State
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, ParameterError
from tests.campaign.campaigns import Clock, answers_to, begin


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def campaign(store):
    return begin(prices=Prices.same(2.0), budget=50.0, strategy="random", store=store)


def everything(campaign, batch):
    """All that a campaign can be told to do."""
    return [
        lambda: campaign.ask(count=1),
        lambda: campaign.tell(answers_to(batch[:1])),
        lambda: campaign.refuse(batch[:1], "lost"),
        lambda: campaign.cancel(batch[:1]),
        lambda: campaign.take(1, who="Ann"),
        lambda: campaign.correct("p0", "age", 33),
        lambda: campaign.extend({"new": {}}),
        lambda: campaign.change_budget(60),
        lambda: campaign.change_prices(Prices.same(3.0)),
    ]


@pytest.mark.parametrize("stage", ["closed", "archived"])
def test_a_campaign_that_is_not_open_takes_nothing(campaign, stage):
    batch = campaign.ask(count=3, key="first")
    assert campaign.change_stage(stage, who="Ann", reason="done")
    assert campaign.stage == stage
    number = campaign.number
    for act in everything(campaign, batch):
        with pytest.raises(
            ConflictError, match=f"'study' is {stage}, so nothing was recorded. Open it again"
        ):
            act()
    assert campaign.number == number
    assert campaign.ask(count=3, key="first") == batch  # repeating a request is no new one
    assert campaign.open_purchases()
    assert campaign.change_stage("open", who="Ann")
    assert campaign.tell(answers_to(batch)) == 3


def test_the_stage_is_in_the_log_and_others_see_it(campaign, store):
    other = Campaign.open(store, clock=Clock())
    assert campaign.stage == other.stage == "open"
    assert not campaign.change_stage("open")
    campaign.change_stage("closed", who="Ann", reason="done")
    campaign.change_stage("archived")
    assert other.stage == "archived"
    assert [each.content for each in other.events()] == [
        StageChanged("open", "closed", "done"),
        StageChanged("closed", "archived", None),
    ]
    assert other.replay(1).stage == "closed"
    with pytest.raises(ConflictError):
        other.ask(count=1)


def test_a_snapshot_keeps_the_stage(campaign):
    state = campaign._log.newest()
    campaign.change_stage("closed")
    assert State.restored(campaign.original, state.to_plain()).stage == "closed"
    campaign.change_stage("open")
    assert "stage" not in state.to_plain()


def test_there_are_three_stages(campaign):
    assert STAGES == ("open", "closed", "archived")
    with pytest.raises(ParameterError, match="stage must be one of open, closed, archived; got 'shut'"):
        campaign.change_stage("shut")
