import numpy as np
import pytest

from cellworth import Table, advise
from cellworth.errors import DataError, ParameterError
from tests.strategy.tables import small_table


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


def test_a_full_table_and_no_limit_are_refused():
    full = Table.from_arrays([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(ParameterError, match="nothing to buy"):
        advise(full, count=1)
    with pytest.raises(ParameterError):
        advise(small_table())
