"""Which rows choices are made on."""

import numpy as np

from cellworth.complete.gaussian import drawn_rows
from cellworth.complete.gaussian.drawn_rows import CELLS, MIN_ROWS, some_rows


def test_a_few_thousand_cells_and_each_row_once(monkeypatch):
    for most in (drawn_rows.MOST_SHUFFLED, 10):
        monkeypatch.setattr(drawn_rows, "MOST_SHUFFLED", most)
        for n, d, many in ((50_000, 20, CELLS // 20), (50_000, 1000, MIN_ROWS)):
            found = some_rows(n, d, np.random.default_rng(0))
            assert len(found) == len(np.unique(found)) == many
            assert found.min() >= 0
            assert found.max() < n
            assert found.tolist() == some_rows(n, d, np.random.default_rng(0)).tolist()


def test_of_a_short_table_all_rows_are_used():
    assert sorted(some_rows(40, 3, np.random.default_rng(0))) == list(range(40))


def test_of_many_rows_no_list_is_made():
    found = some_rows(10**15, 20, np.random.default_rng(0))  # a list of all would not fit in memory
    assert len(np.unique(found)) == CELLS // 20
