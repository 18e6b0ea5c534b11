"""Row blocks of Parquet files: a single file, or all files in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.blocks.block_cells import cells_of_arrow
from cellworth.blocks.cell_columns import CellColumns
from cellworth.blocks.row_source import Block, Part
from cellworth.errors import DataError
from cellworth.optional_packages import require
from cellworth.table.keywords import declared_by
from cellworth.table.raw_cells import Cells

AHEAD = 4  # row groups: with a few workers, those between are being processed


@dataclass(frozen=True)
class RowGroupPart:
    """Rows ``start`` to ``stop`` of one row group of a file.

    Attributes
    ----------
    ahead : (path, row group) or None
        What to read ahead from the disk while this is processed.
    """

    path: str
    row_group: int
    start: int
    stop: int
    ahead: tuple[str, int] | None = None

    def read(self, columns: Sequence[str]) -> Any:
        """Return a pyarrow table of these rows."""
        wanted = self.stop - self.start
        table = _ROW_GROUPS.read(self.path, self.row_group, tuple(columns), wanted, self.ahead)
        return table.slice(self.start, self.stop - self.start)


class DecodedRowGroups:
    """Decodes row groups, and keeps those that are being read in parts until all of their rows were read.

    A part of a row group cannot be decoded alone. The blocks of a pass come in order, so few are kept at a
    time. Threads that want the same row group wait for the first of them.

    Parameters
    ----------
    most : int
        Row groups kept at a time; the oldest goes first.
    """

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: dict[tuple[Any, ...], _Decoded] = {}

    def read(
        self,
        path: str,
        group: int,
        columns: tuple[str, ...],
        rows: int,
        ahead: tuple[str, int] | None = None,
    ) -> Any:
        """Return a row group as a pyarrow table, of which ``rows`` rows are wanted; see `RowGroupPart`."""
        about = Path(path).stat()
        key = path, group, columns, about.st_mtime_ns, about.st_size
        with self._lock:
            decoded = self._kept.setdefault(key, _Decoded(path, group, columns, ahead))
            while len(self._kept) > self._most:
                self._kept.pop(next(iter(self._kept)))
        table = decoded.table()
        with self._lock:
            decoded.wanted += rows
            if decoded.wanted >= table.num_rows:
                self._kept.pop(key, None)
        return table

    def __len__(self) -> int:
        return len(self._kept)


class _Decoded:
    """One row group, decoded by the first thread that wants it."""

    def __init__(
        self, path: str, group: int, columns: tuple[str, ...], ahead: tuple[str, int] | None
    ) -> None:
        self._about = path, group, columns
        self._ahead = ahead
        self._lock = Lock()
        self._table: Any = None
        self.wanted = 0

    def table(self) -> Any:
        with self._lock:
            if self._table is None:
                path, group, columns = self._about
                with require("pyarrow.parquet").ParquetFile(path) as file:
                    self._table = file.read_row_group(group, columns=list(columns), use_threads=False)
                if self._ahead is not None:
                    read_ahead(*self._ahead)
        return self._table


def read_ahead(path: str, group: int) -> None:
    """Ask the system to read a row group from the disk; returns at once. Nothing where it cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return
    with suppress(OSError), open(path, "rb") as file:
        about = os.fstat(file.fileno())
        start, length = _bytes_of(path, group, about.st_mtime_ns)
        os.posix_fadvise(file.fileno(), start, length, os.POSIX_FADV_WILLNEED)


@lru_cache(maxsize=1024)
def _bytes_of(path: str, group: int, _written: int) -> tuple[int, int]:
    """Return where in a file a row group begins, and how long it is."""
    about = require("pyarrow.parquet").read_metadata(path).row_group(group)
    columns = [about.column(j) for j in range(about.num_columns)]
    starts = [c.dictionary_page_offset or c.data_page_offset for c in columns]
    ends = [start + c.total_compressed_size for start, c in zip(starts, columns, strict=True)]
    return min(starts, default=0), max(ends, default=0) - min(starts, default=0)


