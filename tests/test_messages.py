"""Phrases of error messages: short whatever the value, with the closest name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.messages import (
    LONGEST_SHOWN,
    as_mark,
    did_you_mean,
    listing,
    not_there,
    short_number,
    shorten,
)


@pytest.mark.parametrize("value", ["", "a'b", 3.5, None, "x" * LONGEST_SHOWN])
def test_a_short_value_is_shown_as_python_writes_it(value):
    assert shorten(value) == repr(value)


def test_a_long_value_is_cut_and_its_length_is_said():
    assert shorten(np.str_("a")) == "'a'"
    assert shorten("y" * 1000) == repr("y" * LONGEST_SHOWN + "...") + " (1000 characters)"
    assert shorten(10**50).endswith("... (51 characters)")
    assert "y" not in as_mark("y" * 1000)


def test_a_list_is_cut_and_the_rest_is_counted():
    assert listing([]) == ""
    assert listing(["a", 2]) == "'a', 2"
    assert listing("abcdef", most=2) == "'a', 'b' and 4 more"


def test_the_closest_name_is_found_whatever_its_case():
    assert did_you_mean("AGE", ["Age", "dose"]) == " Did you mean 'Age'?"
    assert did_you_mean("weight", ["Age", "dose"]) == ""
    assert not_there("row", 7, ["1", "2"]) == "There is no row 7. The rows are '1', '2'."


@pytest.mark.parametrize(
    ("wrong", "names", "right"),
    [
        ("p17", ["p1", "p18", "p71"], None),  # another number is another row
        ("P017", ["P17", "P18"], "P17"),
        ("11x9", ["119", "118"], "119"),
        ("ward D3", ["ward D2", "ward Y1"], None),
        ("ward D2", ["ward D3", "Ward-D2"], "Ward-D2"),
        ("age", ["stage", "dosage"], None),
        ("dosis", ["dose", "stage"], "dose"),
        ("outcoem", ["income", "outcome"], "outcome"),
        ("chol", ["cholesterol", "glucose"], "cholesterol"),
        ("cholest", ["chol"], "chol"),
        ("x", ["y", "xylose"], None),
        ("weight", ["height", "Weight kg"], "Weight kg"),
    ],
)
def test_only_likely_slips_are_suggested(wrong, names, right):
    assert did_you_mean(wrong, names) == ("" if right is None else f" Did you mean {right!r}?")


@given(st.floats(-1e8, 1e8).filter(lambda x: x == 0 or abs(x) > 1e-3), st.integers(1, 6))
def test_short_numbers_have_few_digits_and_no_exponent(value, digits):
    text = short_number(value, digits)
    assert "e" not in text
    assert float(text.replace(",", "")) == float(f"{value:.{digits}g}")
