"""The least value of an estimate, and rows by their ids, in memory and in row blocks."""

import numpy as np
import pytest

from cellworth.report.shown_rows import guessed_rows, places_of
from cellworth.report.summaries import inputs_of
from tests.campaign.on_blocks import begin_both, make_tables

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module", params=["ids", "numbers"])
def both(request, tmp_path_factory):
    return begin_both(make_tables(tmp_path_factory.mktemp("shown")), request.param)


def test_rows_by_id_and_what_is_shown_of_them(both):
    big, small = (inputs_of(campaign) for campaign in both)
    ids = [small.table.row_ids[place] for place in (70, 3, 159)]
    assert places_of(big, ids) == places_of(small, ids) == dict(zip(ids, (70, 3, 159), strict=True))
    assert places_of(big, []) == {}
    one, other = (guessed_rows(each, [70, 3, 159]) for each in (big, small))
    assert [one.index(place) for place in (70, 3, 159)] == [1, 0, 2]
    assert [other.index(place) for place in (70, 3, 159)] == [70, 3, 159]
    np.testing.assert_array_equal(one.least, other.least)
    np.testing.assert_array_equal(one.table.values, other.table.values[[3, 70, 159]])
    for name in ("lower", "upper", "variance"):
        np.testing.assert_allclose(
            getattr(one.filled, name), getattr(other.filled, name)[[3, 70, 159]], rtol=1e-6, atol=1e-9
        )
    np.testing.assert_allclose(
        one.filled.table.values, other.filled.table.values[[3, 70, 159]], rtol=1e-9, atol=1e-9
    )
