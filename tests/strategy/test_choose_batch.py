import numpy as np
import pytest

from cellworth import GaussianCompleter, Prices, strategy
from cellworth.errors import ParameterError
from cellworth.score import Random
from cellworth.select import Top
from cellworth.strategy import Strategy
from cellworth.strategy.choose_batch import Adviser
from cellworth.table import ColumnLayout
from tests.strategy.tables import small_table


def rounds(adviser, table, n, *, upto=None, save=False):
    """Play some rounds on a truth and return the batches; with ``save``, the states before each round too."""
    encoded = table.encode()
    truth = GaussianCompleter().fit_transform(encoded.X)
    X, known = encoded.X.copy(), ~table.holes
    prices = Prices.same(1.0).on(table)
    batches, states = [], []
    for _ in range(n):
        if save:
            states.append((adviser.state(), X.copy(), known.copy()))
        batches.append(one_round(adviser, X, known, table.y, prices))
        cells = batches[-1]
        X[cells[:, 0], cells[:, 1]] = truth[cells[:, 0], cells[:, 1]]
        known[cells[:, 0], cells[:, 1]] = True
    return (batches, states) if save else batches


def one_round(adviser, X, known, y, prices):
    adviser.complete(X.copy(), y)
    adviser.score()
    return adviser.choose(prices, available=~known, before=known, count=6).cells


@pytest.mark.parametrize("name", ["afasmc", "afasmc-window4", "stability", "recommended", "em-inference"])
def test_a_restored_adviser_goes_on_as_the_first_would_have(name):
    table = small_table()
    arguments = {"layout": ColumnLayout.of_numbers(5), "target": "classes", "seed": 3}
    batches, states = rounds(Adviser(strategy.get(name), **arguments), table, 5, save=True)
    prices = Prices.same(1.0).on(table)
    for (state, X, known), expected in zip(states, batches, strict=True):
        resumed = Adviser(strategy.get(name), **arguments)
        resumed.restore(state)
        np.testing.assert_array_equal(one_round(resumed, X, known, table.y, prices), expected)


def test_one_strategy_serves_two_advisers_at_once():
    """The parts of a strategy are templates: advisers do not disturb one another."""
    table = small_table()
    arguments = {"layout": ColumnLayout.of_numbers(5), "target": "classes"}
    alone = rounds(Adviser(strategy.get("afasmc"), **arguments), table, 4)
    first, second = (Adviser(strategy.get("afasmc"), **arguments) for _ in range(2))
    rounds(second, table, 2)
    for batch, expected in zip(rounds(first, table, 4), alone, strict=True):
        np.testing.assert_array_equal(batch, expected)


def test_rounds_must_begin_with_a_completion():
    adviser = Adviser(
        Strategy("s", GaussianCompleter(), Random(), Top()),
        layout=ColumnLayout.of_numbers(5),
        target="classes",
    )
    with pytest.raises(ParameterError, match="complete"):
        adviser.score()


def test_the_first_batch_of_a_round_can_be_chosen_again_and_further_ones_differ():
    """Scores of a round serve many asks: a preview, the ask itself, and a second ask."""
    table = small_table()
    adviser = Adviser.of(strategy.get("recommended"), table, seed=3)
    adviser.complete(table.encode().X, table.y)
    adviser.score()
    resumed = Adviser.of(strategy.get("recommended"), table, seed=3)
    resumed.restore(adviser.state())

    def cells(of, asks_before):
        limits = {"available": table.holes, "before": ~table.holes, "count": 8}
        return of.choose(Prices.same(1.0).on(table), asks_before=asks_before, **limits).cells.tolist()

    first, second = cells(adviser, 0), cells(adviser, 1)
    assert first != second
    assert cells(adviser, 0) == cells(resumed, 0) == first
    assert cells(adviser, 1) == cells(resumed, 1) == second


def test_rows_added_since_the_round_are_not_chosen():
    table, longer = small_table(n=60), small_table(n=64)
    adviser = Adviser.of(strategy.get("random"), table)
    adviser.complete(table.encode().X, table.y)
    adviser.score()
    chosen = adviser.choose(
        Prices.same(1.0).on(longer), available=longer.holes, before=~longer.holes, count=1000
    )
    assert len(chosen.cells) == longer.holes[:60].sum()
    assert chosen.cells[:, 0].max() < 60
