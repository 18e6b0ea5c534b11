"""Tables that are read block by block: their interface, and `open_blocks` to open them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.sparse import issparse, vstack

from cellworth.arrays import AnyArray, FloatArray, IntArray
from cellworth.blocks.cell_columns import CellColumns
from cellworth.blocks.encoded_table import LearnedRows
from cellworth.blocks.engine_protocol import Blocks, Engine, Function, Merge, join
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.cached_property import cached_property
from cellworth.errors import ParameterError
from cellworth.optional_packages import require

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Some rows of a table, in memory.

    Attributes
    ----------
    cells : (m, d) array or CellColumns
        In rows, NaN in the holes, or in columns, as they were read.
    y : (m,) array or None
        Labels, NaN or None where missing; None if the table has no target.
    row_ids : (m,) array or None
        The user's row ids; None if rows are numbered.
    start : int
        Index of the first row in the whole table.
    """

    cells: FloatArray | CellColumns
    y: AnyArray | None
    row_ids: AnyArray | None
    start: int

    @cached_property
    def X(self) -> FloatArray:
        """The cells as an array (m, d), NaN in the holes; made and kept if they were read in columns."""
        return self.cells.rows() if isinstance(self.cells, CellColumns) else self.cells

    @property
    def n_rows(self) -> int:
        """How many rows there are, m."""
        return int(self.cells.shape[0])

    def some(self, rows: Any) -> Part:
        """Return some rows, given by a slice or by their numbers in this part."""
        y, row_ids = (None if a is None else a[rows] for a in (self.y, self.row_ids))
        return Part(self.X[rows], y, row_ids, self.start)


class Block(Protocol):
    """Where some rows of a table are; small enough to send between processes."""

    @property
    def start(self) -> int:
        """Index of the first row in the whole table."""

    @property
    def stop(self) -> int:
        """Index after the last row."""

    def read(self) -> Part:
        """Read the rows."""


class StoredTable(Protocol):
    """A table that can be read in row blocks."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the d feature columns."""

    @property
    def named(self) -> bool:
        """Whether the user gave the names of the columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""

    @property
    def target(self) -> str | None:
        """Name of the label column; None if there is none."""

    @property
    def row_id(self) -> str | None:
        """Name of the row id column; None if rows are numbered."""

    def blocks(self, most_rows: int) -> list[Block]:
        """Split the table into blocks of 1 to ``most_rows`` rows, in order."""

    def identity(self) -> dict[str, Any]:
        """Return plain data that identifies this table, for checkpoints."""


@dataclass(frozen=True)
class Source:
    """A table in row blocks and the engine that processes them, as accepted by a completer's `fit`.

    Create one with `open_blocks`. The table is split into blocks when they are first needed.

    Attributes
    ----------
    table : StoredTable
    engine : Engine
        Must stay open while the table is in use.
    """

    table: StoredTable
    engine: Engine

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.n_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the d feature columns."""
        return self.table.columns

    @property
    def target(self) -> str | None:
        """Name of the label column; None if there is none."""
        return self.table.target

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.table.dtype

    @cached_property
    def blocks(self) -> Blocks:
        """One `Block` per row block, of a size that suits the engine."""
        row_bytes = max(1, len(self.columns)) * self.dtype.itemsize
        return Blocks(self.table.blocks(self.engine.rows_per_block(self.n_rows, row_bytes)))

    def on(self, engine: Engine) -> Source:
        """Return the same table with another engine."""
        return Source(self.table, engine)

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Read each block and call ``function(part, *of_block, *shared)``; results stay with the engine."""
        return self.engine.map(OnPart(function), self.blocks, *blocks, shared=shared)

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, and merge the small results in a fixed order; see `Engine.reduce`."""
        return self.engine.reduce(OnPart(function), merge, self.blocks, *blocks, shared=shared)

    def recall(self, what: str, find: Callable[[Source], T]) -> tuple[T, LearnedRows] | None:
        """Return what a function finds in the files alone, and the cells that were learned since.

        It is found once for a table and its blocks. None if the table is not of files and learned cells.
        """
        # Not of a table with other blocks, which would pass on the question.
        as_files = getattr(type(self.table), "as_files", None)
        found = None if as_files is None else as_files(self.table)
        if found is None:
            return None
        table, learned, memory = found
        ends = tuple(block.stop for block in self.blocks.items)
        key = (what, self.columns, table.classes, ends)  # another class numbers the labels anew
        return memory.recall(key, lambda: find(Source(table, self.engine))), learned

    def sample(self, every: int) -> Part:
        """Collect every k-th row of the table; a pass, unless it was collected before."""
        return self.rows_at(np.arange(0, self.n_rows, every), kept_as=f"every {every}")

    def rows_at(self, numbers: IntArray, *, kept_as: str) -> Part:
        """Collect some rows, given by increasing numbers; a pass, unless they were collected before.

        The first rows that are collected under a name are kept, and others are read anew: so ask for all that
        will be needed at once.
        """
        found = self.recall(kept_as, lambda files: (numbers, _collected(files, numbers)))
        if found is None:
            return _collected(self, numbers)
        (kept, part), learned = found
        if kept is not numbers and not np.isin(numbers, kept).all():
            return _collected(self, numbers)
        return _with_learned(part, kept, learned).some(np.searchsorted(kept, numbers))

    def places_of(self, numbers: IntArray) -> list[int]:
        """Return the places of the blocks that some rows are in, given by increasing numbers."""
        ends = np.array([(block.start, block.stop) for block in self.blocks.items]).reshape(-1, 2)
        first, last = np.searchsorted(numbers, ends).T
        found: list[int] = np.flatnonzero(first < last).tolist()
        return found

    def only(self, places: Sequence[int]) -> Source:
        """Return the table with some of its blocks; row numbers and ``n_rows`` stay those of the whole."""
        given = self.blocks.items
        return replace(self, table=_Recut(self.table, tuple(given[place] for place in places)))

    def with_blocks(self, change: Callable[[Block], Block]) -> Source:
        """Return the table with each block replaced by ``change(block)``, which must have the same rows."""
        return replace(self, table=_Recut(self.table, tuple(change(block) for block in self.blocks.items)))

    def with_ids(self) -> Source:
        """Return the table with blocks that read the ids of their rows, too."""

        def change(block: Any) -> Block:
            return replace(block, with_ids=True)

        return self.with_blocks(change)


