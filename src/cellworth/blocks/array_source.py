"""Row blocks of NumPy, Zarr and Dask arrays and of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from cellworth.arrays import AnyArray
from cellworth.blocks.block_cells import cells_of_array
from cellworth.blocks.row_source import Block, Part
from cellworth.errors import DataError, ParameterError
from cellworth.table.raw_cells import Cells


@dataclass(frozen=True)
class ArrayBlock:
    """Rows of an array and of an array of labels: any slice that converts to a NumPy array."""

    X: Any
    y: Any
    start: int
    stop: int
    dtype: str
    names: tuple[str, ...] = ()

    def cells(self, names: Sequence[str]) -> list[Cells]:
        """Read the cells of some columns; a name that is none of theirs is that of the labels."""
        X = np.asarray(_numpy(self.X))
        place = {name: j for j, name in enumerate(self.names)}
        of_labels = None if self.y is None else cells_of_array(_numpy(self.y))
        return [cells_of_array(X[:, place[n]]) if n in place else _given(of_labels) for n in names]

    def read(self) -> Part:
        """Read the rows."""
        X = np.ascontiguousarray(_numpy(self.X), dtype=self.dtype)
        return Part(X, None if self.y is None else _numpy(self.y), None, self.start)


def _given(cells: Cells | None) -> Cells:
    assert cells is not None, "a table without labels has no such column"
    return cells


def _numpy(rows: Any) -> AnyArray:
    """Return a slice of an array as a NumPy array; a Dask graph runs here, in this thread."""
    if hasattr(rows, "compute"):
        return np.asarray(rows.compute(scheduler="synchronous"))
    return np.asarray(rows.read() if isinstance(rows, ZarrRows) else rows)


@dataclass(frozen=True)
class ZarrRows:
    """Rows of a Zarr array, given the path of its store."""

    path: str
    start: int
    stop: int

    def read(self) -> AnyArray:
        """Read the rows."""
        import zarr

        return np.asarray(zarr.open_array(self.path, mode="r")[self.start : self.stop])


@dataclass(frozen=True)
class ArrayTable:
    """A table in an array (n, d), with labels (n,) in another.

    Attributes
    ----------
    X, y : NumPy or Dask arrays, or paths of Zarr arrays
    chunk : int
        Blocks begin at multiples of this many rows if they are at least that long.
    """

    X: Any
    y: Any
    columns: tuple[str, ...]
    n_rows: int
    dtype: np.dtype[Any]
    target: str | None
    chunk: int = 1
    named: bool = False
    row_id: str | None = None

    def blocks(self, most_rows: int) -> list[Block]:
        """Split the table into blocks of at most ``most_rows`` rows."""
        rows = most_rows - most_rows % self.chunk if most_rows >= self.chunk else most_rows
        starts = range(0, self.n_rows, rows)
        return [self._block(start, min(start + rows, self.n_rows)) for start in starts]

    def _block(self, start: int, stop: int) -> Block:
        X, y = (_rows(a, start, stop) for a in (self.X, self.y))
        return ArrayBlock(X, y, start, stop, self.dtype.str, self.columns)

    def identity(self) -> dict[str, Any]:
        """Return data that identifies this table."""
        path = self.X if isinstance(self.X, str) else type(self.X).__name__
        return {"table": path, "rows": self.n_rows, "columns": list(self.columns), "target": self.target}


def _rows(array: Any, start: int, stop: int) -> Any:
    if isinstance(array, str):
        return ZarrRows(array, start, stop)
    return None if array is None else array[start:stop]


def array_table(X: Any, target: Any, columns: Sequence[str] | None) -> ArrayTable:
    """Open an array, or the path of a Zarr array, as a table; check its shape and type."""
    shape, dtype, chunk = _outline("the table", X)
    if len(shape) != 2:
        raise DataError(f"the table must have rows and columns; got an array of shape {shape}")
    if dtype.kind not in "fiub":
        raise DataError(f"the table must hold numbers, NaN for holes; got an array of {dtype}")
    if columns is not None and len(columns) != shape[1]:
        raise DataError(f"columns must name the {shape[1]} columns of the array; got {len(columns)} names")
    if target is not None:
        of_target, _, _ = _outline("the target", target)
        if of_target != shape[:1]:
            raise DataError(
                f"the target must have one label for each of the {shape[0]} rows; got an array of shape "
                f"{of_target}"
            )
    names = tuple(map(str, range(shape[1]))) if columns is None else tuple(columns)
    kept = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    of_labels = None if target is None else "target"
    return ArrayTable(X, target, names, shape[0], kept, of_labels, chunk, named=columns is not None)


def _outline(what: str, array: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return the shape, dtype and rows per chunk of an array, or of the Zarr array at a path."""
    if isinstance(array, str):
        import zarr

        try:
            opened = zarr.open_array(array, mode="r")
        except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{array}: {what} is not a readable Zarr array: {error}") from None
        return tuple(opened.shape), np.dtype(opened.dtype), int(opened.chunks[0])
    if any(np.isnan(size) for size in array.shape):
        raise DataError(
            f"{what} is a Dask array with an unknown number of rows; call its compute_chunk_sizes() first"
        )
    return tuple(map(int, array.shape)), np.dtype(array.dtype), 1


