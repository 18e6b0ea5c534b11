"""Advice where labels have a price."""

import numpy as np
import pytest

from cellworth import Group, Prices, Table, advise
from cellworth.errors import DataError, ParameterError
from cellworth.prices.prices import with_target_column
from cellworth.select import Top
from cellworth.strategy import names
from cellworth.strategy.choose_batch import ScoredRound, choose
from tests.strategy.tables import small_table

QUICK = "random-gaussian"


def unlabelled_table(kind="two classes", seed=0, n=60):
    table = small_table(seed, n, kind)
    cells = with_target_column(table)
    y = [cells.columns[-1].format(value) for value in cells.values[:, -1]]
    rng = np.random.default_rng(seed)
    y = [None if rng.random() < 0.5 else label for label in y]
    return Table.from_arrays(
        table.values, y, columns=list("abcde"), row_ids=table.row_ids, target="ill", target_kind=kind
    )


@pytest.mark.parametrize("kind", ["two classes", "several classes", "number"])
def test_labels_are_purchases_of_the_target_column(kind):
    table = unlabelled_table(kind)
    batch = advise(table, prices=Prices.per_column({"ill": 3.0}, default=1.0), budget=30)
    labels = [each for each in batch if each.column == "ill"]
    assert labels
    assert batch.cost <= 30
    for each in labels:
        assert each.price == 3.0
        assert np.isnan(table.target.values[table.row_index(each.row)])
        assert each.why.startswith("its label is missing, and ")
    # No cell of a row without a label is bought without it.
    bought = {each.row for each in labels}
    for each in batch:
        known = not np.isnan(table.target.values[table.row_index(each.row)])
        assert known or each.row in bought or each.column == "ill"


def test_the_dearer_labels_are_the_fewer_are_bought():
    table = unlabelled_table()
    counts = []
    for price in (0.1, 2.0, 20.0):
        batch = advise(table, prices=Prices.per_column({"ill": price}, default=1.0), budget=30)
        counts.append(sum(each.column == "ill" for each in batch))
    assert counts[0] > counts[1] > counts[2]


def test_labels_in_a_group_and_a_visit_pay_together():
    table = unlabelled_table()
    clinic = Group("clinic", ["ill", "a"], first=6.0, then=2.0)
    prices = Prices.per_column({}, default=1.0, groups=[clinic], visit=4.0)
    batch = advise(table, prices=prices, budget=60)
    assert any(each.column == "ill" and each.group == "clinic" for each in batch)
    on_sale = prices.purchasable(table)
    cells = [(table.row_index(each.row), on_sale.column_index(each.column)) for each in batch]
    assert batch.cost == prices.on(table).cost(cells, ~on_sale.holes)


@pytest.mark.parametrize(
    "name", ["cells-only", "labels-only", "label-uncertainty", "label-error-reduction", QUICK, "auto"]
)
def test_strategies_buy_what_their_name_says(name):
    prices = Prices.per_column({"ill": 2.0}, default=1.0)
    batch = advise(unlabelled_table(), prices=prices, budget=500, strategy=name)
    bought = {"ill" if each.column == "ill" else "cell" for each in batch}
    expected = {"cells-only": {"cell"}, QUICK: {"cell", "ill"}, "auto": {"cell", "ill"}}
    assert bought == expected.get(name, {"ill"})


@pytest.mark.parametrize("name", ["labels-only", "label-uncertainty", "label-error-reduction"])
def test_strategies_of_labels_say_that_labels_have_no_price(name):
    assert name in names()
    with pytest.raises(ParameterError, match="buys labels only, but they have no price"):
        advise(unlabelled_table(), budget=10, strategy=name)


def test_a_refused_label_is_left_and_its_cells_come_last():
    table = unlabelled_table()
    prices = Prices.per_column({"ill": 1.0}, default=1.0)
    gone = [(row, "ill") for row, y in zip(table.row_ids, table.target.values, strict=True) if np.isnan(y)]
    batch = advise(table, prices=prices, budget=40, refused=gone)
    assert {each.column for each in batch}.isdisjoint({"ill"})
    lost = {row for row, _ in gone}
    order = [each.row in lost for each in batch]
    assert order == sorted(order)
    with pytest.raises(DataError, match="no column 'il'"):
        advise(table, prices=prices, budget=40, refused=[("r0", "il")])


def test_a_table_that_lacks_labels_alone_can_be_bought_for():
    full = Table.from_arrays(np.arange(12.0).reshape(6, 2), ["a", "b", "a", "b", None, None], target="ill")
    with pytest.raises(ParameterError, match=r"no holes but in its target.*give the column 'ill' a price"):
        advise(full, budget=10)
    batch = advise(full, prices=Prices.per_column({"ill": 5.0}, default=1.0), budget=100)
    assert sorted(batch.cells) == [("4", "ill"), ("5", "ill")]


def test_a_round_scored_before_labels_had_a_price_sells_none():
    table = unlabelled_table()
    prices = Prices.per_column({"ill": 1.0}, default=1.0)
    on_sale = prices.purchasable(table)
    state = dict(np.random.default_rng(0).bit_generator.state)
    scored = ScoredRound(0, table.holes * 1.0, 0, state)
    chosen = choose(
        Top(), scored, prices.on(table), available=on_sale.holes, before=~on_sale.holes, count=1000
    )
    assert len(chosen.cells) == table.holes.sum()
    assert chosen.cells[:, 1].max() < 5
