r"""Row and column offsets of a sparse table, shrunk towards the overall mean.

A column seen three times has a mean that says little. So an offset is the mean of its cells and of
:math:`k` more at the overall mean, with :math:`k = \sigma^2/\tau^2`: the variance of cells around their
column's mean over the variance of those means, both from the analysis of variance. It is the best estimate
if both are normal, and the ridge regression on one indicator for each column with the penalty k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.sparse_step import CellBlock
from cellworth.errors import ParameterError

Array = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]

CENTRES = ("none", "columns", "both")
SWEEPS, SETTLED = 100, 1e-9  # most turns between rows and columns; least move, of the values' spread


class Offsets(NamedTuple):
    """What is taken off a cell before the factors are fitted: ``rows[i] + columns[j]``.

    Attributes
    ----------
    rows, columns : (n,) and (d,) arrays
        The columns' carry the overall mean.
    overall : float
        The overall mean, which a column without cells would have.
    row_shrinkage : float
        k of the rows, in cells; infinite without row offsets.
    """

    rows: Array
    columns: Array
    overall: float
    row_shrinkage: float

    def of_new_rows(self, cells: CellBlock) -> Array:
        """Return the row offsets (m,) of new rows, the columns' held."""
        left = cells.values - self.columns[cells.columns]
        return _shrunk_means(left, cells.rows(), len(cells.starts) - 1, self.row_shrinkage)


def fit_offsets(cells: CellBlock, n_columns: int, centre: str) -> Offsets:
    """Find the offsets of a table.

    ``centre``: "none" for zeros, "columns" for column offsets alone, "both". O(cells) for each turn.
    """
    if centre not in CENTRES:
        raise ParameterError(f"centre must be 'none', 'columns' or 'both'; got {centre!r}")
    n_rows, rows = len(cells.starts) - 1, cells.rows()
    none = Offsets(np.zeros(n_rows), np.zeros(n_columns), 0.0, np.inf)
    if centre == "none":
        return none
    overall = float(cells.values.mean())
    values = cells.values - overall
    of_columns = _shrinkage(values, cells.columns, n_columns)
    columns = _shrunk_means(values, cells.columns, n_columns, of_columns)
    if centre == "columns":
        return none._replace(columns=columns + overall, overall=overall)
    of_rows = _shrinkage(values - columns[cells.columns], rows, n_rows)
    offsets, spread = np.zeros(n_rows), float(values.std())
    for _ in range(SWEEPS):
        last = offsets
        offsets = _shrunk_means(values - columns[cells.columns], rows, n_rows, of_rows)
        if np.abs(offsets - last).max() <= SETTLED * spread:
            break
        columns = _shrunk_means(values - offsets[rows], cells.columns, n_columns, of_columns)
        shift = _best_shift(offsets, of_rows, columns, of_columns)
        offsets, columns = offsets + shift, columns - shift
    return Offsets(offsets, columns + overall, overall, of_rows)


def _best_shift(rows: Array, of_rows: float, columns: Array, of_columns: float) -> float:
    """Return what is best moved from all columns to all rows: no cell notices, but both are shrunk.

    Turns between rows and columns find it too, but in hundreds of them.
    """
    if np.isinf(of_rows) or np.isinf(of_columns):
        return 0.0
    pull = of_columns * float(columns.sum()) - of_rows * float(rows.sum())
    return pull / max(of_rows * len(rows) + of_columns * len(columns), np.finfo(np.float64).tiny)


def take_off(cells: CellBlock, offsets: Offsets) -> CellBlock:
    """Return the cells without their offsets."""
    return cells._replace(values=cells.values - offsets.columns[cells.columns] - offsets.rows[cells.rows()])


def _shrunk_means(values: Array, group: Integers, n_groups: int, shrinkage: float) -> Array:
    """Return for each group the sum of its values over their number plus ``shrinkage``; 0 without values."""
    sums = np.bincount(group, values, minlength=n_groups)
    counts = np.bincount(group, minlength=n_groups)
    return np.asarray(sums / np.maximum(counts + shrinkage, np.finfo(np.float64).tiny))


def _shrinkage(values: Array, group: Integers, n_groups: int) -> float:
    """Return sigma^2 / tau^2 of the groups, by the moments of a one-way analysis of variance.

    Infinite where the groups' means differ no more than chance would have it, or where that cannot be
    told because no group has two values.
    """
    counts = np.bincount(group, minlength=n_groups)
    sums = np.bincount(group, values, minlength=n_groups)[counts > 0]
    counts = counts[counts > 0].astype(np.float64)
    n, between_groups = len(values), float(np.sum(sums**2 / counts))
    if n == len(counts) or len(counts) == 1:
        return np.inf
    within = max(0.0, float(values @ values) - between_groups) / (n - len(counts))
    between = (between_groups - float(values.sum()) ** 2 / n) / (len(counts) - 1)
    size = (n - float(counts @ counts) / n) / (len(counts) - 1)
    variance = (between - within) / size
    return within / variance if variance > 0 else np.inf
