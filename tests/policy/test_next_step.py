"""What a policy says of a row, in words and as data."""

import json
import math
from dataclasses import replace

from cellworth.policy import CellGain, NextStep


def test_in_words_and_as_data():
    cells = (CellGain("sex", 0.0, 0.0), CellGain("scan", 4.0, 2.0))
    step = NextStep(
        "p1",
        "ill",
        {"ill": 0.75, "well": 0.25},
        {"ill": 0.4, "well": 0.1},
        {"ill": 0.9, "well": 0.6},
        ("scan",),
        2.0,
        4.0,
        "expected to save 4",
        cells=cells,
    )
    assert str(step) == (
        "p1: ill with 75% (40% to 90% once all is known); measure scan for 2.00: expected to save 4"
    )
    three = replace(step, take=("age", "sex", "scan"))
    assert "; measure age, sex and scan for 2.00: " in str(three)
    assert "; measure age and sex for 2.00: " in str(replace(step, take=("age", "sex")))
    assert "; measure scan for 2.00 EUR: " in str(replace(step, currency="EUR"))
    plain = json.loads(json.dumps(step.to_json()))
    assert plain["probabilities"] == {"ill": 0.75, "well": 0.25}
    assert [cell["per_money"] for cell in plain["cells"]] == [None, 2.0]
    assert math.isinf(cells[0].per_money)
    assert not step.stop
    number = NextStep("p1", 12.25, {}, 10.0, 14.0, (), 0.0, 0.0, "all cells are known")
    assert str(number) == "p1: 12.2 (10 to 14 once all is known); stop: all cells are known"
    assert number.to_json()["low"] == 10.0