_ROW_GROUPS = DecodedRowGroups()


@dataclass(frozen=True)
class ParquetBlock:
    """Some rows of a Parquet table."""

    pieces: tuple[RowGroupPart, ...]
    start: int
    stop: int
    columns: tuple[str, ...]
    target: str | None
    row_id: str | None
    dtype: str

    def cells(self, names: Sequence[str]) -> list[Cells]:
        """Read the cells of some columns, of any kind, as they are in the files."""
        tables = [piece.read(list(dict.fromkeys(names))) for piece in self.pieces]
        whole = require("pyarrow").concat_tables(tables, promote_options="default")
        return cells_of_arrow(whole, names)

    def read(self) -> Part:
        """Read the rows of a table of numbers."""
        pyarrow = require("pyarrow")
        extra = [name for name in (self.target, self.row_id) if name is not None]
        tables = [piece.read([*self.columns, *extra]) for piece in self.pieces]
        dtype = np.dtype(self.dtype)
        kind = pyarrow.from_numpy_dtype(dtype)
        chunks = ([c for table in tables for c in table[name].cast(kind).chunks] for name in self.columns)
        columns = [pyarrow.chunked_array(each, kind) for each in chunks]
        cells = CellColumns.of(columns, self.stop - self.start, dtype)
        labels, names = (
            None if name is None else np.concatenate([plain_values(table[name]) for table in tables])
            for name in (self.target, self.row_id)
        )
        return Part(cells, labels, names, self.start)


def plain_values(column: Any) -> AnyArray:
    """Convert a pyarrow column to a NumPy array; nulls become NaN in float columns, None in others."""
    types = require("pyarrow").types
    if types.is_floating(column.type) or (column.null_count == 0 and types.is_integer(column.type)):
        return np.asarray(column.to_numpy())
    return np.array(column.to_pylist(), dtype=object)


