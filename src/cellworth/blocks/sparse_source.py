"""Row blocks of wide, sparse tables: files of ``scipy.sparse.save_npz``, or matrices in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from cellworth.blocks.row_source import Block, Part
from cellworth.errors import DataError, ParameterError


@dataclass(frozen=True)
class SparseBlock:
    """Some rows of a sparse table: a matrix, or the path of a file that holds one."""

    matrix: Any
    start: int
    stop: int

    def read(self) -> Part:
        """Read the rows; ``X`` is a `csr_array`, whose stored cells are the observed ones."""
        return Part(read_matrix(self.matrix), None, None, self.start)


@dataclass(frozen=True)
class SparseParts:
    """A sparse table whose rows lie in parts, one after another; each part is a block."""

    matrices: tuple[Any, ...]
    rows: tuple[int, ...]  # of each part
    columns: tuple[str, ...]
    named: bool = False
    is_sparse: bool = True
    target: None = None
    row_id: None = None

    @property
    def n_rows(self) -> int:
        """Rows of all parts."""
        return sum(self.rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64."""
        return np.dtype(np.float64)

    def blocks(self, most_rows: int) -> list[Block]:
        """Return the parts, however many rows they have."""
        ends = accumulate(self.rows)
        return [
            SparseBlock(matrix, end - n, end)
            for matrix, n, end in zip(self.matrices, self.rows, ends, strict=True)
        ]

    def identity(self) -> dict[str, Any]:
        """Return what tells this table from another."""
        names = [m if isinstance(m, str) else type(m).__name__ for m in self.matrices]
        return {"table": names, "rows": self.n_rows, "columns": list(self.columns)}


def read_matrix(matrix: Any) -> csr_array:
    """Return a sparse matrix, or that of a file, as compressed rows."""
    if not isinstance(matrix, str):
        return csr_array(matrix)
    try:
        return csr_array(load_npz(matrix))
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{matrix}: cannot be read as a sparse matrix: {error}") from None


def is_sparse_table(table: Any) -> bool:
    """Return whether `open_blocks` should take this for a sparse table."""
    if isinstance(table, str | PathLike):
        path = Path(table)
        return path.suffix == ".npz" or (path.is_dir() and path.suffix != ".zarr" and any(path.glob("*.npz")))
    if issparse(table):
        return True
    return isinstance(table, list | tuple) and all(
        issparse(part) or isinstance(part, str | PathLike) for part in table
    )


def sparse_table(table: Any, columns: Sequence[str] | None) -> SparseParts:
    """Return the table of a .npz file, of a folder of them, of a matrix, or of a sequence of these."""
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
