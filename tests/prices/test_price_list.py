"""What a batch costs, against a bill added up by hand; and all cells left, from a sample of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Table
from cellworth.errors import DataError
from cellworth.prices import Group, PriceList, Prices
from cellworth.prices.price_list import CellsLeft

from .cases import bill_by_hand, cases, plain_table

# Prices are at most 200 and a batch has at most 24 cells: sums of cents are right to 1e-10 by a wide margin.
CLOSE = 1e-10

quick = settings(max_examples=150, deadline=None)
NAMES = ["a", "b", "c"]


@quick
@given(cases())
def test_the_cost_is_the_bill_by_hand(case):
    assert case.cost(case.batch) == pytest.approx(bill_by_hand(case, case.batch), abs=CLOSE)


@pytest.mark.slow
@quick
@given(cases(), st.randoms(use_true_random=False))
def test_order_does_not_matter(case, random):
    other = list(case.batch)
    random.shuffle(other)
    assert case.cost(other) == case.cost(case.batch)
    bill, again = case.price_list.bill(case.before), case.price_list.bill(case.before)
    assert sum(bill.add(*cell) for cell in other) == pytest.approx(case.cost(case.batch), abs=CLOSE)
    assert sum(again.add(*cell) for cell in case.batch) == pytest.approx(case.cost(case.batch), abs=CLOSE)


@quick
@given(cases())
def test_the_marginal_price_is_the_difference_of_two_costs(case):
    bill = case.price_list.bill(case.before)
    np.testing.assert_array_equal(bill.prices(), case.price_list.marginal(case.before))
    for cell in case.batch:
        bill.add(*cell)
    offered, paid = bill.prices(), bill_by_hand(case, case.batch)
    for row, column in np.ndindex(case.before.shape):
        if (row, column) in case.batch:
            continue
        added = bill_by_hand(case, [*case.batch, (row, column)]) - paid
        assert offered[row, column] == pytest.approx(added, abs=CLOSE)
        assert bill.price(row, column) == offered[row, column]


@quick
@given(cases(), st.data())
def test_more_costs_more_and_the_next_cell_never_gets_dearer(case, data):
    part = [cell for cell in case.batch if data.draw(st.booleans())]
    assert case.cost(part) <= case.cost(case.batch) + CLOSE
    small, large = case.price_list.bill(case.before), case.price_list.bill(case.before)
    for cell in part:
        small.add(*cell)
    for cell in case.batch:
        large.add(*cell)
    assert (small.prices() >= large.prices() - CLOSE).all()
    assert (large.prices() > 0).all()


@quick
@given(cases())
def test_additive_means_that_own_prices_add_up(case):
    if case.price_list.additive:
        own = case.price_list.own
        assert case.cost(case.batch) == pytest.approx(sum(own[cell] for cell in case.batch), abs=CLOSE)
    else:
        cells = list(np.ndindex(case.before.shape))
        nothing_known = np.zeros_like(case.before)
        assert case.price_list.cost(cells, nothing_known) > case.price_list.own.sum()


def blood(**keywords):
    return Group(
        "blood", ["c1", "c2"], first={"c1": 7.27, "c2": 5.20}, then={"c1": 5.17, "c2": 3.10}, **keywords
    )


def test_a_group_that_lasts_and_one_that_does_not():
    table = plain_table(2, 3)
    before = np.array([[False, True, False], [True, False, False]])
    for lasting, price in ((True, 3.10), (False, 5.20)):
        prices = Prices.same(1.0, groups=[blood(lasting=lasting)]).on(table)
        assert prices.cost([(0, 2)], before) == pytest.approx(price)
        assert prices.marginal(before)[0, 2] == pytest.approx(price)
        assert prices.cost([(1, 1), (1, 2)], before) == pytest.approx(7.27 + 3.10)


def test_equal_fees_of_written_prices_are_equal():
    prices = Prices.same(1.0, groups=[blood()]).on(plain_table())
    bill = prices.bill(np.zeros((3, 4), dtype=bool))
    bill.add(0, 1)
    assert bill.price(0, 2) == 3.10


def test_the_largest_fee_of_a_batch_is_paid_whatever_the_order():
    group = Group("scan", ["c0", "c1"], first={"c0": 30.0, "c1": 50.0}, then=10.0)
    prices = Prices.same(1.0, groups=[group]).on(plain_table())
    nothing = np.zeros((3, 4), dtype=bool)
    for order in ([0, 1], [1, 0]):
        bill = prices.bill(nothing)
        assert sum(bill.add(0, column) for column in order) == 60.0


def test_a_visit_is_paid_once_per_row_and_batch():
    prices = Prices.same(1.0, visit=5.0).on(plain_table())
    known = np.ones((3, 4), dtype=bool)
    assert prices.cost([(0, 0), (0, 1), (2, 1)], known) == 2 * 5 + 3
    assert not prices.additive
    assert prices.cost([], known) == 0.0
    assert Prices.same(1.0).on(plain_table()).additive


def test_a_large_batch_costs_what_the_bill_says():
    rng = np.random.default_rng(0)
    prices = PriceList(rng.uniform(1, 9, (2000, 60)), np.arange(60) // 4 - 1, np.repeat([0, 3.0], [4, 56]),
                       rng.random(14) < 0.5, 2.0)  # fmt: skip
    before = rng.random((2000, 60)) < 0.02
    cells = np.argwhere(~before)[rng.permutation((~before).sum())[:20_000]]
    bill = prices.bill(before)
    by_one = sum(bill.add(int(row), int(column)) for row, column in cells)
    assert prices.cost(cells, before) == pytest.approx(by_one, rel=1e-12)


def test_some_rows():
    prices = Prices.per_cell(np.arange(1.0, 13.0).reshape(3, 4), visit=2.0).on(plain_table())
    np.testing.assert_array_equal(prices.of_rows(np.array([2, 0])).own, [[9, 10, 11, 12], [1, 2, 3, 4]])
    assert prices.of_rows(np.array([2])).visit == 2.0


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([(0, 1), (2, 3), (0, 1)], r"once; got \(0, 1\) more than once"),
        ([(0, 4)], r"3 rows and 4 columns; got \(0, 4\)"),
        ([(-1, 0)], r"got \(-1, 0\)"),
        ([(0.5, 1.0)], "row and column numbers; got shape .* of float64"),
        ([1, 2], r"\(k, 2\) array"),
    ],
)
def test_cells_that_are_none(cells, words):
    with pytest.raises(DataError, match=words):
        Prices.same(1).on(plain_table()).cost(cells, np.zeros((3, 4), dtype=bool))


def test_known_cells_of_another_table():
    prices = Prices.same(1).on(plain_table())
    for use in (prices.bill, prices.marginal, lambda before: prices.cost([(0, 0)], before)):
        with pytest.raises(DataError, match=r"shape \(3, 4\) of the prices; got \(2, 4\)"):
            use(np.zeros((2, 4), dtype=bool))


@pytest.mark.parametrize(
    ("own", "group_of", "fee", "visit", "words"),
    [
        (np.ones(2), [-1, -1], [0, 0], 0, "own must be"),
        (np.ones((1, 2)), [-1], [0, 0], 0, "own must be"),
        (np.zeros((1, 2)), [-1, -1], [0, 0], 0, "positive and finite"),
        (np.full((1, 2), np.nan), [-1, -1], [0, 0], 0, "positive and finite"),
        (np.ones((1, 2)), [-1, 1], [0, 0], 0, "index of a group"),
        (np.ones((1, 2)), [-1, 0], [2, 0], 0, "0 outside groups"),
        (np.ones((1, 2)), [-1, 0], [0, -1], 0, "not negative"),
        (np.ones((1, 2)), [-1, 0], [0, 1], np.nan, "the visit"),
    ],
)
def test_a_price_list_that_makes_no_sense(own, group_of, fee, visit, words):
    with pytest.raises(DataError, match=words):
        PriceList(own, group_of, fee, [True], visit)


def test_a_price_list_cannot_be_changed():
    prices = Prices.same(1.0, groups=[blood()]).on(plain_table())
    for array in (prices.own, prices.group_of, prices.fee, prices.lasting):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


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
