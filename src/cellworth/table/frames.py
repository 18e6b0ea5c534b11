"""pandas, polars and pyarrow frames, and Parquet files: read into columns of cells, and results like them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cellworth.arrays import BoolArray, Float64Array
from cellworth.errors import DataError, ParameterError
from cellworth.optional_packages import require
from cellworth.table.column import LABELLED, Column
from cellworth.table.dates import days_from_stamps, stamps_from_days
from cellworth.table.files import File, FileBytes, read_bytes
from cellworth.table.keywords import declared_by
from cellworth.table.parse_values import label
from cellworth.table.write_table import Library, user_values

if TYPE_CHECKING:
    from cellworth.table.table import Table
from cellworth.table.raw_cells import (
    Cells,
    NumberCells,
    Origin,
    RawColumn,
    as_texts,
    cells_from_objects,
    coded_cells,
    id_column,
    is_null,
    labels,
)

_MIDNIGHT = "T00:00:00"


class _Series(NamedTuple):
    """One column of a frame: its name, the library's native column, and what the frame declares about it."""

    name: str
    native: Any
    declared: Mapping[str, Any] = {}


def read_frame(frame: Any, name: str | None = None) -> tuple[list[RawColumn], Origin]:
    """Convert a frame to columns; O(n p), vectorised except for text and objects, one step per cell."""
    series = list(_split(frame))
    index = index_column(frame, None)  # for messages, if rows have names
    rows = [str(row) for row in range(len(frame))] if index is None else as_texts(index.cells).texts
    origin = Origin(name or f"the {type(frame).__name__}", rows)
    if not series or not len(frame):
        raise DataError(f"{origin.name}: expected rows and columns, got the shape {tuple(frame.shape)}.")
    columns = [RawColumn(column.name, _cells(column, origin), column.declared) for column in series]
    return columns, origin


def index_column(frame: Any, row_id: str | None) -> RawColumn | None:
    """Return the index of a pandas frame as a column of row ids, if it should name the rows.

    It should if `row_id` names it, or if `row_id` is None and it is not the default 0, 1, ..., n - 1.
    """
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(frame):
        return None
    index = frame.index
    names = {label(column) for column in frame.columns}
    own_name = None if index.name is None or label(index.name) in names else label(index.name)
    is_default = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if is_default if row_id is None else row_id != own_name:
        return None
    texts = labels(index)
    if type(index).__name__ == "DatetimeIndex" and all(text.endswith(_MIDNIGHT) for text in texts if text):
        texts = [text.removesuffix(_MIDNIGHT) for text in texts]  # days, as people write them
    return id_column(texts, own_name or "row_id", names)


def _split(frame: Any) -> Iterator[_Series]:
    """Split a frame into columns by position, since names may repeat."""
    import narwhals as nw

    if nw.dependencies.is_pandas_like_dataframe(frame):
        for place, name in enumerate(frame.columns):
            yield _Series(label(name), frame.iloc[:, place])
    elif nw.dependencies.is_polars_dataframe(frame):
        for column in frame.get_columns():
            yield _Series(label(column.name), column)
    elif nw.dependencies.is_pyarrow_table(frame):
        for field, column in zip(frame.schema, frame.columns, strict=True):
            yield _Series(label(field.name), column, declared_by(field))
    else:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__qualname__}"
        remedy = "Pass a pandas or polars DataFrame or a pyarrow Table; for arrays use Table.from_arrays."
        if nw.dependencies.is_polars_lazyframe(frame):
            remedy = "Call its collect() first."
        raise DataError(f"Table.from_frame: expected a frame, got {kind}. {remedy}")


def _cells(column: _Series, origin: Origin) -> Cells:
    import narwhals as nw

    series: Any = nw.from_native(column.native, series_only=True)
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_integer() or dtype.is_float():
        return _numbers(series)
    if dtype == nw.Date or dtype == nw.Datetime:
        return _dates(series, column.name, origin)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _categories(series)
    # Nested columns print as arrays; as Python objects, they show the type that is refused.
    return cells_from_objects(series.to_list(), column.name, origin)


