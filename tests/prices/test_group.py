"""A group: prices for each of its columns, stated in any way, and its own form in plain data."""

import json

import pytest

from cellworth.errors import ParameterError
from cellworth.prices import Group


def test_one_price_for_all_is_that_of_each():
    stated = Group("blood", ["chol", "fbs"], first={"fbs": 5, "chol": 5}, then={"chol": 2, "fbs": 2})
    assert Group("blood", ("chol", "fbs"), first=5, then=2) == stated
    assert (stated.columns, stated.first, stated.then) == (("chol", "fbs"), (5.0, 5.0), (2.0, 2.0))


@pytest.mark.parametrize("lasting", [False, True])
def test_plain_data_and_the_way_it_is_shown_come_back(lasting):
    group = Group("blood", ["chol", "fbs"], first={"chol": 7.27, "fbs": 5.2}, then=1, lasting=lasting)
    assert Group.from_dict(json.loads(json.dumps(group.to_dict()))) == group
    assert eval(repr(group)) == group
    assert group != Group("blood", ["chol", "fbs"], first=7.27, then=1, lasting=lasting)


def test_a_group_cannot_be_changed():
    group = Group("blood", ["chol"], first=5, then=2)
    with pytest.raises(AttributeError):
        group.first = (1.0,)
    assert len({group, Group("blood", ["chol"], first=5, then=2)}) == 1


def test_the_first_price_may_be_that_of_the_others_but_not_below():
    assert Group("g", ["a"], first=2, then=2).then == (2.0,)
    with pytest.raises(
        ParameterError, match="group 'g': the follow-up price of column 'a' must not be above"
    ):
        Group("g", ["a"], first=2, then=2.01)
