"""The cells of a table in memory, changed by events."""

import numpy as np

from cellworth.campaign.cell_index import CellIndex
from cellworth.campaign.cell_values import CellsInMemory, CellStatus
from tests.campaign.campaigns import make_table


def test_cells_are_counted_as_they_change():
    table = make_table(n=8, seed=3)
    cells = CellsInMemory(table, CellIndex(table))
    holes = np.argwhere(table.holes)
    rows, columns = holes[:3].T
    cells.mark(tuple(holes[0].tolist()), CellStatus.ASKED)
    cells.put(rows, columns, np.array([1.0, 2.0, 3.0]))
    cells.mark(tuple(holes[3].tolist()), CellStatus.REFUSED)
    found = [cells.count(status) for status in CellStatus]
    expected = [len(holes) - 4, 0, int((~table.holes).sum()), 3, 1]
    assert found == expected
    p = table.shape[1]
    assert [int((cells.status[:, :p] == status).sum()) for status in CellStatus] == expected
    status, values = cells.at(rows, columns)
    assert status.tolist() == [CellStatus.TOLD] * 3
    assert values.tolist() == [1.0, 2.0, 3.0]
    cells.correct(tuple(holes[0].tolist()), 9.0)
    assert cells.value_of(tuple(holes[0].tolist())) == 9.0
    again = CellsInMemory(table, CellIndex(table))
    again.restore(cells.to_plain())
    assert np.array_equal(again.values, cells.values, equal_nan=True)
    assert [again.count(status) for status in CellStatus] == expected


def test_known_values_are_those_at_the_start_and_those_told():
    table = make_table(n=8, seed=3)
    cells = CellsInMemory(table, CellIndex(table))
    i, j = np.argwhere(table.holes)[0]
    before = cells.known_in(int(j))
    cells.put(np.array([i]), np.array([j]), np.array([1.5]))
    assert sorted(cells.known_in(int(j))) == sorted([*before, 1.5])