@dataclass(frozen=True)
class ParquetTable:
    """A table in Parquet files, whose rows are concatenated in the order of the file names."""

    path: str
    groups: tuple[RowGroupPart, ...]  # all row groups
    columns: tuple[str, ...]
    dtype: np.dtype[Any]
    target: str | None
    row_id: str | None
    named: bool = True
    declared: Mapping[str, Any] = field(default_factory=dict)  # by the files, for each column

    @property
    def n_rows(self) -> int:
        """Total rows of all files."""
        return sum(group.stop for group in self.groups)

    def blocks(self, most_rows: int) -> list[Block]:
        """Combine small row groups and split large ones into blocks of at most ``most_rows`` rows."""
        blocks: list[Block] = []
        pieces: list[RowGroupPart] = []
        start = stop = 0
        for piece in self._cut(most_rows):
            if pieces and stop - start + piece.stop - piece.start > most_rows:
                blocks.append(self._block(pieces, start, stop))
                pieces, start = [], stop
            pieces.append(piece)
            stop += piece.stop - piece.start
        return [*blocks, self._block(pieces, start, stop)]

    def _cut(self, most_rows: int) -> list[RowGroupPart]:
        """Return the row groups; those with more than ``most_rows`` rows are split evenly."""
        cut = []
        for number, group in enumerate(self.groups):
            n_parts = -(-group.stop // most_rows)
            ends = [group.stop * i // n_parts for i in range(n_parts + 1)]
            next_one = self.groups[number + AHEAD : number + AHEAD + 1]
            ahead = next(((each.path, each.row_group) for each in next_one), None)
            cut += [RowGroupPart(group.path, group.row_group, a, b, ahead) for a, b in pairwise(ends)]
        return cut

    def _block(self, pieces: Sequence[RowGroupPart], start: int, stop: int) -> Block:
        about = self.columns, self.target, self.row_id, self.dtype.str
        return ParquetBlock(tuple(pieces), start, stop, *about)

    def identity(self) -> dict[str, Any]:
        """Return data that identifies this table."""
        return {
            "table": self.path,
            "rows": self.n_rows,
            "columns": list(self.columns),
            "target": self.target,
            "files": sorted({(group.path, Path(group.path).stat().st_size) for group in self.groups}),
        }


def parquet_table(
    path: Path,
    target: str | None,
    row_id: str | None,
    columns: Sequence[str] | None,
    *,
    numbers: bool = True,
) -> ParquetTable:
    """Open a Parquet file or folder as a table; all files must have the same columns.

    ``numbers`` refuses features that are no numbers.
    """
    parquet = require("pyarrow.parquet")
    groups: list[RowGroupPart] = []
    first: Any = None
    for file in parquet_files(path):
        about = _metadata(parquet, file)
        schema = about.schema.to_arrow_schema()
        if first is None:
            first = schema
            names = _feature_names(file, schema, target, row_id, columns)
        _check_types(file, schema, first, [*names, *(n for n in (target, row_id) if n is not None)])
        if numbers:
            _check_numbers(file, schema, names)
        sizes = (about.row_group(g).num_rows for g in range(about.num_row_groups))
        groups += [RowGroupPart(str(file), g, 0, n) for g, n in enumerate(sizes) if n]
    if not groups:
        raise DataError(f"{path}: the Parquet files have no rows; expected at least one.")
    pyarrow = require("pyarrow")
    types = {first.field(name).type for name in names}
    if not numbers:
        types = {kind for kind in types if pyarrow.types.is_primitive(kind)}
    dtype = np.dtype(np.float32 if types == {pyarrow.float32()} else np.float64)
    declared = {name: declared_by(first.field(name)) for name in first.names}
    return ParquetTable(str(path), tuple(groups), names, dtype, target, row_id, declared=declared)


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a table, in the order of their rows; DataError if there are none."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder; expected a Parquet folder, file, or Zarr array.")
    files = sorted(f for f in path.rglob("*") if f.suffix in (".parquet", ".parq", ".pq") and f.is_file())
    if not files:
        raise DataError(f"{path}: no Parquet file in this folder; expected names that end in .parquet.")
    return files


def _metadata(parquet: Any, file: Path) -> Any:
    try:
        return parquet.read_metadata(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: cannot be read as Parquet: {error}") from None


def _feature_names(
    file: Path, schema: Any, target: str | None, row_id: str | None, columns: Sequence[str] | None
) -> tuple[str, ...]:
    for what, name in (("target", target), ("row id", row_id), *(("column", c) for c in columns or ())):
        if name is not None and name not in schema.names:
            raise DataError(
                f"{file}: there is no {what} {name!r}; got the columns {', '.join(schema.names)}."
            )
    return tuple(columns or (name for name in schema.names if name not in (target, row_id)))


def _check_types(file: Path, schema: Any, first: Any, names: Sequence[str]) -> None:
    """Raise DataError if a column is missing, or of a different type than in the first file."""
    types = require("pyarrow").types
    for name in names:
        if name not in schema.names:
            raise DataError(f"{file}: the column {name!r} is missing here, but not in the first file.")
        kind, before = schema.field(name).type, first.field(name).type
        if types.is_dictionary(kind) and types.is_dictionary(before):
            kind, before = kind.value_type, before.value_type
        if kind != before:
            raise DataError(
                f"{file}: the column {name!r} holds {kind} here, but {before} in the first "
                "file; expected the same type in all files."
            )


def _check_numbers(file: Path, schema: Any, names: Sequence[str]) -> None:
    """Raise DataError if a column holds no numbers."""
    types = require("pyarrow").types
    for name in names:
        kind = schema.field(name).type
        number = types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)
        if not (number or types.is_decimal(kind)):
            raise DataError(
                f"{file}: the column {name!r} holds {kind}; expected numbers. Use Table.open, which "
                "takes texts and dates, too, or leave the column out by naming the others in columns."
            )
