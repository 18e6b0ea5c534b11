"""A state from a snapshot is the state from all events; a snapshot that is not from them is ignored."""

import hashlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Prices
from cellworth.campaign import Campaign, state_snapshots
from cellworth.campaign.array_codec import pack_plain, unpack_plain
from cellworth.campaign.campaign_events import Extended
from cellworth.campaign.cell_events import Asked, AskedCell, Told, ToldCell
from cellworth.campaign.columnar_dict import ColumnarDict
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import Log
from cellworth.campaign.maintenance import check_campaign
from cellworth.campaign.state import State
from cellworth.campaign.state_snapshots import FORM, STATED, StateSnapshot
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.campaign.table_codec import pack
from cellworth.errors import ConflictError, DataError
from cellworth.prices.money import Money
from tests.campaign.campaigns import COLUMNS, PRICES, VALUES, Clock, answers_to, begin, make_table, same_state

pytestmark = [
    pytest.mark.filterwarnings("ignore::cellworth.errors.OverspentWarning"),
    pytest.mark.filterwarnings("ignore:the last event of campaign"),
]
FOREVER = 10**9
PAID = [None, 0.1, 1 / 3]


def without_snapshots(store):
    """Return a copy of a store in which a campaign can only be opened by applying every event."""
    copy = MemoryStore()
    copy.create(store.record("study"), store.events("study"))
    return copy


def everything(thing, rows=None):
    """Return all that an object is made of, so that two states can be compared whatever they are made of."""
    if isinstance(thing, Money):
        return Fraction(thing.units, 10**thing.decimals)
    if isinstance(thing, ColumnarDict):
        return {key: everything(value) for key, value in thing.items()}
    if isinstance(thing, State):
        parts = {name: part for name, part in vars(thing).items() if name != "_founding"}
        return {name: everything(part, thing.index.n_rows) for name, part in parts.items()}
    if isinstance(thing, np.ndarray):
        return [repr(each) for each in thing[:rows].tolist()]  # without the room for further rows
    if isinstance(thing, Mapping):
        return {key: everything(value) for key, value in thing.items()}, list(thing)
    if type(thing).__module__.startswith("cellworth.campaign") and hasattr(thing, "__dict__"):
        # the ends of leases are in a heap, some of them of cells that are closed
        left_out = ("_ends", "held", "_table", "_original", "_index")
        parts = {name: part for name, part in vars(thing).items() if name not in left_out}
        found = {name: everything(part, rows) for name, part in parts.items()}
        return found | {"held": getattr(thing, "held", 0)}
    return thing


def log_of(store):
    return Log(store, "study", Clock())


KINDS = ["ask", "take", "give", "tell", "refuse", "cancel", "correct", "extend", "unasked", "wait"]
KINDS += ["release", "budget", "prices", "contradict", "clock"]
steps = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 10**6),
    ),
    min_size=3,
    max_size=25,
)


