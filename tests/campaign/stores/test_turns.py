"""A store lets one writer work alone: the others wait, and a block that fails has written nothing."""

import threading
from contextlib import suppress

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError
from tests.campaign.campaigns import begin


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def stores(request):
    """Two openings of the same store."""
    if request.param == "memory":
        store = MemoryStore()
        yield store, store
        return
    url = request.getfixturevalue(f"{request.param}_url")
    both = open_store(url), open_store(url)
    yield both
    for each in both:
        each.close()


def test_the_others_wait(stores):
    mine, theirs = stores
    campaign = begin(store=mine, strategy="linear-impact")
    other = Campaign.open(theirs)
    waiting, order = threading.Event(), []

    def write():
        waiting.set()
        other.correct("p0", "dose", 1.5)
        order.append("theirs")

    thread = threading.Thread(target=write)
    with mine.alone("study"):
        thread.start()
        waiting.wait(10)
        campaign.correct("p1", "dose", 2.5)
        order.append("mine")
    thread.join(30)
    assert order == ["mine", "theirs"]
    assert [event["row"] for event in Campaign.open(mine).history()] == ["p1", "p0"]


def test_a_block_that_fails_has_written_nothing(stores):
    mine, theirs = stores
    begin(store=mine, strategy="linear-impact")
    with suppress(ZeroDivisionError), mine.alone("study"):
        Campaign.open(mine).correct("p1", "dose", 2.5)
        raise ZeroDivisionError
    assert theirs.events("study") == []
    with mine.alone("study"), pytest.raises(ConflictError):
        mine.append("study", 7, [])
    with pytest.raises(DataError, match="no campaign"), mine.alone("stdy"):
        pass
    Campaign.open(theirs).correct("p1", "dose", 2.5)
    assert len(mine.events("study")) == 1
