"""Blocks of rows, and the threads that run over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.solver.sparse_step import CellBlock

Array = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_BLOCKS = 32
LEAST_CELLS = 1 << 14  # in a block: with fewer, the calls cost more than the work


class Engine(Protocol):
    """Where the blocks of rows are, and where functions run on them.

    The functions are those of `cellworth.complete.solver.sparse_step`: pure, and importable by name.
    """

    def sum(self, function: Callable[..., tuple[Any, ...]], *shared: Any) -> tuple[Any, ...]:
        """Return the element-wise sum over blocks of ``function(block, *shared)``, in a fixed order."""

    def map(self, function: Callable[..., Any], *shared: Any) -> Engine:
        """Return the blocks ``function(block, *shared)``, kept where they were made."""

    def gather(self) -> list[Any]:
        """Return the blocks, in the order of the rows."""


class Blocks(Generic[Item]):
    """Blocks of rows in this process: the `Engine` for one machine.

    Blocks, and the order in which their results are added, do not depend on the number of threads: one
    and many give the same bits.

    Parameters
    ----------
    items : list
    pool : ThreadPoolExecutor or None
        None runs the blocks one after another.
    """

    def __init__(self, items: list[Item], pool: ThreadPoolExecutor | None = None) -> None:
        self.items = items
        self._pool = pool

    def sum(self, function: Callable[..., tuple[Any, ...]], *shared: Any) -> tuple[Any, ...]:
        """Return the element-wise sum over blocks of ``function(block, *shared)``."""
        results = iter(self._run(function, shared))
        total = tuple(next(results))
        for result in results:
            total = tuple(a + b for a, b in zip(total, result, strict=True))
        return total

    def map(self, function: Callable[..., Result], *shared: Any) -> Blocks[Result]:
        """Return the blocks ``function(block, *shared)``."""
        return Blocks(list(self._run(function, shared)), self._pool)

    def gather(self) -> list[Item]:
        """Return the blocks, in the order of the rows."""
        return self.items

    def _run(self, function: Callable[..., Result], shared: tuple[Any, ...]) -> Iterable[Result]:
        def on(item: Item) -> Result:
            return function(item, *shared)

        return map(on, self.items) if self._pool is None else self._pool.map(on, self.items)


def row_blocks(cells: CellBlock, n_columns: int, most: int = MOST_BLOCKS) -> Iterator[slice]:
    """Yield the slices of rows of each block: about as many cells in each, and at least a block.

    A block hands over a (d, r) array. So that handing over stays small against the work on the cells, a
    block has at least twice as many cells as the table has columns.
    """
    n_rows, n_cells = len(cells.starts) - 1, len(cells.values)
    n_blocks = int(np.clip(n_cells // max(2 * n_columns, LEAST_CELLS), 1, most))
    ends = np.searchsorted(cells.starts, np.arange(1, n_blocks) * (n_cells / n_blocks))
    bounds = [0, *np.unique(ends[(ends > 0) & (ends < n_rows)]), n_rows]
    yield from (slice(int(a), int(b)) for a, b in pairwise(bounds))


def take_rows(cells: CellBlock, rows: slice) -> CellBlock:
    """Return the cells of a slice of rows; columns and values share their memory."""
    starts = cells.starts[rows.start : rows.stop + 1]
    part = slice(int(starts[0]), int(starts[-1]))
    return CellBlock(starts - starts[0], cells.columns[part], cells.values[part])
