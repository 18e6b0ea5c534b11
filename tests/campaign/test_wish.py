"""A wish comes back as it was, and impossible ones are refused."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.wish import Wish
from cellworth.errors import ParameterError


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
