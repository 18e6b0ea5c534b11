"""Events that are unknown or damaged are named; those of earlier versions are read."""

from dataclasses import replace

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.cell_events import Asked, AskedCell, Told, ToldCell
from cellworth.campaign.event_codec import Event, decode, encode
from cellworth.campaign.spending import Terms
from cellworth.campaign.stores import StoredEvent
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import DataError
from tests.campaign.campaigns import answers_to, begin
from tests.campaign.test_cell_events import CONTENTS, TIME


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.kind)
def test_what_is_damaged_is_named(content):
    stored = encode(Event(17, TIME, None, None, None, content))
    for name in stored.data:
        if name == "version" or (name == "reason" and content.kind == "corrected"):
            continue
        lacking = {other: value for other, value in stored.data.items() if other != name}
        with pytest.raises(DataError, match=rf"event 17 \({content.kind}\) is damaged"):
            decode(replace(stored, data=lacking))
    for name, value in (
        ("cells", 5),
        ("cells", [["p1"]]),
        ("until", "soon"),
        ("table", "%"),
        ("rows", 3),
        ("terms", []),
    ):
        if name in stored.data:
            with pytest.raises(DataError, match="event 17"):
                decode(replace(stored, data={**stored.data, name: value}))


def test_what_a_newer_version_wrote_is_refused_and_named():
    store = MemoryStore()
    campaign = begin(store=store)
    campaign.ask(count=1)
    newer = StoredEvent(2, TIME, "promised", None, None, {})
    store.append("study", 1, [newer])
    with pytest.raises(DataError, match="event 2 is of the unknown kind 'promised'"):
        Campaign.open(store)
    told = encode(Event(2, TIME, None, None, None, CONTENTS[4]))
    for version in (3, 0, "new", None):
        with pytest.raises(DataError, match=r"event 2 \(told\) is of version .*, and this cellworth reads"):
            decode(replace(told, data={**told.data, "version": version}))


def test_the_first_version_of_an_event_is_read():
    """There, each cell cost the price recorded with it, and the wish was not recorded."""
    asked = {"round": 2, "based_on": 7, "until": None, "cells": [["p1", "age", 0.1, 2.0, "unsure"]]}
    told = {"cells": [["p1", "age", 47, 0.1]]}
    found = [
        decode(StoredEvent(1, TIME, kind, None, None, data)).content
        for kind, data in (("asked", asked), ("told", told))
    ]
    assert found == [
        Asked(2, 7, None, (AskedCell("p1", "age", 0.1, 2.0, "unsure"),)),
        Told((ToldCell("p1", "age", 47, 0.1),), stated=True),
    ]
    assert list(found[0].owed(4)) == [Terms(0.1, number=4)]


def test_a_replay_does_not_look_beyond_its_end():
    store = MemoryStore()
    campaign = begin(store=store)
    batch = campaign.ask(count=2)
    campaign.tell(answers_to(batch))
    store.append("study", 2, [StoredEvent(3, TIME, "promised", None, None, {})])
    then = campaign.replay(2)
    assert (then.number, then.spent > 0) == (2, True)
    assert [type(event.content) for event in then.events()] == [Asked, Told]
