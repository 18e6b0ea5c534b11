"""Write tables in row blocks: as Parquet folders or Zarr arrays, block by block, or as one file.

One file is what people take away and open elsewhere; it is written a part at a time.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray
from cellworth.blocks.engine_protocol import Blocks, add
from cellworth.blocks.row_source import Part, Source
from cellworth.errors import DataError
from cellworth.optional_packages import require
from cellworth.table import Table
from cellworth.table.excel import Field, write_sheet
from cellworth.table.files import format_of, replace_file
from cellworth.table.write_csv import separator_of
from cellworth.table.write_table import guard_table, out_columns, sheet_rows, table_as_csv

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable

LEAST_CHUNK = 64  # rows per chunk of a Zarr array
PART_CELLS = 1_000_000
"""Cells of a file in memory at a time, about."""
SHEET_ROWS = 1_048_576
"""Rows of a sheet of a workbook, with that of the names."""
MARK = "\ufeff"
"""The byte order mark, without which Excel misreads other characters than ASCII."""


def check_new(path: Path) -> None:
    """Raise DataError if the path exists or is not writable: better now than after the work."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"{path}: already exists; expected a new or empty folder.")
    parent = path.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise DataError(f"{path}: cannot write to {parent}; expected an existing, writable folder.")


@dataclass(frozen=True)
class FilledPart:
    """Some rows of a completed table.

    Attributes
    ----------
    part : Part
        The rows as read.
    completed : (m, d) array
    variance : (m, d) array or None
        Variance of each cell, 0 where observed.
    """

    part: Part
    completed: FloatArray
    variance: FloatArray | None

    @property
    def holes(self) -> BoolArray:
        """(m, d) bool, True where the table has no value."""
        return np.isnan(self.part.X)


def write_blocks(
    source: Source, reduce: Callable[..., Any], path: str | PathLike[str], *, variance: bool
) -> None:
    """Write the completed blocks of a table, then rename the result into place.

    Parameters
    ----------
    source : Source
    reduce : callable
        ``reduce(function, merge, *blocks, shared=())`` calls a function on each `FilledPart`, as
        `Source.reduce` does on each `Part`.
    path : path
        A new Parquet folder, or a Zarr array if it ends in .zarr.
    variance : bool
        Whether to write the variances too: in columns ``<name>_variance``, or in a second array next to the
        first, whose name ends in .variance.zarr.
    """
    final = Path(fspath(path)).absolute()
    if final.suffix == ".zarr":
        _write_zarr(source, reduce, final, of_variance=False)
        if variance:
            _write_zarr(source, reduce, final.with_suffix(".variance.zarr"), of_variance=True)
        return
    if variance:
        taken = set(source.columns) & {f"{name}_variance" for name in source.columns}
        if taken:
            raise DataError(f"the table already has a column {min(taken)!r}, a name needed for variances.")
    partial, final = new_folder(path)
    numbers = Blocks(range(len(source.blocks)))
    shared = str(partial), source.columns, source.target, source.table.row_id, variance
    reduce(_write_parquet, add, numbers, shared=shared)
    whole_folder(partial, final)


