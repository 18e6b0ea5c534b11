"""The observed cells of a sparse table: check them, drop empty rows and columns, hide some."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.row_source import Part
from cellworth.complete.hold_out import hide_listed_cells
from cellworth.complete.sparse.variable_projection import CellBlock
from cellworth.errors import DataError

FORMATS = ("csr", "csc", "coo")  # others drop stored zeros, or store zeros that were not observed


def check_cells(estimator: BaseEstimator, X: Any, *, reset: bool) -> csr_array:
    """Return X (n, d) in CSR format with sorted columns, where every stored cell is observed.

    Parameters
    ----------
    X : sparse matrix, or array-like with NaN for holes
        A stored 0 is an observed 0.
    reset : bool
        True in ``fit``: learn the number of columns; some cell must be observed. False for new rows: the
        number of columns must match that of ``fit``.
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
        raise DataError("X has no observed cell; expected at least one. In a sparse matrix, store the cell.")
    return cells


def _compress(checked: Any, given: Any, n_stored: int) -> csr_array:
    cells = csr_array(checked, copy=not checked.has_sorted_indices)
    cells.sort_indices()
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    twice = np.flatnonzero((np.diff(rows) == 0) & (np.diff(cells.indices) == 0))
    if len(twice):
        _refuse_double(int(rows[twice[0]]), int(cells.indices[twice[0]]))
    if cells.nnz < n_stored:  # conversion from COO summed duplicates
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
        Rows and columns are renumbered.
    rows, columns : int arrays
        Their original numbers in the whole table.
    """

    cells: CellBlock
    rows: IntArray
    columns: IntArray


def compact(table: csr_array) -> Compact:
    """Drop rows and columns without cells, whose factors are 0 in the best fit. O(n + d + cells)."""
    rows = np.flatnonzero(np.diff(table.indptr))
    columns = np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]))
    number = np.zeros(table.shape[1], dtype=table.indices.dtype)
    number[columns] = np.arange(len(columns))
    starts = np.append(table.indptr[rows], table.indptr[-1])
    return Compact(CellBlock(starts, number[table.indices], table.data), rows, columns)


def split_cells(cells: CellBlock, rng: np.random.Generator) -> tuple[CellBlock, CellBlock]:
    """Return the cells to keep and the tenth to hide, which never includes a column's first."""
    hidden = hide_listed_cells(cells.columns, rng)
    return _pick(cells, ~hidden), _pick(cells, hidden)


def _pick(cells: CellBlock, picked: BoolArray) -> CellBlock:
    before = np.concatenate([[0], np.cumsum(picked)])
    return CellBlock(before[cells.starts], cells.columns[picked], cells.values[picked])


def put_observed(filled: Float64Array, cells: csr_array, value: float | None = None) -> Float64Array:
    """Overwrite the observed cells of ``filled`` (m, d) with their values, or with one; return it."""
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    filled[rows, cells.indices] = cells.data if value is None else value
    return filled


def check_numbers(what: str, numbers: Any, n: int) -> IntArray:
    """Return row or column numbers, (k,); raise DataError unless all are integers from 0 to n - 1."""
    found = np.asarray(numbers)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise DataError(f"{what} must be a list of whole numbers; got {numbers!r}")
    bad = found[(found < 0) | (found >= n)]
    if bad.size:
        raise DataError(f"{what} must be between 0 and {n - 1}, as in the table passed to fit; got {bad[0]}")
    return found.astype(np.intp)


def matrix_of(X: Any) -> csr_array:
    """Return the rows of a block, sparse or with NaN in the holes, as a sparse matrix of observed cells."""
    return csr_array(X) if issparse(X) else cells_of_array(X.astype(np.float64, copy=False))


def cells_of_part(part: Part) -> CellBlock:
    """Return the observed cells of the rows of a block."""
    matrix = matrix_of(part.X)
    return CellBlock(matrix.indptr, matrix.indices, matrix.data.astype(np.float64, copy=False))
