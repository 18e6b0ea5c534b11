"""Row blocks on the threads of this process, and blocks of an array that stay in a core's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from cellworth.arrays import FloatArray
from cellworth.blocks.protocol import (
    Blocks,
    Function,
    Merge,
    PassProgress,
    Watch,
    add,
    merge_in_tree,
    suitable_rows,
)

BLOCK_BYTES = 1 << 18  # of one array; a step works on five at a time, and they must fit in a core's L2
MIN_ROWS = 640  # with fewer rows, the calls cost more than the work


class ThreadEngine:
    """Runs row blocks on threads, and keeps what lies between passes in this process's memory.

    For tables that fit in memory about five times over; `DaskEngine` is for larger ones, on one machine too.
    Outside of a ``with`` block, threads are started for each pass.

    Parameters
    ----------
    n_jobs : int or None, default=-1
        Threads; None is one, -1 all cores. The result does not depend on it.
    block_rows : int or None, default=None
        Rows of a block; None: chosen by the size of the table.

    Attributes
    ----------
    block_rows : int or None
        May be changed between tables.
    watch : callable or None
        Called with the number of blocks that a pass has done, and of all, as they are done.

    Examples
    --------
    >>> from cellworth.blocks import ThreadEngine
    >>> from cellworth.blocks.protocol import Blocks
    >>> with ThreadEngine(n_jobs=2) as engine:
    ...     squares = engine.map(lambda x: x * x, Blocks([1, 2, 3]))
    ...     engine.reduce(lambda x: x, lambda a, b: a + b, squares)
    14
    """

    def __init__(self, n_jobs: int | None = -1, block_rows: int | None = None) -> None:
        self.n_threads = int(effective_n_jobs(n_jobs))
        self.block_rows = block_rows
        self.watch: Watch | None = None
        self._stack = ExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._open = False

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(worker_threads(self.n_threads))
        self._open = True
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._open, self._pool = False, None

    def rows_per_block(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have."""
        return self.block_rows or suitable_rows(n_rows, row_bytes, None, self.n_threads)

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block."""
        with self._threads() as pool:
            return Blocks(list(self._results(pool, function, blocks, shared)))

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, and merge the results in the order of the blocks, as they come."""
        with self._threads() as pool:
            return merge_in_tree(merge, self._results(pool, function, blocks, shared))

    @contextmanager
    def _threads(self) -> Iterator[ThreadPoolExecutor | None]:
        if self._open:
            yield self._pool
        else:
            with worker_threads(self.n_threads) as pool:
                yield pool

    def _results(
        self,
        pool: ThreadPoolExecutor | None,
        function: Function,
        blocks: Sequence[Blocks],
        shared: tuple[Any, ...],
    ) -> Iterator[Any]:
        progress = None if self.watch is None else PassProgress(self.watch, len(blocks[0]))

        def of_block(of_blocks: tuple[Any, ...]) -> Any:
            result = function(*of_blocks, *shared)
            if progress is not None:
                progress.count()
            return result

        items = zip(*(b.items for b in blocks), strict=True)
        return map(of_block, items) if pool is None else pool.map(of_block, items)


def add_up(
    function: Callable[[Any], tuple[Any, ...]], blocks: Sequence[Any], engine: ThreadEngine | None = None
) -> tuple[Any, ...]:
    """Return the element-wise sum of a function's results over blocks, always added in the same order.

    ``engine`` None works in the calling thread.
    """
    if engine is None:
        total: tuple[Any, ...] = merge_in_tree(add, map(function, blocks))
    else:
        total = engine.reduce(function, add, Blocks(blocks))
    return total


class RowBlocks:
    """Runs a function over row blocks of an array that stay in cache, and adds up what it returns.

    The blocks, and the order in which their results are added, depend on the shape of the table alone:
    one thread and many give the same bits.

    Parameters
    ----------
    shape : (n, d)
    itemsize : int
        Bytes of one value.
    engine : ThreadEngine or None
        None runs the blocks one after another.
    """

    def __init__(self, shape: tuple[int, int], itemsize: int, engine: ThreadEngine | None) -> None:
        n, size = shape[0], block_size(shape, itemsize)
        self._blocks = [slice(i, min(i + size, n)) for i in range(0, n, size)]
        self._engine = engine

    def arrays(self, n_rows: Callable[[int], int], like: FloatArray) -> dict[int, FloatArray]:
        """Return an array of zeros for each block, under the number of the block's first row.

        It has as many columns as ``like``; ``n_rows`` gives its rows from those of the block.
        """
        shapes = {b.start: (n_rows(b.stop - b.start), like.shape[1]) for b in self._blocks}
        return {start: np.zeros(shape, dtype=like.dtype) for start, shape in shapes.items()}

    def sum(self, function: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call ``function`` on the slice of each block and return the element-wise sum of its results."""
        return add_up(function, self._blocks, self._engine)


def block_size(shape: tuple[int, int], itemsize: int) -> int:
    """Return how many rows a block of a table of this shape has; a table wider than long is one block."""
    n, d = shape
    return n if n < d else max(d, MIN_ROWS, BLOCK_BYTES // (d * itemsize))


@contextmanager
def worker_threads(n_threads: int) -> Iterator[ThreadPoolExecutor | None]:
    """Yield a pool of threads (None for one thread), with BLAS held to one thread each meanwhile."""
    with _blas().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield None
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                yield pool


@cache
def _blas() -> ThreadpoolController:
    """Find the loaded BLAS libraries: once, for it takes milliseconds."""
    return ThreadpoolController()
