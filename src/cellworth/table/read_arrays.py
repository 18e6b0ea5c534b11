"""Read arrays of numbers or objects into columns of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cellworth.errors import DataError
from cellworth.table.dates import days_from_stamps
from cellworth.table.parse_values import label
from cellworth.table.raw_cells import (
    Cells,
    NumberCells,
    Origin,
    RawColumn,
    cells_from_objects,
    id_column,
    labels,
)

_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


def read_arrays(
    X: Any, y: Any, columns: Sequence[str] | None, row_ids: Sequence[object] | None, target: str
) -> tuple[list[RawColumn], Origin]:
    """Convert X (n, p) and y (n,) to columns: row ids first, if given; target last, unless y is None."""
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        raise DataError(f"X: expected an array, got the frame {type(X).__name__}. Use Table.from_frame.")
    matrix = _as_array(X, "X")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(
            f"X must have the shape (rows, columns), neither of them 0, got {matrix.shape}. "
            "Give rows of equal length; for a single column use X.reshape(-1, 1)."
        )
    n, p = matrix.shape
    names = _names(columns, p)
    origin = Origin("the arrays", _row_ids(row_ids, n), ids_from="row_ids")
    raw = [RawColumn(name, _cells(matrix[:, j], name, origin)) for j, name in enumerate(names)]
    if y is not None:
        labels = _as_array(y, "y")
        if labels.shape != (n,):
            raise DataError(f"y must have the shape ({n},), one label per row of X, got {labels.shape}.")
        raw.append(RawColumn(label(target), _cells(labels, label(target), origin)))
    if row_ids is not None:
        raw.insert(0, id_column(origin.row_ids, "row_id", {column.name for column in raw}))
    return raw, origin


def _as_array(given: Any, name: str) -> npt.NDArray[Any]:
    if isinstance(given, np.ma.MaskedArray):
        mask, given = np.ma.getmaskarray(given), given.data.astype(object)
        given[mask] = None
    if type(given).__module__.startswith("scipy.sparse"):
        raise DataError(
            f"{name}: expected a dense array with NaN in its holes, got a sparse one. Use {name}.toarray()."
        )
    try:
        array = np.asarray(given, dtype=None if hasattr(given, "__array__") else object)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name}: expected an array of numbers or objects, got one that numpy refuses ({error})."
        ) from None
    if array.dtype.kind not in "biufOUMc":
        raise DataError(f"{name}: expected numbers, booleans, dates or objects, got the type {array.dtype}.")
    return array


def _names(columns: Sequence[str] | None, p: int) -> list[str]:
    if columns is None:
        return [f"x{j}" for j in range(p)]
    if isinstance(columns, str) or len(columns) != p:
        raise DataError(f"columns must have one name for each of the {p} columns of X, got {columns!r:.80}.")
    return [label(name) for name in columns]


def _row_ids(row_ids: Sequence[object] | None, n: int) -> list[str]:
    if row_ids is None:
        return [str(row) for row in range(n)]
    if isinstance(row_ids, str) or len(row_ids) != n:
        raise DataError(f"row_ids must have one id for each of the {n} rows of X, got {len(row_ids)}.")
    return labels(row_ids)


def _cells(values: npt.NDArray[Any], name: str, origin: Origin) -> Cells:
    kind = values.dtype.kind
    if kind in _KINDS:
        return NumberCells(values.astype(np.float64), _KINDS[kind])  # type: ignore[arg-type]
    if kind == "M":
        try:
            return NumberCells(days_from_stamps(values), "date")
        except ValueError as error:
            raise DataError(
                f"{origin.column(name)}: expected dates in the years 1 to 9999: {error}."
            ) from None
    return cells_from_objects(list(values), name, origin)
