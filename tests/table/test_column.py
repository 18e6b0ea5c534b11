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


def test_booleans_come_back_in_the_users_words():
    ill = Column("ill", "boolean", words=("No", "Yes"))
    assert [ill.format(0.0), ill.format(1.0), ill.parse("yes"), ill.parse(True)] == ["No", "Yes", 1.0, 1.0]
    assert Column("ill", "boolean", words=("FALSE", "TRUE")).format(1.0) is True
    assert Column("ill", "boolean", words=("FALSE", "TRUE")).texts(np.array([0.0, np.nan])) == ["FALSE", ""]


@pytest.mark.parametrize(
    ("observed", "guess", "rounded"),
    [
        ([88.8, 70.0], 99.00698317576969, 99.0),
        ([88.8, 70.25], 99.00698317576969, 99.01),
        ([88.0, 70.0], 99.6, 100.0),
        ([1e-7, 3e-8], 2.16e-8, 2e-8),
        ([1.40847e-05, 3.2e-06], 0.00017870817099669656, 0.0001787082),
        ([3.2e-12, 4.15e-12], 3.7012345678e-12, 3.70e-12),
        ([1 / 3, 2 / 3], 0.12345678901234, 0.12345678901234),
        ([1e300], 2.5, 2.0),
        ([], 2.5, 2.5),
    ],
)
def test_guesses_have_the_decimals_of_the_column(observed, guess, rounded):
    column = Column("x", "number")
    assert column.rounded_like(np.array([guess]), np.array(observed)).tolist() == [rounded]


def test_rounding_respects_bounds_and_times():
    bounded = Column("x", "number", bounds=(0, 9.5))
    assert bounded.rounded_like(np.array([9.9]), np.array([1.0])).tolist() == [9.5]
    when = Column("when", "date")
    minutes = np.array([18262.0 + 630 / 1440])
    assert when.format(float(when.rounded_like(minutes + 1e-5, minutes)[0])).second == 0


@pytest.mark.parametrize("text", ["8,4", "12,000"])
def test_a_comma_in_a_number_is_answered_with_what_to_write(text):
    with pytest.raises(
        DataError, match=rf"column 'dose': expected a number.*got '{text}'. Write a decimal point"
    ):
        Column("dose", "number").parse(text)


@pytest.mark.parametrize(("text", "unit"), [("5.4 mmol/l", "mmol/l"), ("45%", "%"), ("5,4 mg ", "mg")])
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_number_with_its_unit_is_answered_with_what_to_leave_out(kind, text, unit):
    with pytest.raises(DataError, match=rf"got '{text}'\. Write the number without '{unit}'\."):
        Column("dose", kind).parse(text)


@pytest.mark.parametrize("kind", ["number", "integer", "boolean", "date", "category"])
@pytest.mark.parametrize("mark", ["n/a", "NA", " null "])
def test_a_mark_of_a_hole_is_no_value_and_may_be_left_out(kind, mark):
    column = Column("x", kind, categories=("f", "m") if kind == "category" else ())
    with pytest.raises(DataError, match=r"column 'x': expected .*\. Leave it out if it is not known\.$"):
        column.parse(mark)


def test_a_category_may_be_called_like_a_mark():
    assert Column("sodium", "category", categories=("K", "NA")).parse("NA") == 1
