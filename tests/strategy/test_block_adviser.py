"""An adviser on row blocks goes through rounds as one in memory does."""

import numpy as np
import pytest

from cellworth import Prices, strategy
from cellworth.errors import ParameterError
from cellworth.strategy.block_adviser import BlockAdviser
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import Adviser
from tests.strategy.test_block_batch import both_of, make_frame

pytest.importorskip("pyarrow")
PRICES = Prices.same(1.0)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return both_of(tmp_path_factory.mktemp("rounds"), make_frame(np.random.default_rng(0)))


def learned(big, small, cells):
    """Return both tables with some holes filled by the median of their columns."""
    rows, columns = np.array(cells).T
    values = np.array([np.nanmedian(small.values[:, j]) for j in columns])
    cells = small.values.copy()
    cells[rows, columns] = values
    filled = type(small)(small.columns, cells, small.row_ids, small.target, small.row_id)
    return big.with_cells(rows, columns, values), filled


@pytest.mark.parametrize("name", ["posterior", "random"])
def test_rounds_and_batches_are_those_in_memory(both, name):
    big, small = both
    one, other = BlockAdviser(strategy.get(name), big, seed=4), Adviser.of(strategy.get(name), small, seed=4)
    now_big, now_small, cells = big, small, []
    for _ in range(2):
        one.run(now_big, PRICES)
        other.run(now_small, PRICES)
        offered = {"available": now_small.holes, "before": ~now_small.holes}
        for asks in (0, 1):
            found = one.choose(BlockPrices.of(PRICES, now_big), count=4, asks_before=asks)
            expected = other.choose(PRICES.on(now_small), **offered, count=4, asks_before=asks)
            chosen = found.rows[found.selection.cells[:, 0]], found.selection.cells[:, 1]
            assert np.array_equal(np.column_stack(chosen), expected.cells)
        cells += expected.cells.tolist()
        now_big, now_small = learned(big, small, cells)


def test_cells_that_became_known_since_are_not_bought(both):
    big, _ = both
    adviser = BlockAdviser(strategy.get("random"), big)
    adviser.run(big, PRICES)
    prices = BlockPrices.of(PRICES, big)
    first = adviser.choose(prices, count=5)
    cells = np.column_stack([first.rows[first.selection.cells[:, 0]], first.selection.cells[:, 1]])
    for said in ({"gone": cells}, {"learned": cells}):
        then = adviser.choose(prices, count=5, **said)
        found = np.column_stack([then.rows[then.selection.cells[:, 0]], then.selection.cells[:, 1]])
        assert not set(map(tuple, found.tolist())) & set(map(tuple, cells.tolist()))


def test_what_was_fitted_is_enough_to_go_on(both):
    big, _ = both
    adviser = BlockAdviser(strategy.get("posterior"), big, seed=4)
    adviser.run(big, PRICES)
    again = BlockAdviser(strategy.get("posterior"), big, seed=4)
    again.resume(adviser.to_plain(), lambda: big, PRICES)
    prices = BlockPrices.of(PRICES, big)
    assert again.rounds == adviser.rounds
    lists = [each.choose(prices, count=6) for each in (adviser, again)]
    assert lists[0].rows.tolist() == lists[1].rows.tolist()
    assert lists[0].selection.cells.tolist() == lists[1].selection.cells.tolist()
    assert BlockAdviser(strategy.get("afasmc"), big).to_plain() is None  # its scorer remembers the table


def test_it_says_what_it_needs(both):
    with pytest.raises(ParameterError, match="call run"):
        BlockAdviser(strategy.get("random"), both[0]).choose(BlockPrices.of(PRICES, both[0]), count=1)
    with pytest.raises(ParameterError, match="settled"):
        BlockAdviser(strategy.get("auto"), both[0])