@dataclass(frozen=True)
class OnPart:
    """Read a block and call a function on its rows."""

    function: Function

    def __call__(self, block: Block, *others: Any) -> Any:
        """Return the function's result."""
        return self.function(block.read(), *others)


def _collected(source: Source, numbers: IntArray) -> Part:
    parts: tuple[Part, ...] = source.reduce(_some_at, join, shared=(numbers,))
    y, row_ids = (
        None if first is None else np.concatenate([getattr(part, name) for part in parts])
        for name, first in (("y", parts[0].y), ("row_ids", parts[0].row_ids))
    )
    X = [part.X for part in parts]
    return Part(vstack(X, format="csr") if issparse(X[0]) else np.concatenate(X), y, row_ids, 0)


def _some_at(part: Part, numbers: IntArray) -> tuple[Part]:
    first, last = np.searchsorted(numbers, [part.start, part.start + part.n_rows])
    return (part.some(numbers[first:last] - part.start),)


def _with_learned(part: Part, numbers: IntArray, learned: LearnedRows) -> Part:
    """Return rows with these numbers, with the cells that were learned since they were read."""
    here = np.isin(learned.rows, numbers)
    if not here.any():
        return part
    X, rows, new = part.X.copy(), np.searchsorted(numbers, learned.rows[here]), learned.X[here]
    X[rows] = np.where(np.isnan(new), X[rows], new)
    y = part.y
    if y is not None and learned.y is not None:
        y = y.copy()
        y[rows] = np.where(np.isnan(learned.y[here]), y[rows], learned.y[here])
    return replace(part, cells=X, y=y)


@dataclass(frozen=True)
class _Recut:
    """A table with given blocks."""

    table: StoredTable
    given: tuple[Block, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def blocks(self, most_rows: int) -> list[Block]:
        """Return the blocks, however many rows they have."""
        return list(self.given)


def open_blocks(
    table: Any,
    *,
    target: Any = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
    engine: Engine | None = None,
) -> Source:
    """Open a table for reading block by block; only its metadata is read now.

    Parameters
    ----------
    table : path, array, data frame or StoredTable
        A Parquet file or folder (including subfolders, files in name order); a Zarr array (a path that ends
        in .zarr); a Dask or NumPy array; or a Dask data frame. NaN and null are holes. For `SparseCompleter`,
        a sparse table: a .npz file from ``scipy.sparse.save_npz``, a folder or list of them, or a list of
        sparse matrices, each a block of rows; the stored cells are the observed ones.
    target : str or array, optional
        The labels: a column name or, for arrays, an array (n,) or the path of a Zarr array.
    row_id : str, optional
        The column with the row ids, in Parquet files. By default, rows are numbered from 0.
    columns : sequence of str, optional
        Parquet: the columns to complete, by default all but the target and the row id. Arrays: their names.
    engine : Engine, optional
        Where to process the blocks; by default, on threads of this process with a `ThreadEngine`.

    Returns
    -------
    Source

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.blocks import open_blocks
    >>> source = open_blocks(np.array([[1.0, np.nan], [2.0, 4.0]]), columns=["a", "b"])
    >>> source.n_rows, source.columns
    (2, ('a', 'b'))
    """
    return Source(_open(table, target, row_id, columns), ThreadEngine() if engine is None else engine)


def _open(table: Any, target: Any, row_id: str | None, columns: Sequence[str] | None) -> StoredTable:
    from cellworth.blocks.array_source import array_table, is_sparse_table, sparse_table
    from cellworth.blocks.parquet_source import parquet_table

    if hasattr(table, "identity") and hasattr(table, "blocks"):
        stored: StoredTable = table
        return stored
    if is_sparse_table(table):
        if target is not None or row_id is not None:
            raise ParameterError("a sparse table has no target and no row ids; leave them out")
        return sparse_table(table, columns)
    if isinstance(table, str | PathLike):
        path = Path(fspath(table)).absolute()  # workers may run in another folder
        if path.suffix != ".zarr":
            if target is not None and not isinstance(target, str):
                raise ParameterError(
                    f"the target of a Parquet table must be the name of a column; got {type(target).__name__}"
                )
            return parquet_table(path, target, row_id, columns)
        require("zarr")
        table = str(path)
    if row_id is not None:
        raise ParameterError(f"row_id is for Parquet tables; got {row_id!r} with {type(table).__name__}")
    if hasattr(table, "to_dask_array"):
        # This counts the rows of each partition now.
        names = list(columns or (name for name in table.columns if name != target))
        y = None if target is None else table[target].to_dask_array(lengths=True)
        return array_table(table[names].to_dask_array(lengths=True), y, names)
    if isinstance(target, str | PathLike):
        target = str(Path(fspath(target)).absolute())
        if not target.endswith(".zarr"):
            raise ParameterError(
                f"the target of an array must be an array, or a path that ends in .zarr; got {target!r}"
            )
    if not isinstance(table, str) and not hasattr(table, "dask"):
        table = np.asarray(table)
    if target is not None and not isinstance(target, str) and not hasattr(target, "dask"):
        target = np.asarray(target)
    return array_table(table, target, columns)
