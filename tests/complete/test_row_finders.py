"""Some rows of a table of row blocks."""

import numpy as np
import pytest

from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.row_finders import LabelledRows, RowsAt, rows_found
from cellworth.complete.table_summary import summarise
from tests.blocks.tables import make_table


@pytest.mark.parametrize("block_rows", [1, 13, 500])
def test_rows_by_their_number_and_by_that_among_rows_with_and_without_a_label(block_rows):
    X, y = make_table(90, 3, 1, labelled=0.5)
    with ThreadEngine(n_jobs=1, block_rows=block_rows) as engine:
        source = open_blocks(X, target=y, engine=engine)
        summary = summarise(source)
        for wanted in ([], [0, 3, 4, 20]):
            numbers = np.array(wanted, dtype=int)
            np.testing.assert_array_equal(rows_found(source, RowsAt(numbers)).X, X[numbers])
            for labelled in (True, False):
                find = LabelledRows.of(summary, numbers, labelled=labelled)
                part = rows_found(source, find)
                rows = np.flatnonzero(np.isnan(y) != labelled)[numbers]
                np.testing.assert_array_equal(part.X, X[rows])
                np.testing.assert_array_equal(part.y, y[rows])