def new_folder(path: str | PathLike[str]) -> tuple[Path, Path]:
    """Return an empty folder to write a result in, cleared of an interrupted run, and its final place."""
    final = Path(fspath(path)).absolute()
    check_new(final)
    partial = final.with_name(final.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
    except OSError as error:
        raise DataError(f"{final}: cannot be written: {error}") from None
    return partial, final


def whole_folder(partial: Path, final: Path) -> None:
    """Move a result that is written whole to its final place."""
    if final.exists():
        final.rmdir()
    os.replace(partial, final)


def write_part(table: Table, folder: Path, number: int, dtype: np.dtype[Any]) -> None:
    """Write the rows of one block to a file of their own, named so that files sort in block order."""
    pyarrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    frame = table.to_frame("pyarrow")
    if dtype == np.float32:  # as in the files that were read
        narrow = [
            field.with_type(pyarrow.float32()) if field.type == pyarrow.float64() else field
            for field in frame.schema
        ]
        frame = frame.cast(pyarrow.schema(narrow))
    path = folder / f"part-{number:06d}.parquet"
    written = path.with_suffix(f".{os.getpid()}.writing")  # Dask may run two copies of a task at once
    parquet.write_table(frame, written)
    os.replace(written, path)


def _write_parquet(
    filled: FilledPart,
    number: int,
    folder: str,
    columns: tuple[str, ...],
    target: str | None,
    row_id: str | None,
    variance: bool,
) -> tuple[int]:
    """Write one block to its own file, named so that files sort in block order."""
    pyarrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    arrays: dict[str, Any] = {}
    if row_id is not None:
        arrays[row_id] = _arrow(filled.part.row_ids)
    for j, name in enumerate(columns):
        arrays[name] = np.ascontiguousarray(filled.completed[:, j])
    if variance and filled.variance is not None:
        for j, name in enumerate(columns):
            arrays[f"{name}_variance"] = np.ascontiguousarray(filled.variance[:, j])
    if target is not None:
        arrays[target] = _arrow(filled.part.y)
    path = Path(folder) / f"part-{number:06d}.parquet"
    written = path.with_suffix(f".{os.getpid()}.writing")  # Dask may run two copies of a task at once
    parquet.write_table(pyarrow.table(arrays), written)
    os.replace(written, path)
    return (1,)


def _arrow(values: AnyArray | None) -> Any:
    return require("pyarrow").array(values, from_pandas=True)


def _write_zarr(source: Source, reduce: Callable[..., Any], final: Path, *, of_variance: bool) -> None:
    zarr = require("zarr")
    starts = [block.start for block in source.blocks.items[1:]]
    chunk = int(np.gcd.reduce(starts)) if starts else source.n_rows
    if chunk < min(LEAST_CHUNK, source.n_rows):
        raise DataError(
            f"{final}: blocks of unequal length have no common Zarr chunk of {LEAST_CHUNK} rows or more; "
            "write a Parquet folder, or choose a block_rows that divides the files' row groups."
        )
    partial, final = new_folder(final)
    shape = source.n_rows, len(source.columns)
    zarr.create_array(str(partial), shape=shape, chunks=(chunk, shape[1]), dtype=source.dtype, overwrite=True)
    reduce(_write_rows, add, shared=(str(partial), of_variance))
    whole_folder(partial, final)


def _write_rows(filled: FilledPart, path: str, of_variance: bool) -> tuple[int]:
    zarr = require("zarr")
    values = filled.variance if of_variance else filled.completed
    start = filled.part.start
    zarr.open_array(path, mode="r+")[start : start + len(filled.completed)] = values
    return (1,)


def csv_parts(
    table: BlockTable, *, guarded: bool = False, delimiter: str = ",", decimal: str = "."
) -> Iterator[str]:
    """Yield the table as delimited text, names first; one pass, memory is that of a part."""
    for place, part in enumerate(_parts(table)):
        written = guard_table(part) if guarded else part
        about = written.row_id, written.row_ids, out_columns(written), delimiter, decimal
        yield table_as_csv(*about, names=place == 0)


def write_whole(
    table: BlockTable,
    path: Path,
    *,
    guarded: bool = False,
    delimiter: str | None = None,
    decimal: str = ".",
) -> None:
    """Write the table to one .csv, .tsv, .xlsx or .parquet file, which appears once it is complete.

    One pass, memory is that of a part. With ``guarded``, a text file is for Excel and the like, as that of
    `write_for_spreadsheet`: text that would be a formula is escaped, and a mark precedes other characters
    than ASCII.
    """
    ending = format_of(path, "")
    if ending == "parquet":
        replace_file(path, lambda part: _write_in_groups(table, part))
    elif ending == "xlsx":
        if table.n_rows >= SHEET_ROWS:
            raise DataError(
                f"{path.name}: a sheet of a workbook has {SHEET_ROWS:,} rows, and the table has more. "
                "Write a .csv or .parquet file."
            )
        write_sheet(path, _sheet_rows(table))
    else:
        texts = csv_parts(table, guarded=guarded, delimiter=separator_of(path, delimiter), decimal=decimal)
        packed = path.suffix.lower() == ".gz"
        replace_file(path, lambda part: _write_texts(texts, part, marked=guarded, packed=packed))


def _parts(table: BlockTable) -> Iterator[Table]:
    return table.parts(max(1, PART_CELLS // max(1, len(table.columns))))


def _write_texts(texts: Iterator[str], path: Path, *, marked: bool, packed: bool) -> None:
    plain, opened = True, gzip.open if packed else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        for text in texts:
            plain = plain and text.isascii()
            file.write(text)
    if marked and not plain:
        _put_first(path, MARK, packed=packed)


def _put_first(path: Path, text: str, *, packed: bool) -> None:
    """Put a text before those of a file, which is copied; packed texts can be put one after the other."""
    other = path.with_name(path.name + ".marked")
    start = text.encode("utf-8")
    with path.open("rb") as source, other.open("wb") as out:
        out.write(gzip.compress(start, mtime=0) if packed else start)
        shutil.copyfileobj(source, out)
    other.replace(path)


def _write_in_groups(table: BlockTable, path: Path) -> None:
    parquet = require("pyarrow.parquet")
    parts = (part.to_frame("pyarrow") for part in _parts(table))
    first = next(parts)
    with parquet.ParquetWriter(path, first.schema) as writer:
        for frame in chain([first], parts):
            writer.write_table(frame)


def _sheet_rows(table: BlockTable) -> Iterator[Sequence[Field]]:
    for place, part in enumerate(_parts(table)):
        rows = sheet_rows(part.row_id, part.row_ids, out_columns(part))
        names = next(rows)
        if place == 0:
            yield names
        yield from rows
