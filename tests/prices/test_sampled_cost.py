"""The cost of all cells left, from a sample of rows: exact for prices by column, close for others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import Group, Prices, Table
from cellworth.prices.sampled_cost import CellsLeft

NAMES = ["a", "b", "c"]


def table_of(seed, n=600):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < [0.2, 0.5, 0.7]] = np.nan
    return Table.from_arrays(X, columns=NAMES)


def of_sample(prices, table, every):
    some = Table(table.columns, table.values[::every], [str(i) for i in range(0, 600, every)])
    left = CellsLeft(table.holes.sum(axis=0), table.shape[0])
    return left.cost(prices.on(some), some.holes, ~some.holes)


def exact(prices, table):
    return prices.on(table).cost(np.argwhere(table.holes), ~table.holes)


@given(seed=st.integers(0, 50), every=st.sampled_from([1, 3, 100, 600]), price=st.integers(1, 999))
def test_prices_by_column_are_counted_to_the_cell(seed, every, price):
    table = table_of(seed)
    prices = Prices.per_column({"a": price / 4, "b": 2.0}, default=0.5)
    assert of_sample(prices, table, every) == pytest.approx(exact(prices, table), rel=1e-13)


@pytest.mark.parametrize(
    "prices",
    [
        Prices.per_cell(lambda row, column: 1.0 + int(row) % 7),
        Prices.per_column({"a": 1.0}, groups=[Group("lab", ["b", "c"], first=6.0, then=2.0)]),
        Prices.same(1.0, visit=3.0),
    ],
    ids=["cell", "group", "visit"],
)
def test_other_prices_are_those_of_the_sample(prices):
    table = table_of(0)
    assert of_sample(prices, table, 1) == pytest.approx(exact(prices, table))
    # 120 of 600 rows: fees differ by their standard error, 2 %; within three of them.
    assert of_sample(prices, table, 5) == pytest.approx(exact(prices, table), rel=0.06)


def test_a_column_without_a_hole_in_the_sample_still_counts():
    table = table_of(1)
    left = CellsLeft(np.array([0, 4, 0]), 600)
    some = Table(table.columns, np.zeros((10, 3)), [str(i) for i in range(10)])
    prices = Prices.per_column({"a": 1.0, "b": 2.5, "c": 1.0})
    assert left.cost(prices.on(some), some.holes, ~some.holes) == 10.0
