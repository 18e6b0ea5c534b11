"""What goes over the wire comes back: values, cells, leases."""

import json
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas
import pytest

from cellworth.campaign.leases import parse_lease
from cellworth.strategy import Purchase
from cellworth.web.client_json import (
    answers_to_json,
    cells_to_json,
    event_from_json,
    lease_to_json,
    purchase_from_json,
    value_to_json,
)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (date(2024, 2, 3), "2024-02-03"),
        (datetime(2024, 2, 3, 4, 5), "2024-02-03T04:05:00"),
        (np.float64(2.5), 2.5),
        (np.int8(3), 3),
        (np.True_, True),
        ("red", "red"),
        (None, None),
    ],
)
def test_values_are_plain(value, plain):
    assert value_to_json(value) == plain
    assert type(value_to_json(value)) is type(plain)
    assert json.loads(json.dumps(value_to_json(value))) == plain


def test_answers_and_cells_are_given_in_any_form():
    plain = [{"row": "7", "column": "age", "value": 3}]
    assert answers_to_json({(7, "age"): np.int64(3)}) == answers_to_json([(7, "age", 3)]) == plain
    frame = pandas.DataFrame({"row": [7, 8], "column": ["age", "age"], "value": [3, None]}, dtype=object)
    assert answers_to_json(frame) == plain
    cell = [{"row": "7", "column": "age"}]
    assert cells_to_json([(7, "age")]) == cells_to_json([Purchase("7", "age", 1.0, 2.0)]) == cell


@pytest.mark.parametrize("lease", ["7d", "90m", timedelta(seconds=1), None])
def test_a_lease_is_as_long_as_before(lease):
    sent = lease_to_json(lease)
    if lease is None:
        assert sent is None
    else:
        assert abs(parse_lease(sent) - parse_lease(lease)) < timedelta(milliseconds=1)


def test_times_come_back_as_times():
    moment = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert event_from_json({"number": 1, "time": moment.isoformat()}) == {"number": 1, "time": moment}
    sent = Purchase("p1", "age", 1.0, 2.0, "blood", until=moment, asked_by="Ann")
    plain = {**asdict(sent), "until": moment.isoformat()}
    assert purchase_from_json(plain) == sent
