"""Prices of labels: a label is a cell of the target's column, once that column is named."""

import numpy as np
import pytest

from cellworth import Group, Prices, Table
from cellworth.errors import DataError, ParameterError


@pytest.fixture
def table():
    return Table.from_arrays(
        [[61, 1.0], [47, None], [None, 2.0]],
        ["ill", None, "well"],
        columns=["age", "mri"],
        row_ids=["a", "b", "c"],
        target="state",
    )


def test_a_default_alone_does_not_put_labels_up_for_sale(table):
    for prices in (Prices.same(1.0), Prices.per_column({"age": 2.0}, default=1.0)):
        assert not prices.sells_labels(table)
        assert not prices.on(table).labels
        assert prices.on(table).own.shape == (3, 2)
        assert prices.purchasable(table) is table


NAMED = {
    "column": Prices.per_column({"state": 300.0}, default=1.0),
    "cell": Prices.per_cell({("b", "state"): 300.0}, default=1.0),
    "rest": Prices.per_cell({("a", "age"): 1.0}, default={"age": 1.0, "mri": 1.0, "state": 300.0}),
    "matrix": Prices.per_cell([[1.0, 1.0, 9.0], [1.0, 1.0, 300.0], [1.0, 1.0, 9.0]]),
    "function": Prices.per_cell(lambda row, column: 300.0 if column == "state" else 1.0, labels=True),
    "group": Prices.same(1.0, groups=[Group("biopsy", ["mri", "state"], first=301.0, then=300.0)]),
}


@pytest.mark.parametrize("way", NAMED)
def test_a_named_target_has_the_last_column_of_prices(table, way):
    listed = NAMED[way].on(table)
    assert listed.labels
    assert listed.own[1, 2] == 300.0
    assert NAMED[way].purchasable(table).column_names == ("age", "mri", "state")
    np.testing.assert_array_equal(NAMED[way].purchasable(table).holes[:, 2], [False, True, False])
    cells = listed.of_cells()
    assert not cells.labels
    np.testing.assert_array_equal(cells.own, listed.own[:, :2])
    np.testing.assert_array_equal(cells.fee, listed.fee[:2])
    assert listed.of_rows(np.array([1])).labels


def test_a_label_shares_fees_and_visits_like_any_cell(table):
    biopsy = Group("biopsy", ["mri", "state"], first={"mri": 70.0, "state": 320.0}, then=20.0)
    listed = Prices.per_column({"age": 1.0}, groups=[biopsy], visit=5.0).on(table)
    before = ~Prices.same(1.0, groups=[biopsy]).purchasable(table).holes
    assert listed.cost([(1, 2)], before) == 325.0
    assert listed.cost([(1, 1), (1, 2)], before) == 345.0  # 5 + 300 + 20 + 20


def test_a_price_file_names_the_target_like_any_column(table, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("column,price\nstate,300\n(other columns),1.5\n")
    prices = Prices.read(path)
    assert prices.on(table).own[0].tolist() == [1.5, 1.5, 300.0]
    prices.write(path)
    assert Prices.read(path) == prices
    assert Prices.from_dict(prices.to_dict()) == prices


@pytest.mark.parametrize("price", [0, -1.0, float("nan"), "free"])
def test_a_label_costs_a_positive_amount(price):
    with pytest.raises(ParameterError, match="column 'state' must be a positive, finite number"):
        Prices.per_column({"state": price}, default=1.0)


def test_a_price_of_0_in_a_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("column,price\nstate,0\n(other columns),1\n")
    with pytest.raises(DataError, match=r"line 2.*'state' must be a positive.*got 0"):
        Prices.read(path)


def test_labels_without_a_target_are_an_unknown_column(table):
    bare = Table.from_arrays([[1.0, 2.0]], columns=["age", "mri"])
    with pytest.raises(DataError, match="no column 'state'"):
        NAMED["column"].on(bare)
    with pytest.raises(DataError, match=r"shape \(1, 2\)"):
        Prices.per_cell([[1.0, 1.0, 300.0]]).on(bare)


def test_labels_is_only_for_a_function():
    with pytest.raises(ParameterError, match="only for a function"):
        Prices.per_cell([[1.0]], labels=True)
    assert "labels=True" in repr(NAMED["function"])
