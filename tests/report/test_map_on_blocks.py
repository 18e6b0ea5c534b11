"""Rows, columns and the map of a table in row blocks: as those of the same table in memory."""

import dataclasses

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.campaign.stores import MemoryStore
from cellworth.report import cell_map_summary, columns_summary, row_summary
from cellworth.report.row_summaries import guesses_summary, row_guesses
from tests.campaign.on_blocks import FEES, begin_both, make_tables, with_every_status
from tests.strategy.labelled_in_part import both_without_labels

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module", params=["ids", "numbers"])
def both(request, tmp_path_factory):
    """A campaign on blocks and one in memory, with cells of every status."""
    tables = make_tables(tmp_path_factory.mktemp("maps"))
    pair = begin_both(tables, request.param, prices=FEES, strategy="recommended")
    return with_every_status(pair, tables[request.param][1])


def assert_alike(found, expected, path=""):
    """Compare plain data: numbers up to the rounding of sums over blocks, all else exactly."""
    if isinstance(expected, float) and isinstance(found, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True), path
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for name, value in expected.items():
            assert_alike(found[name], value, f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for place, value in enumerate(expected):
            assert_alike(found[place], value, f"{path}[{place}]")
    else:
        assert found == expected, path


def test_rows_have_the_same_guesses_worths_and_ranks(both):
    big, small = both
    told = [each.row for each in small.open_purchases()]
    for row in [*told, *(small.table.row_ids[place] for place in (0, 7, 80, 159, 160))]:
        assert_alike(row_summary(big, row).to_json(), row_summary(small, row).to_json(), row)
    cells = [(each.row, each.column) for each in small.open_purchases()] + [(told[0], "ill")]
    assert guesses_summary(big, cells) == guesses_summary(small, cells)
    assert guesses_summary(big, []) == []
    assert row_guesses(big, [5, 3, 159]) == row_guesses(small, [5, 3, 159])


def test_columns_are_worth_the_same(both):
    """Quartiles are those of cells, to 0.05 %: an in-memory one is between two cells."""
    big, small = (columns_summary(campaign) for campaign in both)
    assert [each.name for each in big.columns] == [each.name for each in small.columns]
    worth = both[1].cells()
    for one, other in zip(big.columns, small.columns, strict=True):
        ends = {"worth_low": 0.25, "worth_high": 0.75}
        assert_alike(dataclasses.asdict(one) | ends, dataclasses.asdict(other) | ends, one.name)
        here = np.sort(worth.worth[worth.available[:, one.place], one.place])
        unit = worth.worth[worth.available].mean()
        for name, share in ends.items():
            at = int(share * (len(here) - 1))
            low, high = here[at] * (1 - 2.0**-11), here[min(at + 1, len(here) - 1)]
            assert low <= getattr(one, name) * unit * (1 + 1e-9) <= high * (1 + 1e-6)
    assert (big.rows, big.sampled, small.sampled) == (161, None, None)  # the sample has all of these rows


@pytest.mark.parametrize(("first", "last"), [(0, None), (33, 78), (150, 161)])
@pytest.mark.parametrize("most", [2000, 40])
def test_maps_are_the_same(both, first, last, most, monkeypatch):
    """Of single rows and, if fewer may be shown, of groups."""
    monkeypatch.setattr("cellworth.report.cell_map.MOST_ROWS", most)
    monkeypatch.setattr("cellworth.report.cell_map.MOST_GROUPED", 60)
    big, small = (cell_map_summary(campaign, first, last).to_json() for campaign in both)
    assert (small["group"] == 1) == (most == 2000 or first == 150)
    # Uncertainties are rounded to a percent: at a half, to either side.
    for name in ("codes", "unsure"):
        one, other = (np.array(found.pop(name) or 0, dtype=float) for found in (big, small))
        np.testing.assert_allclose(one, other, atol=1 if name == "codes" else 0.011)
        assert (one != other).mean() < 0.01
    assert_alike(big, small)


def test_labels_that_are_for_sale_are_a_column(tmp_path):
    prices = Prices.per_column({"ill": 3.0}, default=1.0)
    big, small = (
        Campaign.create(table, store=MemoryStore(), prices=prices) for table in both_without_labels(tmp_path)
    )
    one, other = (columns_summary(each).columns for each in (big, small))
    assert [(each.name, each.is_label) for each in one] == [(each.name, each.is_label) for each in other]
    assert_alike([each.worth for each in one], [each.worth for each in other])
    assert_alike(cell_map_summary(big).to_json()["counts"], cell_map_summary(small).to_json()["counts"])