def do(campaign, clock, what, pick):
    """Do one of the things that people do, with a cell or some cells that are picked."""
    out = campaign.open_purchases()
    some = [out[(pick + k) % len(out)] for k in range(min(3, len(out)))]
    table = campaign.table
    row, column = table.row_ids[pick % len(table.row_ids)], COLUMNS[pick % len(COLUMNS)]
    hole = table.holes[table.row_index(row), table.column_index(column)]
    if what == "ask":
        campaign.ask(count=1 + pick % 4, lease=[None, "1h", "7d"][pick % 3], who="Ann", key=f"ask {pick}")
    elif what == "take":
        campaign.take(pick % 3, who="Eve", lease="2h")
    elif what == "give" and out:
        campaign.give_back([p for p in out if p.holder == "Eve"][:1], who="Eve")
    elif what == "tell":
        campaign.tell(answers_to(some), insist=True)
    elif what == "refuse" and out:
        campaign.refuse(some[:1], "lost")
    elif what == "cancel" and out:
        campaign.cancel(some[:1])
    elif what == "correct" and not hole and column in ("dose", "age"):
        campaign.correct(row, column, pick % 100, insist=True)
    elif what == "extend" and f"new {pick}" not in table.row_ids:
        campaign.extend({f"new {pick}": {"dose": pick % 30, "outcome": "ill"}})
    elif what == "unasked" and hole:
        campaign.tell({(row, column): VALUES[column]}, unsolicited=True, price=PAID[pick % 3], insist=True)
    elif what == "wait":
        clock.advance(hours=pick % 5)
    elif what == "release" and out:
        campaign.release([p for p in out if p.holder == "Eve"][:1], reason="ill")
    elif what == "budget":
        campaign.change_budget(1000 + pick, reason="more")
    elif what == "prices":
        columns = {"stage": 2.5 + pick % 3, "hue": 0.1, "smokes": 0.3, "visit": 1.0}
        campaign.change_prices(Prices.per_column(columns, groups=PRICES.groups, visit=pick % 2))
    elif what == "contradict" and not hole and column == "dose":
        with pytest.raises(ConflictError):
            campaign.tell({(row, column): 1000.5 + pick})
    elif what == "clock":
        clock.advance(days=-400)
        campaign.set_clock()


@settings(max_examples=20, deadline=None)
@given(steps=steps, every=st.integers(1, 60))
def test_a_state_from_a_snapshot_is_the_state_from_all_events(steps, every):
    before, state_snapshots.EVERY = state_snapshots.EVERY, every
    try:
        store, clock = MemoryStore(), Clock()
        campaign = begin(make_table(n=8, seed=3), store=store, clock=clock, budget=40.0, strategy="random")
        for what, pick in steps:
            do(campaign, clock, what, pick)
        quick, whole = Log(store, "study", clock).state, Log(without_snapshots(store), "study", clock).state
        assert everything(quick) == everything(whole)
        assert StateSnapshot.of(quick) == StateSnapshot.of(whole)
        assert set(quick.ended(clock.time)) == set(whole.ended(clock.time))
        assert same_state(Campaign.open(store, clock=clock), campaign)
        assert same_state(Campaign.open(without_snapshots(store), clock=clock), campaign)
        assert check_campaign(store, "study").problem is None
    finally:
        state_snapshots.EVERY = before


def worked(store, monkeypatch, rounds=3):
    """Return a campaign with snapshots, of which the last is of some events ago."""
    monkeypatch.setattr(state_snapshots, "EVERY", 40)
    campaign = begin(store=store, strategy="random", budget=None)
    for k in range(rounds):
        campaign.tell(answers_to(campaign.ask(count=4, key=f"ask {k}")[:3]))
    number, blob = store.load_snapshot("study", FOREVER)
    assert 0 < number < campaign.number
    return campaign, number, blob


@pytest.fixture
def applied(monkeypatch):
    """The numbers of the events that were applied."""
    numbers, apply = [], State.apply
    monkeypatch.setattr(
        State, "apply", lambda state, event: (numbers.append(event.number), apply(state, event))
    )
    return numbers


@pytest.mark.service
def test_opening_applies_the_events_since_the_snapshot_only_and_writes_nothing(url, monkeypatch, applied):
    store = open_store(url)
    campaign, number, blob = worked(store, monkeypatch)
    applied.clear()
    monkeypatch.setattr(store, "save_snapshot", None)
    again = Campaign.open(store, clock=Clock())
    assert applied == list(range(number + 1, campaign.number + 1))
    assert same_state(again, campaign)
    assert store.load_snapshot("study", FOREVER) == (number, blob)
    store.close()


