"""Tables from whatever the user has: a Table, a frame, a file or an array; and results as frames again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from cellworth.arrays import BoolArray, Float64Array
from cellworth.errors import ParameterError
from cellworth.messages import shorten
from cellworth.optional_packages import require
from cellworth.table.column import LABELLED, Column
from cellworth.table.dates import stamps_from_days
from cellworth.table.files import FileBytes
from cellworth.table.raw_cells import is_null
from cellworth.table.read_frames import index_column
from cellworth.table.table import Table
from cellworth.table.values import label
from cellworth.table.write_table import Library, user_values

AnyTable = Any
"""A `Table`, a pandas or polars DataFrame, a pyarrow Table, the path of a file, or an array (n, p)."""


def as_table(given: AnyTable, *, target: str | None = None) -> Table:
    """Convert what the user gave to a table; O(n p) unless it already is a `Table`.

    Parameters
    ----------
    given : Table, DataFrame, pyarrow Table, path or array-like of shape (n, p)
        A frame is read as by `Table.from_frame`, a path as by `Table.read`.
    target : str, optional
        The column to predict. A `Table` has one, or none, already.

    Raises
    ------
    ParameterError
        If there is no table in it, or a `Table` has another target.
    """
    if isinstance(given, Table):
        own = None if given.target is None else given.target.name
        if target is not None and target != own:
            has = "no target" if own is None else f"the target {shorten(own)}"
            raise ParameterError(
                f"target={target!r}: this Table has {has}. Name the target when you make the Table, as in "
                f"Table.read(path, target={target!r})."
            )
        return given
    if library_of(given) is not None:
        return Table.from_frame(given, target=target)
    if isinstance(given, str | os.PathLike | FileBytes):
        return Table.read(given, target=target)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        if target is not None:
            raise ParameterError(
                "an array has no column names, so target= cannot name one. Use Table.from_arrays(X, y)."
            )
        return Table.from_arrays(given)
    raise ParameterError(
        "expected a Table, a pandas or polars DataFrame, a pyarrow Table, the path of a file or a 2-D array; "
        f"got {type(given).__name__}. See Table.read, Table.from_frame and Table.from_arrays."
    )


def library_of(given: object) -> Library | None:
    """Return the library of a frame; None for anything else."""
    import narwhals as nw

    if nw.dependencies.is_pandas_like_dataframe(given):
        return "pandas"
    if nw.dependencies.is_polars_dataframe(given):
        return "polars"
    return "pyarrow" if nw.dependencies.is_pyarrow_table(given) else None


@dataclass(frozen=True, eq=False)
class GivenFrame:
    """A frame that the user gave, so that results can look like it: its library, index and types.

    Attributes
    ----------
    native : frame
    library : {"pandas", "polars", "pyarrow"}
    """

    native: Any
    library: Library

    @classmethod
    def of(cls, given: object) -> GivenFrame | None:
        """Return what the user gave if it is a frame; None for anything else."""
        library = library_of(given)
        return None if library is None else cls(given, library)

    def row_labels(self, table: Table) -> dict[str, Any]:
        """Return the index label of each row id of its table: 7, not "7"; empty without an index. O(n)."""
        if self.library != "pandas":
            return {}
        if index_column(self.native, None) is None and table.row_id is not None:
            return {}
        return dict(zip(table.row_ids, self.native.index, strict=True))

    def filled(self, table: Table, guessed: BoolArray, extra: Mapping[str, npt.NDArray[Any]]) -> Any:
        """Return a copy of the frame with the guessed cells (n, p) filled in from its completed table.

        Index, column order, types and the user's own words stay; known cells are untouched. The columns of
        ``extra`` come last. O(n) for each column with guesses.
        """
        places = {name: place for place, name in reversed(list(enumerate(self._names())))}
        new: dict[int, Any] = {}
        for j, column in enumerate(table.columns):
            rows = np.flatnonzero(guessed[:, j])
            if rows.size:
                native = self._column(places[column.name])
                cells = native.to_pylist() if self.library == "pyarrow" else native.to_list()
                written = _as_written(column, table.values[rows, j], cells, np.flatnonzero(~guessed[:, j]))
                for row, value in zip(rows.tolist(), written, strict=True):
                    cells[row] = value
                new[places[column.name]] = self._like(native, cells)
        return self._with(new, extra)

    def like(self, columns: Mapping[str, Any]) -> Any:
        """Return a frame of the same library, with the same index, with these columns (n,)."""
        if self.library == "pandas":
            return require("pandas").DataFrame(dict(columns), index=self.native.index)
        return frame_of_columns(columns, self.library)

    def _names(self) -> list[str]:
        names = self.native.column_names if self.library == "pyarrow" else self.native.columns
        return [label(name) for name in names]

    def _column(self, place: int) -> Any:
        if self.library == "pandas":
            return self.native.iloc[:, place]
        return self.native.get_columns()[place] if self.library == "polars" else self.native.column(place)

    def _like(self, native: Any, cells: list[Any]) -> Any:
        if self.library == "pandas":
            return type(native)(cells, index=native.index, dtype=native.dtype, name=native.name)
        if self.library == "polars":
            return type(native)(native.name, cells, dtype=native.dtype)
        return require("pyarrow").chunked_array([cells], type=native.type)

    def _with(self, new: Mapping[int, Any], extra: Mapping[str, npt.NDArray[Any]]) -> Any:
        frame = self.native.copy() if self.library == "pandas" else self.native
        for place, column in new.items():
            if self.library == "pandas":
                frame.isetitem(place, column)
            elif self.library == "polars":
                frame = frame.with_columns(column)
            else:
                frame = frame.set_column(place, frame.field(place), column)
        for name, values in extra.items():
            if self.library == "pandas":
                frame[name] = values
            elif self.library == "polars":
                frame = frame.with_columns(require("polars").Series(name, values))
            else:
                frame = frame.append_column(name, require("pyarrow").array(values))
        return frame


def frame_of_columns(columns: Mapping[str, Any], library: Library) -> Any:
    """Return a frame with these columns, sequences of equal length."""
    import narwhals as nw

    require(library)
    return nw.from_dict(dict(columns), backend=library).to_native()


def as_array(column: Column, values: Float64Array) -> npt.NDArray[Any]:
    """Return cells (n,) as an array that frames understand: datetimes for dates, numbers as they are."""
    if column.kind != "date":
        return values
    stamps = stamps_from_days(values)
    return stamps.astype("datetime64[D]").astype("datetime64[s]") if column.whole_days else stamps


def _as_written(column: Column, numbers: Float64Array, cells: Sequence[Any], known: Any) -> list[Any]:
    """Return the values of cells as the user's own objects: those of the known cells, or of their type."""
    sample = next((cells[row] for row in known.tolist() if not is_null(cells[row])), None)
    if column.kind in LABELLED:
        own = {label(cells[row]): cells[row] for row in known.tolist() if not is_null(cells[row])}
        return [own.get(text, text) for text in user_values(column, numbers)]
    if isinstance(sample, str):
        return column.texts(numbers)
    if column.kind == "boolean":
        return [type(sample)(value) for value in numbers] if sample is not None else numbers.tolist()
    values = user_values(column, numbers)
    return [_like_date(value, sample) for value in values] if column.kind == "date" else values


def _like_date(value: Any, sample: object) -> Any:
    if isinstance(sample, datetime):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return moment if sample.tzinfo is None else moment.replace(tzinfo=UTC).astimezone(sample.tzinfo)
    if isinstance(sample, date) and isinstance(value, datetime):
        return value.date()
    return value