@dataclass(frozen=True)
class SparseBlock:
    """Some rows of a sparse table: rows of a matrix, or of the one in a file, from ``first`` on."""

    matrix: Any
    start: int
    stop: int
    first: int = 0

    def read(self) -> Part:
        """Read the rows; ``X`` is a `csr_array` whose stored cells are the observed ones."""
        matrix = read_matrix(self.matrix)
        n_rows = self.stop - self.start
        if n_rows < matrix.shape[0]:
            matrix = matrix[self.first : self.first + n_rows]
        return Part(matrix, None, None, self.start)


@dataclass(frozen=True)
class DenseBlock:
    """The rows of a `SparseBlock` as an array with NaN in the holes, for what looks at each hole."""

    block: SparseBlock
    with_ids: bool = False

    @property
    def start(self) -> int:
        """Number of the first row in the whole table."""
        return self.block.start

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.block.stop

    def read(self) -> Part:
        """Read the rows, and their numbers if ids are wanted."""
        cells: Any = self.block.read().X
        X = np.full(cells.shape, np.nan)
        X[np.repeat(np.arange(len(X)), np.diff(cells.indptr)), cells.indices] = cells.data
        ids = np.array([str(row) for row in range(self.start, self.stop)], dtype=object)
        return Part(X, None, ids if self.with_ids else None, self.start)


@dataclass(frozen=True)
class SparseParts:
    """A sparse table split by rows into consecutive parts.

    Each part is a block, or several if its rows are to be filled in one after another: see `cut`.
    """

    matrices: tuple[Any, ...]
    rows: tuple[int, ...]  # of each part
    columns: tuple[str, ...]
    named: bool = False
    is_sparse: bool = True
    target: None = None
    row_id: None = None
    most_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """Total rows of all parts."""
        return sum(self.rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64."""
        return np.dtype(np.float64)

    def cut(self, dense_bytes: int) -> SparseParts:
        """Return the table in blocks whose rows, with all their holes filled, take no more than this."""
        return replace(self, most_rows=max(1, dense_bytes // (8 * max(1, len(self.columns)))))

    def blocks(self, most_rows: int) -> list[Block]:
        """Return the parts, however many rows they have, unless they are to be cut."""
        found: list[Block] = []
        for matrix, n, end in zip(self.matrices, self.rows, accumulate(self.rows), strict=True):
            size = n if self.most_rows is None else self.most_rows
            for first in range(0, n, max(1, size)):
                start = end - n + first
                found.append(SparseBlock(matrix, start, min(start + size, end), first))
        return found

    def identity(self) -> dict[str, Any]:
        """Return data that identifies this table."""
        names = [m if isinstance(m, str) else type(m).__name__ for m in self.matrices]
        return {"table": names, "rows": self.n_rows, "columns": list(self.columns)}


def read_matrix(matrix: Any) -> csr_array:
    """Return a sparse matrix, or the one in a file, as a `csr_array`."""
    if not isinstance(matrix, str):
        return csr_array(matrix)
    try:
        return _loaded(matrix, Path(matrix).stat().st_mtime_ns)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{matrix}: cannot be read as a sparse matrix: {error}") from None


@lru_cache(maxsize=1)
def _loaded(path: str, changed: int) -> csr_array:
    """Return the matrix in a file, which is kept until another is read: blocks are rows of the same one."""
    return csr_array(load_npz(path))


def is_sparse_table(table: Any) -> bool:
    """Return whether `open_blocks` should treat this as a sparse table."""
    if isinstance(table, str | PathLike):
        path = Path(table)
        return path.suffix == ".npz" or (path.is_dir() and path.suffix != ".zarr" and any(path.glob("*.npz")))
    if issparse(table):
        return True
    return isinstance(table, list | tuple) and all(
        issparse(part) or isinstance(part, str | PathLike) for part in table
    )


def sparse_table(table: Any, columns: Sequence[str] | None) -> SparseParts:
    """Open a .npz file, a folder of them, a sparse matrix, or a sequence of files or matrices as a table."""
    if isinstance(table, str | PathLike) and Path(table).is_dir():
        table = sorted(Path(table).glob("*.npz"))
    given = table if isinstance(table, list | tuple) else [table]
    parts = tuple(str(Path(p).absolute()) if isinstance(p, str | PathLike) else p for p in given)
    shapes = [read_matrix(part).shape for part in parts]
    widths = sorted({width for _, width in shapes})
    if len(widths) != 1:
        raise DataError(f"all blocks must have the same columns; got blocks of {widths} columns.")
    if columns is not None and len(columns) != widths[0]:
        raise ParameterError(f"columns must name the {widths[0]} columns; got {len(columns)} names")
    names = tuple(map(str, range(widths[0]))) if columns is None else tuple(columns)
    return SparseParts(parts, tuple(n for n, _ in shapes), names, named=columns is not None)
