"""Completed tables written block by block, as Parquet folders or Zarr arrays."""

from __future__ import annotations

import os
import shutil
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, add
from cellworth.engine.filled import Filled
from cellworth.errors import DataError, ParameterError
from cellworth.optional import require

if TYPE_CHECKING:
    from cellworth.engine.outcome import Completed

LEAST_CHUNK = 64  # rows of a chunk of a Zarr array


def check_new(path: Path) -> None:
    """Refuse a place that is taken, or where nothing can be made; workers see the same error later."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"{path}: something is there already; expected a new or empty folder.")
    parent = path.absolute().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise DataError(f"{path}: nothing can be written to {parent}; expected a folder that may be written.")


def write_filled(done: Completed, path: str | PathLike[str], *, variance: bool) -> None:
    """Write all blocks, and then give the result its name; see `Completed.write`."""
    final = Path(fspath(path)).absolute()
    if variance and not hasattr(done.completer, "_fitted"):
        raise ParameterError(f"{type(done.completer).__name__} has no variances; write without variance=True")
    if final.suffix == ".zarr":
        _write_zarr(done, final, of_variance=False)
        if variance:
            _write_zarr(done, final.with_suffix(".variance.zarr"), of_variance=True)
        return
    source = done.source
    if variance:
        taken = set(source.columns) & {f"{name}_variance" for name in source.columns}
        if taken:
            raise DataError(f"the column {min(taken)!r} is in the table; its name is needed for variances.")
    partial = _begin(final)
    numbers = Blocks(range(len(done.blocks)))
    shared = str(partial), source.columns, source.target, source.row_id, variance
    done.reduce(_write_parquet, add, numbers, shared=shared)
    _end(partial, final)


def _begin(final: Path) -> Path:
    """Return the place where the result is made, cleared of what an interrupted run left."""
    check_new(final)
    partial = final.with_name(final.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
    except OSError as error:
        raise DataError(f"{final}: cannot be written: {error}") from None
    return partial


def _end(partial: Path, final: Path) -> None:
    if final.exists():
        final.rmdir()
    os.replace(partial, final)


def _write_parquet(
    filled: Filled,
    number: int,
    folder: str,
    columns: tuple[str, ...],
    target: str | None,
    row_id: str | None,
    variance: bool,
) -> tuple[int]:
    """Write one block as one file, whose name keeps the order of the blocks."""
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
    written = path.with_suffix(f".{os.getpid()}.writing")  # Dask may run a task twice at a time
    parquet.write_table(pyarrow.table(arrays), written)
    os.replace(written, path)
    return (1,)


def _arrow(values: NDArray[Any] | None) -> Any:
    return require("pyarrow").array(values, from_pandas=True)


def _write_zarr(done: Completed, final: Path, *, of_variance: bool) -> None:
    zarr = require("zarr")
    starts = np.cumsum([0, *done.summary.rows])[1:-1]
    chunk = int(np.gcd.reduce(starts)) if len(starts) else done.source.n_rows
    if chunk < min(LEAST_CHUNK, done.source.n_rows):
        raise DataError(
            f"{final}: blocks of unequal lengths have no common chunks of {LEAST_CHUNK} rows or more in a "
            "Zarr array; write a Parquet folder, or choose a block_rows that divides the files' row groups."
        )
    partial = _begin(final)
    shape = done.source.n_rows, len(done.source.columns)
    zarr.create_array(
        str(partial), shape=shape, chunks=(chunk, shape[1]), dtype=done.source.dtype, overwrite=True
    )
    done.reduce(_write_rows, add, shared=(str(partial), of_variance))
    _end(partial, final)


def _write_rows(filled: Filled, path: str, of_variance: bool) -> tuple[int]:
    zarr = require("zarr")
    values = filled.variance if of_variance else filled.completed
    start = filled.part.start
    zarr.open_array(path, mode="r+")[start : start + len(filled.completed)] = values
    return (1,)
