import numpy as np
import pytest

from cellworth import GaussianCompleter, Group, Prices, Table, advise
from cellworth.messages import short_number
from cellworth.select import Draw, Offer, Ratio, Top
from cellworth.strategy.reasons import Reasons


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[rng.random(X.shape) < 0.4] = np.nan
    return Table.from_arrays(X, columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def completer(table):
    return GaussianCompleter(label_trust=0.0).fit(table.encode().X)


def reasons(table, completer, selector, prices, count=6):
    scores = np.where(table.holes, np.arange(1.0, 121.0).reshape(40, 3), 0.0)
    given = {"available": table.holes, "before": ~table.holes}
    offer = Offer(scores, table.holes, prices.on(table), ~table.holes)
    selection = selector.select(offer, count=count, rng=np.random.default_rng(1))
    found = Reasons(table.columns, completer, scores, selector, prices=prices.on(table), **given)
    return selection, found.of(selection), scores


BY_COLUMN = Prices.per_column({"a": 1.0, "b": 10.0, "c": 2.0})


def test_worth_is_per_money_where_money_decides(table, completer):
    """The oracle: score over price, by hand, over that of all holes together."""
    selection, why, scores = reasons(table, completer, Ratio(), BY_COLUMN)
    average = scores[table.holes].sum() / np.broadcast_to([1.0, 10.0, 2.0], (40, 3))[table.holes].sum()
    for (i, j), text in zip(selection.cells, why, strict=True):
        ratio = scores[i, j] / [1.0, 10.0, 2.0][j] / average
        assert text.endswith(f"worth {short_number(ratio)} times the average hole for its price")
        assert ratio > 1  # what is chosen first is never said to be worse than the average


def test_worth_is_plain_where_worth_decides_or_prices_are_equal(table, completer):
    for selector, prices in ((Top(), BY_COLUMN), (Draw(), BY_COLUMN), (Ratio(), Prices.same(2.0))):
        _, why, _ = reasons(table, completer, selector, prices)
        assert all(text.endswith("times the average hole") for text in why)


def test_chance_is_named(table, completer):
    _, why, _ = reasons(table, completer, Draw(per="price"), BY_COLUMN)
    assert all("; drawn by chance, worth " in text for text in why)
    _, why, _ = reasons(table, completer, Draw(per="price", by="row"), BY_COLUMN)
    assert all("; drawn with its row, worth " in text for text in why)
    assert all(text.startswith("known only to ±") for text in why)


@pytest.mark.parametrize("by", ["cell", "row"])
def test_what_auto_turns_out_to_be_is_named(by):
    """The oracle: the same draw, told which of the two to be. 40 rows are too few to finish, 400 enough."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=({"cell": 40, "row": 400}[by], 2))
    X[rng.random(X.shape) < 0.4] = np.nan
    table = Table.from_arrays(X)
    completer = GaussianCompleter(label_trust=0.0).fit(X)
    prices, scores = Prices.same(1.0).on(table), np.where(table.holes, 1.0 + rng.random(X.shape), 0.0)
    given = {"available": table.holes, "before": ~table.holes}
    told = []
    for selector in (Draw(by="auto"), Draw(by=by)):
        offer = Offer(scores, prices=prices, **given)
        selection = selector.select(offer, count=8, rng=np.random.default_rng(1))
        assert selection.drawn == by
        told.append(Reasons(table.columns, completer, scores, selector, prices=prices, **given).of(selection))
    assert told[0] == told[1]
    luck = {"cell": "; drawn by chance, worth ", "row": "; drawn with its row, worth "}[by]
    assert all(luck in text for text in told[0])


def test_where_cells_share_a_fee_the_row_is_compared(table, completer):
    prices = Prices.per_column({"a": 1.0}, groups=[Group("g", ["b", "c"], first=9.0, then=1.0)], visit=5.0)
    selection, why, _ = reasons(table, completer, Draw(per="price", by="row"), prices)
    rows = selection.cells[:, 0]
    for row in set(rows.tolist()):
        texts = [why[place] for place in np.flatnonzero(rows == row)]
        said = {text.partition("; ")[2] for text in texts}
        assert len(said) == 1
        assert said.pop().startswith("drawn with its row, which is worth ")


def test_a_label_that_shares_a_fee_is_worth_so_much(completer, table):
    labels = np.arange(40.0) % 2
    labels[:5] = np.nan
    known = Table.from_arrays(table.values, labels, columns=["a", "b", "c"], target="y")
    offered = Prices.per_column({"y": 2.0}, default=1.0, visit=5.0)
    found = [each.why for each in advise(known, prices=offered, count=30) if each.column == "y"]
    assert found
    assert all(" cells are known; worth " in why for why in found)
