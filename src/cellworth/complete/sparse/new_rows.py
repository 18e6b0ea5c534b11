"""Rows that were not in the fit, estimated from their own cells."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cellworth.complete.solver.sparse_step import row_factors
from cellworth.complete.sparse.blocks import Blocks, row_blocks, take_rows
from cellworth.complete.sparse.cells import compact
from cellworth.complete.sparse.offsets import Offsets, take_off

Array = NDArray[np.float64]


def estimate_rows(
    table: csr_array, column_factors: Array, offsets: Offsets, penalty: float, pool: ThreadPoolExecutor | None
) -> tuple[Array, Array]:
    """Return row factors (m, r) and row offsets (m,) of the rows of a table (m, d); 0 for rows without cells.

    A row offset is the shrunk mean of what the column offsets leave; the factors are the ridge regression of
    the rest on the column factors.
    """
    factors, row_offsets = np.zeros((table.shape[0], column_factors.shape[1])), np.zeros(table.shape[0])
    small = compact(table)
    known = offsets._replace(columns=offsets.columns[small.columns])
    known = known._replace(rows=known.of_new_rows(small.cells))
    left, B = take_off(small.cells, known), column_factors[small.columns]
    blocks = Blocks([take_rows(left, rows) for rows in row_blocks(left, len(B))], pool)
    row_offsets[small.rows] = known.rows
    factors[small.rows] = np.concatenate(blocks.map(row_factors, B, penalty).gather())
    return factors, row_offsets
