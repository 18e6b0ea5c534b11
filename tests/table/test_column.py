from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth.errors import DataError, ParameterError
from cellworth.table import Column

from .tables import tables

STAGE = Column("stage", "ordered", categories=("I", "II", "III"))
AGE = Column("age", "integer", bounds=(0, 120))
VISIT = Column("visit", "date", whole_days=True)
MOMENT = Column("moment", "date")


@settings(max_examples=40, deadline=None)
@given(tables())
def test_formatted_values_and_their_texts_parse_to_the_same_number(table):
    for place, column in enumerate(table.columns):
        for value in table.values[~table.holes[:, place], place]:
            shown = column.format(value)
            assert column.parse(shown) == value
            assert column.parse(shown.isoformat() if isinstance(shown, date) else str(shown)) == value


@pytest.mark.parametrize(
    ("column", "value", "number"),
    [
        (STAGE, " II ", 1),
        (AGE, "42", 42),
        (AGE, 42.0, 42),
        (AGE, np.int8(7), 7),
        (AGE, Decimal(7), 7),
        (Column("x", "number"), "1e3", 1000),
        (Column("code", "category", categories=("1", "2")), 2.0, 1),
        (Column("b", "boolean"), "YES", 1),
        (Column("b", "boolean"), np.False_, 0),
        (Column("b", "boolean"), 0, 0),
        (VISIT, date(1970, 1, 2), 1),
        (VISIT, np.datetime64("1969-12-31"), -1),
        (MOMENT, "1970-01-01 12:00", 0.5),
        (MOMENT, datetime(1970, 1, 1, 6, tzinfo=timezone(timedelta(hours=6))), 0),
        (MOMENT, "1970-01-01T00:00:00-12:00", 0.5),
        (MOMENT, datetime(1970, 1, 1, 18, tzinfo=UTC), 0.75),
    ],
)
def test_values_of_many_types_are_understood(column, value, number):
    assert column.parse(value) == number


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (STAGE, "IIII", ["'stage'", "one of 'I', 'II', 'III'", "'IIII'", "Did you mean 'III'?"]),
        (STAGE, "", ["'stage'", "got ''"]),
        (AGE, "old", ["'age'", "a whole number from 0 to 120", "'old'"]),
        (AGE, 121, ["from 0 to 120", "121"]),
        (AGE, 1.5, ["whole", "1.5"]),
        (AGE, True, ["whole", "True"]),
        (AGE, None, ["None"]),
        (AGE, 10**400, ["whole"]),
        (Column("x", "number"), "inf", ["a number", "'inf'"]),
        (Column("x", "number"), float("nan"), ["a number", "nan"]),
        (Column("x", "number"), "1_000", ["a number"]),
        (Column("x", "number", bounds=(-np.inf, 5.5)), 6, ["to 5.5", "6"]),
        (Column("b", "boolean"), "maybe", ["true or false", "'maybe'"]),
        (VISIT, "2020-02-30", ["'visit'", "a date", "'2020-02-30'"]),
        (VISIT, "2020-01-01T10:00", ["without a time"]),
        (VISIT, 18262, ["a date", "18262"]),
        (VISIT, np.datetime64("NaT"), ["a date"]),
        (Column("v", "date", bounds=(18262.0, np.inf), whole_days=True), "2019-01-01", ["from 2020-01-01"]),
    ],
)
def test_other_values_are_refused_in_the_users_words(column, value, words):
    with pytest.raises(DataError) as caught:
        column.parse(value)
    for word in words:
        assert word in str(caught.value)


def test_a_hole_is_formatted_as_none():
    assert STAGE.format(np.nan) is None
    assert AGE.format(np.nan) is None


@pytest.mark.parametrize(
    "settings_",
    [
        {"kind": "ordinal"},
        {"kind": "category"},
        {"kind": "number", "categories": ("a",)},
        {"kind": "category", "categories": ("a", "a")},
        {"kind": "boolean", "bounds": (0, 1)},
        {"kind": "number", "bounds": (1, 0)},
        {"kind": "integer", "bounds": (0.2, 0.8)},
        {"kind": "number", "bounds": (np.nan, 1)},
    ],
)
def test_columns_that_make_no_sense_are_refused(settings_):
    with pytest.raises(ParameterError, match="column 'a'"):
        Column("a", **settings_)
