"""Cells of a table in row blocks, their prices and worths: those of the same table in memory."""

import numpy as np
import pytest

from cellworth import Campaign, Prices
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import ParameterError
from tests.campaign.on_blocks import FEES, begin_both, counted_reads, make_tables, with_every_status
from tests.strategy.labelled_in_part import both_without_labels

pytest.importorskip("pyarrow")
ARRAYS = ("known", "bought", "refused", "asked", "available", "price", "worth")
TOTALS = ("rows", "known", "bought", "refused", "asked", "available", "worth", "price", "most")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return make_tables(tmp_path_factory.mktemp("worths"))


def assert_same(found, expected):
    for name in ARRAYS:
        # Worths differ by the rounding of sums over blocks.
        np.testing.assert_allclose(
            getattr(found, name).astype(float), getattr(expected, name).astype(float), rtol=1e-6, err_msg=name
        )


@pytest.mark.parametrize("which", ["ids", "numbers"])
@pytest.mark.parametrize("prices", [1.5, FEES], ids=["same", "fees"])
@pytest.mark.parametrize("strategy", ["recommended", "posterior", "random"])
def test_cells_are_those_in_memory(tables, which, prices, strategy):
    both = begin_both(tables, which, prices=prices, strategy=strategy)
    with_every_status(both, tables[which][1])
    big, small = both
    expected = small.cells()
    assert_same(big.cells(), expected)
    for first, last in ((0, 1), (30, 70), (159, 161), (40, None)):
        assert_same(big.cells(first, last), expected.of_rows(first, 161 if last is None else last))
        assert_same(small.cells(first, last), expected.of_rows(first, 161 if last is None else last))
    found, wanted = (campaign.worths.totals() for campaign in both)
    for name in (*TOTALS, "price_low", "price_high"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-6, err_msg=name)


def test_labels_that_are_for_sale_are_the_last_column(tmp_path):
    prices = Prices.per_column({"ill": 3.0}, default=1.0)
    big, small = (
        Campaign.create(table, store=MemoryStore(), prices=prices) for table in both_without_labels(tmp_path)
    )
    assert big.cells().worth[:, -1].any()
    assert_same(big.cells(), small.cells())


def test_only_the_blocks_of_the_rows_are_read_once_the_round_is_there(tables, monkeypatch):
    big, _ = begin_both(tables, "numbers", strategy="posterior")
    big.cells(0, 1)
    reads = counted_reads(monkeypatch)
    big.cells(30, 31)
    assert list(reads.values()) == [1]
    big.worths.totals()
    assert set(reads.values()) == {1, 2}


def test_nothing_left_to_buy_is_worth_nothing(tables):
    both = begin_both(tables, "numbers", strategy="random", budget=None)
    for campaign in both:
        out = campaign.ask(count=10_000)
        campaign.refuse([(each.row, each.column) for each in out], "no")
        assert not campaign.cells().worth.any()
    assert_same(both[0].cells(), both[1].cells())


def test_too_many_cells_are_refused_with_what_to_do(tables, monkeypatch):
    big, small = begin_both(tables, "numbers", strategy="random")
    monkeypatch.setattr("cellworth.campaign.worths_on_blocks.MOST_CELLS", 60)
    with pytest.raises(ParameterError, match=r"as in cells\(0, 5\), or for their sums: worths.totals\(\)"):
        big.cells()
    assert big.worths.totals().rows == 160
    assert len(big.cells(3, 8).known) == 5
    for campaign in (big, small):
        for first, last in ((5, 5), (-1, 3), (160, 200)):
            with pytest.raises(ParameterError, match="0 <= first < last <= 160"):
                campaign.cells(first, last)
