r"""The observed cells of a sparse table: checked, without empty rows and columns, and less their offsets.

The mean of a column that was seen three times says little. So an offset is the mean of its cells and of
:math:`k` more at the overall mean, with :math:`k = \sigma^2/\tau^2`: the variance of cells around their
column's mean over the variance of those means, both from the analysis of variance. It is the best estimate
if both are normal, and the ridge regression on one indicator for each column with the penalty k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.sources import Part
from cellworth.complete.hold_out import hide_listed_cells
from cellworth.complete.sparse.row_pass import CellBlock
from cellworth.errors import DataError, ParameterError

FORMATS = ("csr", "csc", "coo")  # the others drop stored zeros, or store zeros that nobody observed
CENTRES = ("none", "columns", "both")
SWEEPS, SETTLED = 100, 1e-9  # most turns between rows and columns; least move, of the values' spread


def check_cells(estimator: BaseEstimator, X: Any, *, reset: bool) -> csr_array:
    """Return X (n, d) as compressed rows, columns sorted in each row: every stored cell is observed.

    Parameters
    ----------
    X : sparse matrix, or array-like with NaN for holes
        A stored 0 is an observed 0.
    reset : bool
        True in ``fit``: the number of columns is learned, and some cell must be observed. False for new
        rows: it must agree with that of ``fit``.
    """
    if issparse(X) and X.format not in FORMATS:
        raise DataError(
            f"X is a sparse matrix in {X.format.upper()} format, which cannot tell an observed 0 from a "
            "hole; expected CSR, CSC or COO. Build it as COO from rows, columns and values."
        )
    n_stored = X.nnz if issparse(X) else 0
    checked = validate_data(
        estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, reset=reset
    )
    cells = _compress(checked, X, n_stored) if issparse(checked) else cells_of_array(checked)
    _refuse_what_is_no_number(cells)
    if reset and not cells.nnz:
        raise DataError("X has no observed cell; expected some. In a sparse matrix, cells are those stored.")
    return cells


def _compress(checked: Any, given: Any, n_stored: int) -> csr_array:
    cells = csr_array(checked, copy=not checked.has_sorted_indices)
    cells.sort_indices()
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    twice = np.flatnonzero((np.diff(rows) == 0) & (np.diff(cells.indices) == 0))
    if len(twice):
        _refuse_double(int(rows[twice[0]]), int(cells.indices[twice[0]]))
    if cells.nnz < n_stored:  # conversion from COO added them up
        by_place = np.lexsort((given.col, given.row))
        row, column = given.row[by_place], given.col[by_place]
        place = np.flatnonzero((np.diff(row) == 0) & (np.diff(column) == 0))[0]
        _refuse_double(int(row[place]), int(column[place]))
    return cells


def _refuse_double(row: int, column: int) -> None:
    raise DataError(
        f"X has more than one value for the cell in row {row}, column {column} (counted from 0); "
        "expected one. Keep one, or their mean."
    )


def cells_of_array(X: Float64Array) -> csr_array:
    """Return the cells of an array (n, d) that are not NaN."""
    observed = ~np.isnan(X)
    starts = np.concatenate([[0], np.cumsum(observed.sum(axis=1))])
    return csr_array((X[observed], np.nonzero(observed)[1], starts), shape=X.shape)


def rows_as_matrix(X: Any) -> csr_array:
    """Return the rows of a block, an array or a sparse matrix, as a sparse matrix of their observed cells."""
    return csr_array(X) if issparse(X) else cells_of_array(X.astype(np.float64, copy=False))


def cells_of_part(part: Part) -> CellBlock:
    """Return the observed cells of some rows that were read."""
    matrix = rows_as_matrix(part.X)
    return CellBlock(matrix.indptr, matrix.indices, matrix.data.astype(np.float64, copy=False))


def _refuse_what_is_no_number(cells: csr_array) -> None:
    bad = np.flatnonzero(~np.isfinite(cells.data))
    if len(bad):
        row = int(np.searchsorted(cells.indptr, bad[0], side="right")) - 1
        what = "NaN" if np.isnan(cells.data[bad[0]]) else "infinity"
        raise DataError(
            f"X contains {what}: column {cells.indices[bad[0]]}, row {row} (counted from 0), {len(bad)} "
            "cell(s) in all; expected finite numbers. In a sparse matrix a hole is a cell that is not stored."
        )


class Compact(NamedTuple):
    """Cells without the rows and columns that have none.

    Attributes
    ----------
    cells : CellBlock
        Rows and columns are counted among those that are left.
    rows, columns : int arrays
        Their numbers in the whole table.
    """

    cells: CellBlock
    rows: IntArray
    columns: IntArray


def compact(table: csr_array) -> Compact:
    """Leave out rows and columns without cells: at the best fit their factors are 0. O(n + d + cells)."""
    rows = np.flatnonzero(np.diff(table.indptr))
    columns = np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]))
    number = np.zeros(table.shape[1], dtype=table.indices.dtype)
    number[columns] = np.arange(len(columns))
    starts = np.append(table.indptr[rows], table.indptr[-1])
    return Compact(CellBlock(starts, number[table.indices], table.data), rows, columns)


def split_cells(cells: CellBlock, rng: np.random.Generator) -> tuple[CellBlock, CellBlock]:
    """Return the cells that stay and those that are hidden: a tenth, but never a column's first."""
    hidden = hide_listed_cells(cells.columns, rng)
    return _pick(cells, ~hidden), _pick(cells, hidden)


