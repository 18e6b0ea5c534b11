"""Each kind of event comes back from a store as it was, in a layout that never changes."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.campaign_events import BudgetChanged, ClockSet, Extended, PricesChanged, StageChanged
from cellworth.campaign.cell_events import (
    Asked,
    AskedCell,
    Cancelled,
    CellName,
    Contradicted,
    ContradictingCell,
    Corrected,
    GivenBack,
    Refused,
    Released,
    Taken,
    Told,
    ToldCell,
    Wish,
)
from cellworth.campaign.event_codec import Event, decode, encode, size
from cellworth.campaign.spending import Terms
from cellworth.errors import ParameterError

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
    BudgetChanged(100.0, None, "a grant"),
    Contradicted((ContradictingCell("p1", "age", 48, 47),)),
    Released(NAMES, "ill"),
    ClockSet(3600.5, None),
    StageChanged("open", "closed", "done"),
    PricesChanged(
        {"cells": {"by": "column", "prices": {}, "default": 2.0}, "groups": [], "visit": 0.0}, None
    ),
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
        {"old": 100.0, "new": None, "reason": "a grant"},
        {"cells": [["p1", "age", 48, 47]]},
        {"cells": names, "reason": "ill"},
        {"back": 3600.5, "reason": None},
        {"old": "open", "new": "closed", "reason": "done"},
        {
            "prices": {"cells": {"by": "column", "prices": {}, "default": 2.0}, "groups": [], "visit": 0.0},
            "reason": None,
        },
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
        1,
        1,
        2,
        1,
        1,
        1,
    ]


@given(
    st.none() | st.floats(0, 1e9),
    st.none() | st.integers(0, 10**6),
    st.none() | st.timedeltas(timedelta(seconds=1), timedelta(days=1000)),
)
def test_a_wish_comes_back_as_it_was(budget, count, lease):
    wish = Wish(budget, count, lease)
    assert Wish.from_json(wish.to_json()) == wish


@pytest.mark.parametrize("wish", [(-1.0, None), (float("nan"), None), (None, -1), (None, 1.5)])
def test_an_impossible_wish_is_refused(wish):
    with pytest.raises(ParameterError):
        Wish(*wish, None)