def test_replays_before_and_after_a_snapshot(monkeypatch, applied):
    store = MemoryStore()
    campaign, number, _ = worked(store, monkeypatch)
    plain = Campaign.open(without_snapshots(store), clock=Clock())
    for until in range(campaign.number + 1):
        expected = plain.replay(until)
        applied.clear()
        assert same_state(campaign.replay(until), expected)
        assert applied[:1] == ([number + 1] if until > number else [1] if 0 < until < number else [])
    moment = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert campaign.replay(moment).number == campaign.number
    assert campaign.replay(datetime(2024, 4, 1, tzinfo=UTC)).number == 0
    assert campaign.history() == plain.history()


def test_a_key_from_before_the_snapshot_is_still_known(monkeypatch):
    store = MemoryStore()
    campaign, _, _ = worked(store, monkeypatch)
    first = campaign.replay(0).ask(count=4)
    again = Campaign.open(store, clock=Clock())
    assert again.ask(count=4, key="ask 0") == first
    assert again.number == campaign.number
    with pytest.raises(ConflictError, match="'ask 0' was used before, for a different request: event 1"):
        again.ask(count=5, key="ask 0")


def test_somebody_elses_snapshot_will_do(monkeypatch):
    store = MemoryStore()
    campaign, _, _ = worked(store, monkeypatch)
    other = Campaign.open(store, clock=Clock())
    saved = []
    monkeypatch.setattr(store, "save_snapshot", lambda *arguments: saved.append(arguments[1]))
    for k in range(3):
        campaign.tell(answers_to(campaign.ask(count=4)))
        other.tell({(f"p{3 + k}", "dose"): 3.0}, unsolicited=True) if campaign.table.holes[3 + k, 0] else None
    assert len(saved) == len(set(saved)) <= 3


def restated(packed, **changes):
    """Return packed bytes with some content changed."""
    content = unpack_plain(memoryview(packed), {"form": FORM})
    return pack_plain({"form": FORM}, {**content, **changes}, 10**9)


def forged(packed):
    content = unpack_plain(memoryview(packed), {"form": FORM})
    money = {**content["money"], "sums": [[0, 0], *content["money"]["sums"][1:]]}
    rows, columns, status, values = content["changed"]
    return {
        "empty": b"",
        "cut": packed[:-9],
        "flipped": packed[:-9] + bytes([packed[-9] ^ 1]) + packed[-8:],
        "longer": packed + b"\0",
        "no money spent": restated(packed, money=money),
        "another value": restated(packed, changed=[rows, columns, status, values + 1]),
        "another number": restated(packed, number=content["number"] + 1),
        "no rounds": restated(packed, rounds=np.zeros(0, dtype=np.int64)),
    }


def check_ignored(store, campaign, number, blob, caplog):
    store.save_snapshot("study", number, blob)
    with caplog.at_level(logging.INFO, logger="cellworth.campaign"):
        again = Campaign.open(store, clock=Clock())
    assert "ignoring the snapshot of campaign 'study'" in caplog.text
    assert same_state(again, campaign)
    assert everything(log_of(store).state) == everything(log_of(without_snapshots(store)).state)


@pytest.mark.parametrize(
    "name",
    list(
        forged(
            pack_plain(
                {"form": FORM},
                {"money": {"sums": [0]}, "changed": [0] * 3 + [np.zeros(1)], "number": 0},
                1000,
            )
        )
    ),
)
def test_a_snapshot_that_no_event_states_is_ignored(name, monkeypatch, caplog):
    store = MemoryStore()
    campaign, number, blob = worked(store, monkeypatch)
    check_ignored(store, campaign, number, blob[:8] + forged(blob[8:])[name], caplog)


def test_a_snapshot_with_a_wrong_witness_is_ignored(monkeypatch, caplog):
    store = MemoryStore()
    campaign, number, blob = worked(store, monkeypatch)
    for witness in (0, 1, number, number + 2, 10**6, 2**63):
        check_ignored(store, campaign, number, witness.to_bytes(8, "little") + blob[8:], caplog)
        caplog.clear()
    check_ignored(store, campaign, number + 1, blob, caplog)


