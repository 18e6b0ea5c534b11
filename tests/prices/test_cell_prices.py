"""Every rule has its own form in plain data."""

import json
import math

import numpy as np
import pytest

from cellworth.errors import CellworthError, ParameterError
from cellworth.prices import Group, Prices

BLOOD = Group(
    "blood", ["chol", "fbs"], first={"chol": 7.27, "fbs": 5.2}, then={"chol": 5.17, "fbs": 3.1}, lasting=True
)
SCAN = Group("scan", ["mri", "ct"], first=300, then=100)


@pytest.mark.parametrize(
    "prices",
    [
        Prices.same(np.float32(1.5), visit=np.int64(2)),
        Prices.per_column({"age": 1}, default=2, groups=[BLOOD, SCAN], visit=3),
        Prices.per_cell({("p1", "age"): 1, (2, "sex"): 3}, default=2),
        Prices.per_cell({("p1", "age"): 1}, default={"age": 2, "sex": 1}, groups=[BLOOD]),
        Prices.per_cell([[1.5, math.nan], [2, math.nan]], groups=[Group("g", ["b"], first=2, then=1)]),
    ],
)
def test_plain_data_come_back(prices):
    text = json.dumps(prices.to_dict(), allow_nan=False)
    assert Prices.from_dict(json.loads(text)) == prices


def test_a_function_is_not_stored():
    with pytest.raises(ParameterError, match=r"a function cannot be stored.*as a matrix"):
        Prices.per_cell(lambda row, column: 1.0).to_dict()


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ({}, "expected the output of Prices.to_dict; got {}"),
        (None, "expected the output of Prices.to_dict"),
        ({"cells": 3, "groups": [], "visit": 0}, "expected the output of Prices.to_dict"),
        ({"cells": {"by": "row"}, "groups": [], "visit": 0}, "'column', 'cell' or 'matrix'; got 'row'"),
        ({"cells": {"by": "cell", "default": {"by": "row"}}, "groups": [], "visit": 0}, "got 'row'"),
        (
            {"cells": {"by": "column", "prices": {"a": -1}, "default": None}, "groups": [], "visit": 0},
            "'a' must",
        ),
        (
            {
                "cells": {"by": "column", "prices": {}, "default": 1},
                "groups": [{"name": "g", "columns": ["a"], "first": [1, 2], "then": [1], "lasting": True}],
                "visit": 0,
            },
            "expected the output of Prices.to_dict",
        ),
    ],
)
def test_plain_data_that_make_no_sense(plain, words):
    with pytest.raises(CellworthError, match=words):
        Prices.from_dict(plain)