def _pick(cells: CellBlock, picked: BoolArray) -> CellBlock:
    before = np.concatenate([[0], np.cumsum(picked)])
    return CellBlock(before[cells.starts], cells.columns[picked], cells.values[picked])


def put_observed(filled: Float64Array, cells: csr_array) -> Float64Array:
    """Overwrite the observed cells of ``filled`` (m, d) with their values, and return it."""
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    filled[rows, cells.indices] = cells.data
    return filled


def check_numbers(what: str, numbers: Any, n: int) -> IntArray:
    """Return row or column numbers, (k,); refuse those outside a table that has n of them."""
    found = np.asarray(numbers)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise DataError(f"{what} must be a list of whole numbers; got {numbers!r}")
    bad = found[(found < 0) | (found >= n)]
    if bad.size:
        raise DataError(f"{what} must lie from 0 to {n - 1}, as in the table of fit; got {bad[0]}")
    return found.astype(np.intp)


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

    rows: Float64Array
    columns: Float64Array
    overall: float
    row_shrinkage: float

    def of_new_rows(self, cells: CellBlock) -> Float64Array:
        """Return the row offsets (m,) of new rows, the columns' held."""
        left = cells.values - self.columns[cells.columns]
        return shrunk_means(left, cells.rows(), len(cells.starts) - 1, self.row_shrinkage)


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
    of_columns = group_shrinkage(values, cells.columns, n_columns)
    columns = shrunk_means(values, cells.columns, n_columns, of_columns)
    if centre == "columns":
        return none._replace(columns=columns + overall, overall=overall)
    of_rows = group_shrinkage(values - columns[cells.columns], rows, n_rows)
    offsets, spread = np.zeros(n_rows), float(values.std())
    for _ in range(SWEEPS):
        last = offsets
        offsets = shrunk_means(values - columns[cells.columns], rows, n_rows, of_rows)
        if np.abs(offsets - last).max() <= SETTLED * spread:
            break
        columns = shrunk_means(values - offsets[rows], cells.columns, n_columns, of_columns)
        shift = best_shift((float(offsets.sum()), n_rows), of_rows, columns, of_columns)
        offsets, columns = offsets + shift, columns - shift
    return Offsets(offsets, columns + overall, overall, of_rows)


def best_shift(rows: tuple[float, int], of_rows: float, columns: Float64Array, of_columns: float) -> float:
    """Return what is best moved from all columns to all rows: no cell notices, but both are shrunk.

    ``rows`` are the sum and the number of the row offsets.
    Turns between rows and columns find it too, but in hundreds of them.
    """
    if np.isinf(of_rows) or np.isinf(of_columns):
        return 0.0
    pull = of_columns * float(columns.sum()) - of_rows * rows[0]
    return pull / max(of_rows * rows[1] + of_columns * len(columns), np.finfo(np.float64).tiny)


def take_off(cells: CellBlock, offsets: Offsets) -> CellBlock:
    """Return the cells without their offsets."""
    return cells._replace(values=cells.values - offsets.columns[cells.columns] - offsets.rows[cells.rows()])


def shrunk_means(values: Float64Array, group: IntArray, n_groups: int, shrinkage: float) -> Float64Array:
    """Return for each group the sum of its values over their number plus ``shrinkage``; 0 without values."""
    sums = np.bincount(group, values, minlength=n_groups)
    counts = np.bincount(group, minlength=n_groups)
    return np.asarray(sums / np.maximum(counts + shrinkage, np.finfo(np.float64).tiny))


def group_shrinkage(values: Float64Array, group: IntArray, n_groups: int) -> float:
    """Return sigma^2 / tau^2 of the groups, by the moments of a one-way analysis of variance.

    Infinite where the groups' means differ no more than chance would have it, or where that cannot be
    told because no group has two values.
    """
    counts = np.bincount(group, minlength=n_groups)
    sums = np.bincount(group, values, minlength=n_groups)[counts > 0]
    counts = counts[counts > 0].astype(np.float64)
    squares = float(values @ values), float(np.sum(sums**2 / counts)), float(counts @ counts)
    return variance_ratio(len(values), len(counts), float(values.sum()), *squares)


def variance_ratio(
    n: int, n_groups: int, total: float, squares: float, between_groups: float, squared_counts: float
) -> float:
    """Return sigma^2 / tau^2 of groups from sums that add up over blocks of rows; see `group_shrinkage`.

    Parameters
    ----------
    n, n_groups : int
        Values, and groups that have some.
    total, squares : float
        Sums of the values and of their squares.
    between_groups : float
        Sum over groups of (sum of the values)^2 / count.
    squared_counts : float
        Sum over groups of count^2.
    """
    if n == n_groups or n_groups == 1:
        return np.inf
    within = max(0.0, squares - between_groups) / (n - n_groups)
    between = (between_groups - total**2 / n) / (n_groups - 1)
    size = (n - squared_counts / n) / (n_groups - 1)
    variance = (between - within) / size
    return within / variance if variance > 0 else np.inf