def test_another_campaigns_snapshot_is_ignored(monkeypatch, caplog):
    store, other = MemoryStore(), MemoryStore()
    campaign, number, _ = worked(store, monkeypatch)
    begin(make_table(seed=9), store=other, strategy="random", budget=None, name="other")
    there = Campaign.open(other, clock=Clock())
    while other.load_snapshot("other", FOREVER) is None:
        there.tell(answers_to(there.ask(count=4)))
    check_ignored(store, campaign, number, other.load_snapshot("other", FOREVER)[1], caplog)


@pytest.mark.parametrize(
    "change",
    [
        {"changed": [np.array([99]), np.array([0]), np.array([3], dtype=np.uint8), np.array([1.0])]},
        {"changed": [np.array([-1]), np.array([0]), np.array([3], dtype=np.uint8), np.array([1.0])]},
        {"changed": [np.array([0]), np.array([0]), np.array([9], dtype=np.uint8), np.array([1.0])]},
        {"changed": 3},
        {"money": {}},
        {"open": {"n_asked": "x", "asks": {}, "holds": {}}},
        {"time": "yesterday"},
        {"row_ids": ["p99"]},
        {"number": 5},
        {"last_terms": None},
    ],
)
def test_a_snapshot_that_is_stated_and_makes_no_sense_is_ignored_and_check_finds_it(
    change, monkeypatch, caplog
):
    """Somebody would have to forge an event for it, and all checksums after that."""
    store = MemoryStore()
    campaign, number, blob = worked(store, monkeypatch)
    packed = restated(blob[8:], **change)
    witness = int.from_bytes(blob[:8], "little")
    liar = MemoryStore()
    told = store.events("study")
    told[witness - 1].data[STATED] = [FORM, number, hashlib.sha256(packed).hexdigest()]
    liar.create(store.record("study"), told)
    check_ignored(liar, campaign, number, blob[:8] + packed, caplog)
    checked = check_campaign(liar, "study")
    assert f"Event {witness} " in checked.problem
    assert "is not what the events up to" in checked.problem
    assert checked.events == witness - 1


def test_a_snapshot_that_cannot_be_saved_or_made_harms_nobody(monkeypatch, caplog):
    store = MemoryStore()
    campaign, _, _ = worked(store, monkeypatch)
    number = campaign.number

    def full(*_):
        raise DataError("the disk is full")

    with caplog.at_level(logging.INFO, logger="cellworth.campaign"):
        with monkeypatch.context() as patch:
            patch.setattr(store, "save_snapshot", full)
            campaign.tell(answers_to(campaign.ask(count=9)))
            campaign.ask(count=1)
        assert "has no snapshot: the disk is full" in caplog.text
        monkeypatch.setattr(state_snapshots, "LARGEST_BLOB", 100)
        campaign.tell(answers_to(campaign.ask(count=9)))
        campaign.ask(count=1)
    assert "bytes are more than 92" in caplog.text
    assert campaign.number > number
    assert same_state(Campaign.open(store, clock=Clock()), campaign)


def test_the_form_is_raised_when_the_bytes_change():
    """If this fails, snapshots in stores would be read as other states: raise FORM, and pin the new bytes."""
    state, time = State(make_table(n=6, seed=3)), datetime(2024, 5, 1, 12, tzinfo=UTC)
    holes = [(f"p{i}", COLUMNS[j]) for i, j in np.argwhere(state.table().holes).tolist()]
    asked = Asked(1, 0, None, tuple(AskedCell(*cell, 1.5, 0.25, "why") for cell in holes[:3]))
    told = Told((ToldCell(*holes[0], VALUES[holes[0][1]], 1.5),), stated=False)
    more = make_table(n=4, seed=4, start=50)
    for number, content in enumerate([asked, told, Extended(more.row_ids, pack(more))], start=1):
        state.apply(Event(number, time, "Ann", None, None, content))
    assert {FORM: StateSnapshot.of(state).statement()[2][:16]} == {1: "fe278e5546a848a5"}
