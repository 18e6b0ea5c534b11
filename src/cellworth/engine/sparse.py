"""Wide, sparse tables over row blocks: the fit of `cellworth.complete.sparse`, the rows elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from cellworth.blocks.protocol import Blocks, Engine, add, join
from cellworth.blocks.threads import ThreadEngine
from cellworth.complete.inputs import check_number
from cellworth.complete.sparse.row_pass import CellBlock, largest_singular_value, row_factors
from cellworth.complete.sparse.trace_norm import Certificate, SparseFit, SparseTable, certify, fit_trace_norm
from cellworth.errors import DataError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CellBlocks:
    """Blocks that lie with an engine, as `cellworth.complete.sparse.row_pass.RowBlocks` has them."""

    engine: Engine
    blocks: Blocks

    def sum(self, function: Callable[..., tuple[Any, ...]], *shared: Any) -> tuple[Any, ...]:
        """Return the element-wise sum over blocks of ``function(block, *shared)``, in a fixed order."""
        total: tuple[Any, ...] = self.engine.reduce(function, add, self.blocks, shared=shared)
        return total

    def map(self, function: Callable[..., Any], *shared: Any) -> CellBlocks:
        """Return the blocks ``function(block, *shared)``, kept where they were made."""
        return CellBlocks(self.engine, self.engine.map(function, self.blocks, shared=shared))

    def gather(self) -> list[Any]:
        """Return the blocks, in the order of the rows."""
        return list(self.engine.reduce(_alone, join, self.blocks))


@dataclass(frozen=True)
class SparseCompleted:
    """A sparse table of row blocks, completed: the estimate of a cell is the product of two factors.

    Attributes
    ----------
    column_factors : (d, r) array
    row_factors : Blocks
        Of (m, r) arrays, one for each block, with the engine.
    fit : SparseFit
    certificate : Certificate
        The objective, how far it can be from the least, and the singular values.
    trace_penalty : float
        As used.
    """

    column_factors: Array
    row_factors: Blocks
    fit: SparseFit
    certificate: Certificate
    trace_penalty: float


def complete_sparse(
    parts: Sequence[Any],
    *,
    trace_penalty: float,
    rank: int = 20,
    relative: bool = True,
    engine: Engine | None = None,
    tol: float = 1e-6,
    max_iter: int = 500,
    random_state: int | np.random.Generator | None = 0,
) -> SparseCompleted:
    """Complete a wide, sparse table that lies in row blocks, by a low-rank table with a trace-norm penalty.

    Parameters
    ----------
    parts : sequence of paths or sparse matrices
        The rows of the table, one block after another, all of d columns: files of ``scipy.sparse.save_npz``,
        or CSR matrices. Stored cells are the observed ones, stored zeros included. Values are taken as they
        are: bring them to mean 0 first.
    trace_penalty : float
        Greater than 0: a fraction of the largest singular value of the table with zeros in its holes.
    rank : int
        The most factors.
    relative : bool
        False takes the penalty as it is.
    engine : Engine, optional
        By default a `ThreadEngine`.
    tol : float
        Ends when the next step promises to lower the objective by less than this fraction of it.

    Notes
    -----
    A step is one pass, O(cells r^2), and one sum of (d, r) and (r, r) arrays. Nothing of the rows is kept
    between passes but their cells.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import random_array
    >>> from cellworth.engine.sparse import complete_sparse
    >>> rng = np.random.default_rng(0)
    >>> parts = [random_array((50, 30), density=0.3, rng=rng, format="csr") for _ in range(2)]
    >>> done = complete_sparse(parts, trace_penalty=0.3, rank=3)
    >>> done.column_factors.shape[0], len(done.row_factors)
    (30, 2)
    """
    check_number("trace_penalty", trace_penalty, above=0)
    check_number("rank", rank, minimum=1)
    engine = ThreadEngine() if engine is None else engine
    sources = Blocks([str(Path(p).absolute()) if isinstance(p, str | PathLike) else p for p in parts])
    cells = CellBlocks(engine, engine.map(_read, sources))
    counts = _counts(cells, engine.reduce(_outline, join, sources))
    table, rng = SparseTable(cells, counts), np.random.default_rng(random_state)
    largest = largest_singular_value(cells, len(counts), rng) if relative else 1.0
    penalty = trace_penalty * (largest or 1.0)
    start = np.zeros((len(counts), 0))
    fit = fit_trace_norm(table, penalty, rank, start, rng, tol=tol, max_iter=max_iter)
    rows = cells.map(row_factors, fit.B, penalty)
    return SparseCompleted(fit.B, rows.blocks, fit, certify(table, fit.B, penalty, rng), penalty)


def _counts(cells: CellBlocks, shapes: tuple[tuple[int, int], ...]) -> Array:
    """Return the observed cells of each column, (d,); refuse blocks that do not belong together."""
    widths = {width for _, width in shapes}
    if len(widths) != 1:
        raise DataError(f"all blocks must have the same columns; got blocks of {sorted(widths)} columns.")
    (counts,) = cells.sum(_cells_of_columns, widths.pop())
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        raise DataError(
            f"{len(empty)} columns have no observed cell, the first is number {empty[0]} (counted from 0); "
            "expected at least one in each. Leave such columns out."
        )
    return np.asarray(counts, dtype=np.float64)


def _matrix(part: Any) -> csr_array:
    return csr_array(load_npz(part) if isinstance(part, str) else part)


def _outline(part: Any) -> tuple[tuple[int, int]]:
    return (tuple(_matrix(part).shape),)


def _read(part: Any) -> CellBlock:
    matrix = _matrix(part)
    return CellBlock(matrix.indptr, matrix.indices, matrix.data.astype(np.float64))


def _cells_of_columns(block: CellBlock, n_columns: int) -> tuple[Any]:
    return (np.bincount(block.columns, minlength=n_columns),)


def _alone(block: Any) -> tuple[Any]:
    return (block,)
