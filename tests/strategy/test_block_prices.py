"""The prices of a block's cells are those rows of the whole table's price list."""

import numpy as np
import pytest

from cellworth import Group, Prices, Table
from cellworth.blocks import ThreadEngine
from cellworth.strategy.block_prices import BlockPrices

X = np.random.default_rng(0).normal(size=(20, 3))
X[np.random.default_rng(1).random(X.shape) < 0.5] = np.nan
NAMES = ["a", "b", "c"]
BLOOD = [Group("blood", ["b", "c"], first=4.0, then=1.0)]


@pytest.mark.parametrize(
    "prices",
    [
        Prices.per_column({"a": 1.0, "b": 2.5, "c": 3.0}),
        Prices.per_cell({("3", "a"): 7.0, ("19", "c"): 0.25}, default=2.0),
        Prices.per_cell(np.arange(1.0, 61.0).reshape(20, 3)),
        Prices.per_column({"a": 1.0}, groups=BLOOD, visit=3.0),
        Prices.per_cell(lambda row, column: 1.0 + int(row) + len(column)),
        Prices.per_cell({("4", "a"): 9.0}, default={"a": 1.0}, groups=BLOOD),
    ],
    ids=["column", "cell", "matrix", "groups", "function", "cell and groups"],
)
def test_parts_are_rows_of_the_whole(prices):
    big = Table.open(X, columns=NAMES, engine=ThreadEngine(1, 7))
    listed = prices.on(Table.from_arrays(X, columns=NAMES))
    found = BlockPrices.of(prices, big)
    holes = np.isnan(X)
    for block in big.cell_blocks(7, with_ids=found.needs_ids):
        part = block.read()
        here, rows = found.on(part), slice(block.start, block.stop)
        assert np.array_equal(here.own[holes[rows]], listed.own[rows][holes[rows]])
        assert (here.visit, here.fee.tolist()) == (listed.visit, listed.fee.tolist())
        assert np.allclose(found.alone(part)[holes[rows]], listed.alone[rows][holes[rows]])
    cheapest = listed.marginal(~holes)[holes].min()
    assert found.least <= found.least_alone <= cheapest
    if found.function is None:  # the cheapest cell if all that can be open is open
        assert found.least_alone == listed.marginal(np.ones_like(holes)).min()


LABELS = np.where(np.arange(20) % 3 == 0, np.nan, np.arange(20) % 2)


@pytest.mark.parametrize(
    "prices",
    [
        Prices.per_column({"target": 9.0}, default=1.0),
        Prices.per_cell({("3", "target"): 7.0, ("19", "c"): 0.25}, default=2.0),
        Prices.per_cell({(str(i), "target"): 1.0 + i for i in range(20)}, default={"a": 1, "b": 2, "c": 3}),
        Prices.per_cell(np.arange(1.0, 81.0).reshape(20, 4)),
        Prices.per_column({"a": 1.0, "b": 2.0}, groups=[Group("lab", ["c", "target"], first=4.0, then=1.0)]),
        Prices.per_cell(lambda row, column: 1.0 + int(row) + len(column), labels=True),
    ],
    ids=["column", "cell", "all labels", "matrix", "group", "function"],
)
def test_labels_are_the_last_column(prices):
    big = Table.open(X, labels=LABELS, columns=NAMES, engine=ThreadEngine(1, 7))
    listed = prices.on(Table.from_arrays(X, LABELS, columns=NAMES))
    found = BlockPrices.of(prices, big)
    holes = np.column_stack([np.isnan(X), np.isnan(LABELS)])
    assert listed.labels
    assert found.alone.sells_labels
    for block in big.cell_blocks(7, with_ids=found.needs_ids):
        part = block.read()
        here, rows = found.on(part), slice(block.start, block.stop)
        assert np.array_equal(here.own[holes[rows]], listed.own[rows][holes[rows]])
        assert (here.labels, here.fee.tolist()) == (True, listed.fee.tolist())
        known = ~holes[rows, -1]
        assert np.allclose(found.alone.of_labels(part)[~known], listed.alone[rows, -1][~known])
        cells = listed.of_cells().alone[rows]
        assert np.allclose(found.alone(part)[holes[rows, :-1]], cells[holes[rows, :-1]])


def test_labels_are_for_sale_by_name_only():
    big = Table.open(X, labels=LABELS, columns=NAMES)
    for prices in (Prices.same(1.0), Prices.per_cell(lambda row, column: 1.0)):
        found = BlockPrices.of(prices, big)
        assert (found.target, found.base.own.shape[1], found.alone.sells_labels) == (None, 3, False)
