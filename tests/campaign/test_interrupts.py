"""Ctrl-C at any moment: it is heard, and the object is then as if it had been opened anew."""

import gc
import signal
import sys
import time

import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.stores.memory import MemoryStore
from tests.campaign.campaigns import VALUES, Clock, begin, cells, make_table, same_state
from tests.conftest import first_quick

pytestmark = pytest.mark.usefixtures("own_strategies", "ctrl_c")


@pytest.fixture
def ctrl_c():
    """Hear Ctrl-C, even where the tests run in the background and a shell has turned it off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interruption:
    """Presses Ctrl-C at the k-th line of Python that is run while it is on, in whatever package."""

    def __init__(self, at):
        self.left = at

    def __enter__(self):
        sys.settrace(self.trace)

    def __exit__(self, *_):
        sys.settrace(None)

    def trace(self, frame, what, _):
        if what == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return self.trace


def lines_of(work):
    """Return how many lines of Python some work runs."""
    counter = Interruption(at=0)
    with counter:
        work()
    return -counter.left


def campaign_in(store):
    return begin(make_table(n=8, seed=3), store=store, budget=30.0, strategy="stating")


def steps(campaign):
    """Return what is interrupted: an ask, answers to it, and an ask of another round."""
    return [
        lambda: campaign.ask(count=3, key="one"),
        lambda: campaign.tell({(p.row, p.column): VALUES[p.column] for p in campaign.open_purchases()}),
        lambda: campaign.ask(count=2, key="two"),
    ]


@pytest.mark.parametrize("which", first_quick([0, 1, 2]))
def test_an_interrupted_campaign_is_as_if_opened_anew(which):
    for step in steps(campaign_in(MemoryStore())):
        step()  # what is imported at first use is not counted
    expected = steps(done := campaign_in(MemoryStore()))
    for step in expected[:which]:
        step()
    total = lines_of(expected[which])
    heard = 0
    for at in range(1, total, max(1, total // 60)):
        store = MemoryStore()
        campaign = campaign_in(store)
        todo = steps(campaign)
        for step in todo[:which]:
            step()
        try:
            with Interruption(at):
                todo[which]()
        except KeyboardInterrupt:
            heard += 1
        assert same_state(campaign, Campaign.open(store, clock=Clock()))
        todo[which]()  # again, as people would
        assert campaign.events() == done.events()
        assert same_state(campaign, Campaign.open(store, clock=Clock()))
        again = Campaign.open(store, clock=Clock()).replay(campaign.number)
        assert cells(campaign.preview(count=4)) == cells(again.ask(count=4, lease=None))
    assert heard > 50


def test_an_interrupted_turn_is_over(url, opened):
    """Whoever presses Ctrl-C while a process takes its turn, or ends it, keeps nobody waiting."""
    mine, theirs = opened(url), opened(url)
    campaign_in(mine)

    def take():
        with mine.turn("study", 0):
            pass

    take()
    total, heard = lines_of(take), 0
    for at in range(1, total, max(1, total // 60)):
        try:
            with Interruption(at):
                take()
        except KeyboardInterrupt:
            heard += 1
        with theirs.turn("study", 1) as taken:
            assert taken
    assert heard > 10


@pytest.fixture
def no_callbacks():
    """Interrupts in callbacks of the garbage collector, as hypothesis has one, are ignored by Python."""
    before = list(gc.callbacks)
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(before)


@pytest.mark.usefixtures("no_callbacks")
def test_ctrl_c_in_a_large_tell_is_heard():
    """No part of it swallows the interrupt, as comparing NumPy's scalars with an IntEnum did."""
    table = make_table(n=400, seed=3)
    answers = {
        (table.row_ids[i], table.column_names[j]): VALUES[table.column_names[j]]
        for i, j in np.argwhere(table.holes).tolist()
    }
    pressed = []

    def press(*_):
        pressed.append(True)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, press)  # by the time of the processor, also inside C code
    took, heard = np.inf, 0
    for _ in range(3):  # the first of all also imports
        campaign, begun = begin(table, strategy="stating"), time.process_time()
        campaign.tell(answers, unsolicited=True, insist=True)
        took = min(took, time.process_time() - begun)
    for delay in np.linspace(0.02, 0.98, 50) * took:
        campaign = begin(table, strategy="stating")
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, delay)
            campaign.tell(answers, unsolicited=True, insist=True)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except KeyboardInterrupt:
            heard += 1
    signal.signal(signal.SIGVTALRM, before)
    assert len(pressed) > 20
    assert heard >= len(pressed) - 1  # Python itself ignores one in a destructor
