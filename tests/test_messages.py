"""Phrases of error messages: short whatever the value, with the closest name."""

import pytest

from cellworth.messages import LONGEST_SHOWN, as_mark, did_you_mean, listing, not_there, shorten


@pytest.mark.parametrize("value", ["", "a'b", 3.5, None, "x" * LONGEST_SHOWN])
def test_a_short_value_is_shown_as_python_writes_it(value):
    assert shorten(value) == repr(value)


def test_a_long_value_is_cut_and_its_length_is_said():
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
