"""Events about a whole campaign say what they changed; a new kind of event is one class."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from cellworth.campaign.campaign_events import BudgetChanged, CategoryAdded, ClockSet, Extended, PricesChanged
from cellworth.campaign.event_codec import KINDS, Content, decode, encode
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError
from cellworth.prices import Prices
from cellworth.report import ledger_entries
from tests.campaign.campaigns import begin, make_table


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
