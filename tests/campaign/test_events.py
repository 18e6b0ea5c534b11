"""Events come back from a store as they were; what is unknown or damaged is named."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.account import Terms
from cellworth.campaign.events import (
    Asked,
    AskedCell,
    Cancelled,
    CellName,
    Corrected,
    Event,
    Extended,
    GivenBack,
    Refused,
    Taken,
    Told,
    ToldCell,
    decode,
    encode,
    size,
)
from cellworth.campaign.stores import StoredEvent
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.campaign.wish import Wish
from cellworth.errors import DataError
from tests.campaign.campaigns import answers_to, begin

TIME = datetime(2024, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
NAMES = (CellName("p1", "age"), CellName("p2", "hue"))
CONTENTS = [
    Asked(2, 7, TIME, (AskedCell("p1", "age", 0.1, 1 / 3, "known only to ±12"),)),
    Asked(
        1,
        0,
        None,
        (AskedCell("p1", "age", 8.5, 2.0, "unsure"),),
        Wish(9.5, 3, timedelta(hours=1)),
        (Terms(1.0, 5.0, 2.5, "blood", True),),
    ),
    Taken(TIME, NAMES),
    GivenBack(NAMES),
    Told(
        (ToldCell("p1", "age", 47, 0.1), ToldCell("p2", "hue", "red", 0.0), ToldCell("p3", "x", True, 1.0)),
        stated=True,
    ),
    Refused(NAMES, "lost"),
    Cancelled(NAMES),
    Corrected("p1", "age", 47, 48.5, None),
    Extended(("p8", "p9"), b"\0packed\xff"),
]


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.kind)
def test_an_event_comes_back_as_it_was(content):
    event = Event(3, TIME, "Ann", "key", "fingerprint", content)
    stored = encode(event)
    assert decode(replace(stored, data=json.loads(json.dumps(stored.data)))) == event
    assert stored.kind == event.kind
    assert decode(encode(replace(event, who=None, key=None, request=None))).request is None


def test_the_stored_layout_does_not_change():
    """What stores hold: anything else here would lose the campaigns that people have."""
    data = [encode(Event(1, TIME, None, None, None, content)).data for content in CONTENTS]
    names = [["p1", "age"], ["p2", "hue"]]
    iso = "2024-05-01T12:30:15.123456+00:00"
    assert data == [
        {
            "round": 2,
            "based_on": 7,
            "until": iso,
            "cells": [["p1", "age", 0.1, 1 / 3, "known only to ±12"]],
            "wish": None,
            "terms": None,
            "version": 2,
        },
        {
            "round": 1,
            "based_on": 0,
            "until": None,
            "cells": [["p1", "age", 8.5, 2.0, "unsure"]],
            "wish": {"budget": 9.5, "count": 3, "lease": 3600.0},
            "terms": [[1.0, 5.0, 2.5, "blood", True]],
            "version": 2,
        },
        {"cells": names, "until": iso},
        {"cells": names},
        {
            "cells": [["p1", "age", 47, 0.1], ["p2", "hue", "red", 0.0], ["p3", "x", True, 1.0]],
            "stated": True,
            "version": 2,
        },
        {"cells": names, "reason": "lost"},
        {"cells": names},
        {"row": "p1", "column": "age", "old": 47, "new": 48.5, "reason": None},
        {"rows": ["p8", "p9"], "table": "AHBhY2tlZP8="},
    ]
    assert [size(Event(1, TIME, None, None, None, content)) for content in CONTENTS] == [
        1,
        1,
        2,
        2,
        3,
        2,
        2,
        1,
        2,
    ]


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
