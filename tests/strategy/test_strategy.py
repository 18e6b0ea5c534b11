import numpy as np
import pytest

from cellworth import GaussianCompleter, Prices, Table, advise, strategy
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorVariance, Random
from cellworth.select import Top
from cellworth.strategy import Adviser, Strategy

NAMED = (
    "afasmc",
    "afasmc-window4",
    "afasmc-ratio",
    "afasmc-poss",
    "afasmc-knapsack",
    "qbc",
    "stability",
    "em-inference",
    "random",
    "posterior",
    "posterior-impact",
    "recommended",
)


def small_table(seed=0, n=60, kind="two classes"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    score = X[:, 0] + 0.3 * rng.normal(size=n)
    y = {
        "two classes": score > 0,
        "several classes": np.digitize(score, [-0.5, 0.5]),
        "number": score,
    }[kind]
    X[rng.random(X.shape) < 0.4] = np.nan
    X[0] = [1.0, 2.0, 3.0, 4.0, 5.0]
    return Table.from_arrays(X, y, columns=list("abcde"), row_ids=[f"r{i}" for i in range(n)])


def test_all_named_strategies_are_registered_and_described():
    assert set(NAMED) <= set(strategy.names())
    assert all(strategy.get(name).summary for name in strategy.names())


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("kind", ["two classes", "several classes", "number"])
def test_each_strategy_keeps_to_the_budget_and_offers_holes_only(name, kind):
    table = small_table(kind=kind)
    prices = Prices.per_column({"a": 3.0, "b": 1.0, "c": 2.5, "d": 1.0, "e": 7.0})
    advice = advise(table, prices=prices, budget=20, strategy=name)
    assert 0 < advice.cost <= 20
    assert len({(p.row, p.column) for p in advice}) == len(advice)
    for purchase in advice:
        assert table.holes[table.row_index(purchase.row), table.column_index(purchase.column)]
        assert purchase.worth >= 0


def test_advice_is_the_same_for_the_same_seed_and_another_for_another():
    table = small_table()
    first, again, other = (advise(table, count=10, seed=seed) for seed in (0, 0, 1))
    assert first.purchases == again.purchases
    assert first.purchases != other.purchases


def test_a_refused_cell_is_not_asked_for_again():
    table = small_table()
    wanted = advise(table, count=1, strategy="afasmc").purchases[0]
    refused = [(wanted.row, wanted.column)]
    second = advise(table, count=1, strategy="afasmc", refused=refused).purchases[0]
    assert (second.row, second.column) != (wanted.row, wanted.column)
    with pytest.raises(DataError, match="r0x"):
        advise(table, count=1, refused=[("r0x", "a")])


def test_a_category_is_bought_as_one_cell():
    rng = np.random.default_rng(0)
    hue = rng.choice(["red", "green", "blue"], size=80).astype(object)
    y = hue == "red"
    hue[rng.random(80) < 0.5] = None
    table = Table.from_arrays(
        np.column_stack([hue, rng.normal(size=80).astype(object)]), y, columns=["hue", "size"]
    )
    advice = advise(table, count=500)
    assert len(advice) == table.holes.sum()
    assert {p.column for p in advice} == {"hue"}


def test_wrong_names_and_full_tables_are_refused_kindly():
    with pytest.raises(ParameterError, match="did you mean 'afasmc-knapsack'"):
        strategy.get("afasmc-knapsak")
    with pytest.raises(ParameterError, match="replace=True"):
        strategy.register(strategy.get("random"))
    full = Table.from_arrays([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(ParameterError, match="nothing to buy"):
        advise(full, count=1)
    with pytest.raises(ParameterError):
        advise(small_table())


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
    return adviser.choose(adviser.score(), prices, available=~known, before=known, count=6).cells


@pytest.mark.parametrize("name", ["afasmc", "afasmc-window4", "stability", "recommended", "em-inference"])
def test_a_restored_adviser_goes_on_as_the_first_would_have(name):
    table = small_table()
    arguments = {"owner": np.arange(5), "target": "classes", "seed": 3}
    batches, states = rounds(Adviser(strategy.get(name), **arguments), table, 5, save=True)
    prices = Prices.same(1.0).on(table)
    for (state, X, known), expected in zip(states, batches, strict=True):
        resumed = Adviser(strategy.get(name), **arguments)
        resumed.restore(state)
        np.testing.assert_array_equal(one_round(resumed, X, known, table.y, prices), expected)


def test_one_strategy_serves_two_advisers_at_once():
    """The parts of a strategy are templates: advisers do not disturb one another."""
    table = small_table()
    arguments = {"owner": np.arange(5), "target": "classes"}
    alone = rounds(Adviser(strategy.get("afasmc"), **arguments), table, 4)
    first, second = (Adviser(strategy.get("afasmc"), **arguments) for _ in range(2))
    rounds(second, table, 2)
    for batch, expected in zip(rounds(first, table, 4), alone, strict=True):
        np.testing.assert_array_equal(batch, expected)


def test_rounds_must_begin_with_a_completion():
    adviser = Adviser(
        Strategy("s", GaussianCompleter(), Random(), Top()), owner=np.arange(5), target="classes"
    )
    with pytest.raises(ParameterError, match="complete"):
        adviser.score()


def test_own_strategies_compose():
    mine = Strategy("mine", GaussianCompleter(), PosteriorVariance(), Top(per_row=1))
    advice = advise(small_table(), count=10, strategy=mine)
    assert len({p.row for p in advice}) == 10
