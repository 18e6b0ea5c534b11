"""Rows in order: on blocks as in memory, and as a plain sort has them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import DataError, ParameterError
from tests.campaign.test_row_search import both, by_a_loop  # noqa: F401

pytest.importorskip("pyarrow")

COLUMNS = ("weight", "visits", "hue", "smoker", "seen", "ill")


def by_a_sort(campaign, column, *, descending, **wanted):
    """Return the places of the rows that fit, sorted in one go; rows without a value last."""
    places = by_a_loop(campaign, wanted["row_contains"], None, wanted["status"])
    names = [each.name for each in campaign.columns]
    table = campaign.table
    cells = np.column_stack([table.values, table.target.cells])[:, names.index(column)]
    places.sort(key=lambda at: (np.isnan(cells[at]), -cells[at] if descending else cells[at], at))
    return places


@settings(max_examples=60, deadline=None)
@given(
    column=st.sampled_from(COLUMNS),
    descending=st.booleans(),
    text=st.sampled_from(["", "1", "nobody"]),
    status=st.sampled_from([[], ["bought"], ["out", "refused"], ["missing"]]),
    at_once=st.sampled_from([7, 60, 1000]),
    most_sorted=st.sampled_from([1, 9, 1000]),
)
def test_pages_have_the_rows_of_a_plain_sort(both, column, descending, text, status, at_once, most_sorted):  # noqa: F811
    wanted = {"row_contains": text, "status": status, "descending": descending}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cellworth.campaign.row_search.MOST_AT_ONCE", at_once)
        patch.setattr("cellworth.campaign.row_search.MOST_SORTED", most_sorted)
        found = []
        for campaign in both:
            found.append([])
            after = 0
            while after is not None:
                page = campaign.search_rows(after, 13, sort=column, **wanted)
                assert page.looked_at == campaign.table.shape[0]
                found[-1] += page.rows
                after = page.after
    expected = by_a_sort(both[1], column, **wanted)
    assert [each.place for each in found[1]] == expected
    assert found[0] == found[1][:most_sorted]


def test_wrong_columns_and_tables_that_are_too_long(both, monkeypatch):  # noqa: F811
    big, small = both
    for campaign in both:
        with pytest.raises(DataError, match="weihgt"):
            campaign.search_rows(sort="weihgt")
    monkeypatch.setattr("cellworth.campaign.row_search.MOST_ROWS_TO_SORT", 10)
    assert small.can_be_sorted
    assert not big.can_be_sorted
    with pytest.raises(ParameterError, match="up to 10 rows can be sorted"):
        big.search_rows(sort="weight")
