import pytest

from cellworth import GaussianCompleter, Prices, advise, strategy
from cellworth.errors import ParameterError
from cellworth.score import PosteriorVariance
from cellworth.select import Top
from cellworth.strategy import Strategy
from tests.strategy.tables import NAMED, small_table


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


def test_wrong_names_are_refused_kindly():
    with pytest.raises(ParameterError, match="Did you mean 'afasmc-knapsack'"):
        strategy.get("afasmc-knapsak")
    with pytest.raises(ParameterError, match="replace=True"):
        strategy.register(strategy.get("random"))


def test_own_strategies_compose():
    mine = Strategy("mine", GaussianCompleter(), PosteriorVariance(), Top(per_row=1))
    advice = advise(small_table(), count=10, strategy=mine)
    assert len({p.row for p in advice}) == 10