def _numbers(series: Any) -> NumberCells:
    import narwhals as nw

    holes = series.is_null().to_numpy()
    is_boolean = series.dtype == nw.Boolean
    values = series.fill_null(False if is_boolean else 0).to_numpy().astype(np.float64)
    kind = "boolean" if is_boolean else "integer" if series.dtype.is_integer() else "number"
    return NumberCells(np.where(holes, np.nan, values), kind)  # type: ignore[arg-type]


def _dates(series: Any, name: str, origin: Origin) -> Cells:
    if getattr(series.dtype, "time_zone", None):
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    stamps = series.to_numpy()
    if stamps.dtype.kind != "M":
        return cells_from_objects(series.to_list(), name, origin)
    try:
        return NumberCells(days_from_stamps(stamps), "date")
    except ValueError:
        years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
        rows = np.flatnonzero(~np.isnat(stamps) & ((years < 1) | (years >= 9999)))
        raise origin.cell_error(
            name,
            "expected dates in the years 1 to 9999",
            rows,
            [str(stamp) for stamp in stamps[rows[:3]]],
            "Correct the cell, or set it to None if the date is not known.",
        ) from None


def _categories(series: Any) -> Cells:
    """Read a categorical: its codes, and its declared categories if the library stores them per column."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas
        codes = native.cat.codes.to_numpy().astype(np.float64)
        codes[codes < 0] = np.nan
        return coded_cells(codes, list(native.cat.categories), bool(native.cat.ordered))
    if hasattr(native, "unify_dictionaries"):  # pyarrow
        native = native.unify_dictionaries()
        codes = np.concatenate([_arrow_codes(chunk) for chunk in native.chunks])
        return coded_cells(codes, native.chunk(0).dictionary.to_pylist(), bool(native.type.ordered))
    texts = [text.strip() if text is not None else "" for text in series.to_list()]  # polars
    declared = getattr(series.dtype, "categories", None)
    ordered = declared is not None
    categories = list(declared) if declared is not None else sorted({text for text in texts if text})
    place = {label(text): float(code) for code, text in enumerate(dict.fromkeys(map(label, categories)))}
    codes = np.array([place.get(text, np.nan) for text in texts], dtype=np.float64)
    return coded_cells(codes, list(place), ordered)


def _arrow_codes(chunk: Any) -> Any:
    holes = chunk.is_null().to_numpy(zero_copy_only=False)
    codes = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    return np.where(holes, np.nan, codes)


def read_parquet(path: File) -> tuple[list[RawColumn], Origin]:
    """Read a whole Parquet file; pyarrow is imported only here."""
    pyarrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    content = read_bytes(path)
    try:
        frame = parquet.ParquetFile(pyarrow.BufferReader(content)).read()
        frame.validate(full=True)  # text in a damaged file may be invalid, which shows only on use
        _ = frame.column_names
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise DataError(
            f"{path}: expected a Parquet file, got one that cannot be read ({str(error).splitlines()[0]}). "
            "Check that it is complete, or export it as .csv."
        ) from None
    return read_frame(frame, str(path))


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
    if isinstance(sample, Decimal):
        finest = min(cells[row].as_tuple().exponent for row in known.tolist() if not is_null(cells[row]))
        return [Decimal(repr(value)).quantize(Decimal(1).scaleb(finest)) for value in values]
    return [_like_date(value, sample) for value in values] if column.kind == "date" else values


def _like_date(value: Any, sample: object) -> Any:
    if isinstance(sample, datetime):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return moment if sample.tzinfo is None else moment.replace(tzinfo=UTC).astimezone(sample.tzinfo)
    if isinstance(sample, date) and isinstance(value, datetime):
        return value.date()
    return value


def check_columns(columns: Any) -> None:
    """Raise ParameterError, naming the right constructor, unless these are columns."""
    if isinstance(columns, Iterable) and not isinstance(columns, str):
        first = next(iter(columns), None) if isinstance(columns, list | tuple) else None
        if isinstance(first, Column):
            return
    way = "Table.from_arrays(X, y, columns=[...])"
    if isinstance(columns, str | os.PathLike | FileBytes):
        way = "Table.read(path, target=...)"
    elif hasattr(columns, "columns"):
        way = "Table.from_frame(frame, target=...)"
    raise ParameterError(
        f"Table(...) takes columns that are described already, not {type(columns).__name__}. Use {way}."
    )
