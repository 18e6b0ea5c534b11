"""Frames with text, dates or yes/no as input of models: a table in `fit`, and rows like it in `predict`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import DataError
from cellworth.messages import listing, shorten
from cellworth.table import Column, ColumnLayout, Table
from cellworth.table.column import NUMERIC
from cellworth.table.frames import library_of
from cellworth.table.raw_cells import is_null, labels


def is_mixed(X: Any) -> bool:
    """Return whether X is a frame with a column of text, categories or dates, which is no matrix."""
    if library_of(X) is None:
        return False
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    other = nw.String | nw.Categorical | nw.Enum | nw.Date | nw.Datetime
    return any(
        isinstance(dtype, other)
        or (isinstance(dtype, nw.Object) and any(isinstance(each, str) for each in frame[name]))
        for name, dtype in frame.schema.items()
    )


def unmeasured_names(frame: Any) -> list[str]:
    """Return the columns of a frame with nothing but holes, if others have values; O(n p)."""
    import narwhals as nw

    given = nw.from_native(frame, eager_only=True)
    empty = [name for name in given.columns if all(map(_is_hole, given[name]))]
    return empty if len(empty) < len(given.columns) else []


def table_of(frame: Any, leave_out: Sequence[str] = ()) -> Table:
    """Return a frame, without some columns, as a table without a target; its index may repeat. O(n p).

    Rows have the names of the index if these differ, and numbers from 0 otherwise.
    """
    import narwhals as nw

    names = _row_names(frame)
    plain = frame
    if library_of(frame) == "pandas" and ("" in names or len(set(names)) < len(names)):
        plain = frame.reset_index(drop=True)
    if leave_out:
        plain = nw.from_native(plain, eager_only=True).drop(leave_out).to_native()
    try:
        return Table.from_frame(plain)
    except DataError as error:
        raise DataError(
            f"{error} For that, give a Table.from_frame(frame, target=..., ...) and no y."
        ) from None


def encoded_like(frame: Any, columns: Sequence[Column], left_out: Sequence[str] = ()) -> Float64Array:
    """Return rows of a frame as the model sees them, (m, d); O(m p).

    The frame must have the columns of the training table, in any order, and may have those that were
    ``left_out``. A text that no training row had is taken for a hole: nothing was learned of it.
    """
    import narwhals as nw

    given = nw.from_native(frame, eager_only=True)
    names = [column.name for column in columns]
    lacking = [name for name in names if name not in given.columns]
    beyond = [name for name in given.columns if name not in names and name not in left_out]
    if lacking or beyond:
        wrong = f"{listing(lacking)} missing" if lacking else f"{listing(beyond)} beyond them"
        raise DataError(
            f"the frame must have the columns that the model was trained on, {listing(names, most=10)}; got "
            f"{wrong}. Select these columns."
        )
    rows = _row_names(frame)
    cells = [_cells(column, given[column.name].to_list(), rows) for column in columns]
    return ColumnLayout(tuple(columns)).encode(np.column_stack(cells))


def refuse_unlike(rows: Any, columns: Sequence[Column]) -> None:
    """Raise DataError if rows to predict hold texts but are no frame, which alone names their columns."""
    given = np.asarray(rows)
    if given.dtype.kind in "biuf":
        return
    try:
        given.astype(np.float64)
    except (TypeError, ValueError):
        names = listing([column.name for column in columns], most=10)
        raise DataError(
            f"the model was trained on texts or dates; expected a DataFrame with the columns {names}, got "
            f"{type(rows).__name__}."
        ) from None


def _row_names(frame: Any) -> list[str]:
    """Return what messages call the rows of a frame: the labels of its index, or numbers from 0."""
    if library_of(frame) == "pandas":
        return labels(frame.index)
    return [str(row) for row in range(len(frame))]


def _cells(column: Column, values: Sequence[Any], rows: Sequence[str]) -> Float64Array:
    """Return the stored numbers of a column's values, NaN for holes and for texts that are new."""
    seen: dict[Any, float] = {}
    found = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if _is_hole(value):
            continue
        if value not in seen:
            seen[value] = _cell(column, value, rows[row])
        found[row] = seen[value]
    return found


def _is_hole(value: Any) -> bool:
    return value is None or is_null(value) or (isinstance(value, str) and not value.strip())


def _cell(column: Column, value: Any, row: str) -> float:
    try:
        return float(value) if column.kind in NUMERIC else column.parse(value)
    except (DataError, TypeError, ValueError):
        if column.categories:
            return math.nan
        raise DataError(
            f"row {shorten(row)}, column {shorten(column.name)}: expected {column.expected}, got "
            f"{shorten(value)}."
        ) from None
