import numpy as np

from cellworth import Prices, Table
from cellworth.strategy.buying_task import BuyingTask
from tests.strategy.tables import small_table


def test_holds_what_the_table_and_the_prices_say():
    table = small_table(n=20)
    task = BuyingTask.of(table, Prices.same(2.0), 3)
    np.testing.assert_array_equal(task.X, table.encode().X)
    np.testing.assert_array_equal(task.known, ~table.holes)
    np.testing.assert_array_equal(task.labelled, np.arange(20))
    assert (task.prices.own == 2.0).all()
    assert (task.target, task.is_number, task.seed) == ("classes", False, 3)


def test_without_prices_and_target_every_cell_costs_one_and_no_row_is_labelled():
    task = BuyingTask.of(Table.from_arrays([[1.0, np.nan], [2.0, 3.0]]), None, 0)
    assert (task.prices.own == 1.0).all()
    assert (task.y, task.target, len(task.labelled)) == (None, None, 0)
