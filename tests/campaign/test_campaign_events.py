"""Events about a whole campaign say what they changed; a new kind of event is one class."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.campaign_events import (
    STAGES,
    BudgetChanged,
    CategoryAdded,
    ClockSet,
    Extended,
    PricesChanged,
    StageChanged,
)
from cellworth.campaign.event_codec import KINDS, Content, decode, encode
from cellworth.campaign.state import State
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, ParameterError
from cellworth.prices import Prices
from cellworth.report import ledger_entries
from tests.campaign.campaigns import Clock, answers_to, begin, make_table


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BudgetChanged(100.0, None, None), "from 100.00 EUR to no limit"),
        (CategoryAdded("stage", "0", "I", None), "stage: 0, before I"),
        (CategoryAdded("hue", "pink", None, "seen"), "hue: pink"),
        (ClockSet(3600.4, None), "back by 1:00:00"),
        (ClockSet(-60.0, None), "forward by 0:01:00"),
        (PricesChanged(Prices.same(2.0).to_dict(), None), repr(Prices.same(2.0))),
    ],
    ids=lambda each: getattr(each, "kind", ""),
)
def test_each_says_what_it_changed(content, words):
    assert content.change("EUR") == words
    assert content.size == 1
    assert list(content.lines()) == []


def test_added_rows_are_shown_by_their_ids_without_their_packed_table():
    content = Extended(("p8", "p9"), b"packed")
    assert content.shown() == {"rows": ["p8", "p9"]}
    assert [line.row for line in content.lines()] == ["p8", "p9"]
    assert (content.size, content.change(None)) == (2, None)


def test_every_kind_is_explained():
    pages = Path(__file__).parents[2] / "docs"
    for page in ("explanation/never-lose-an-answer.md", "reference/campaign.md"):
        said = (pages / page).read_text("utf-8")
        assert [kind for kind in KINDS if f"| {kind} |" not in said] == []


@pytest.fixture
def paused():
    """A kind of event that cellworth does not have."""

    @dataclass(frozen=True)
    class Paused(Content):
        kind = words = "paused"
        whole = True
        days: float

        def apply(self, state, event):
            state.paused = self.days

    yield Paused
    del KINDS["paused"]


def test_a_new_kind_of_event_is_one_class(paused):
    store = MemoryStore()
    campaign = begin(make_table(20), store=store, strategy="random")
    event = campaign._log.write(paused, lambda *_: paused(2.5), who="Ann")
    assert campaign._log.state.paused == 2.5
    assert decode(encode(event)) == event
    assert campaign.history()[-1] | {"time": None} == {
        "number": 1,
        "time": None,
        "kind": "paused",
        "who": "Ann",
        "key": None,
        "days": 2.5,
    }
    assert [(entry.what, entry.lines) for entry in ledger_entries(campaign)] == [("paused", ())]
    stored = store.events(campaign.name)[0]
    del KINDS["paused"]
    with pytest.raises(DataError, match="event 1 is of the unknown kind 'paused'"):
        decode(stored)
    KINDS["paused"] = paused


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
