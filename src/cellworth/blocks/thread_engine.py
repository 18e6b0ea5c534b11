"""Row blocks on threads of this process, and array blocks that fit in a core's cache.

While blocks, folds or candidates have threads of their own, BLAS is kept to one (`one_core`). The number of
its threads belongs to the process. If each of several threads set it back once it is done, it
would do so while others are at work, and their sums would differ in the last bits from one run to the next.
So whoever comes sets it, since newer versions of OpenBLAS hear the main thread only, and the last to go sets
it back to what the first had found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock
from typing import Any, Self

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from cellworth.blocks.engine_protocol import (
    Blocks,
    Engine,
    Function,
    Merge,
    PassProgress,
    Watch,
    add,
    free_memory,
    in_groups,
    merge_in_tree,
    suitable_rows,
)

BLOCK_BYTES = 1 << 18  # per array; a step uses five arrays at a time, which must fit in a core's L2 cache
MIN_ROWS = 640  # with fewer rows, call overhead exceeds the work
_lock = Lock()
_inside = 0
_found: dict[bool, Any] = {}
"""What the first found, by whether SciPy's own BLAS was there, too."""


class ThreadEngine:
    """Run row blocks on threads, and keep results between passes in this process's memory.

    For tables that fit in memory about five times over; use `DaskEngine` for larger ones, even on one
    machine. Outside a ``with`` block, threads are started for each pass.

    Parameters
    ----------
    n_jobs : int or None, default=-1
        Number of threads; None means 1, -1 all cores. Results do not depend on it.
    block_rows : int or None, default=None
        Rows per block; None chooses them by the size of the table.

    Attributes
    ----------
    block_rows : int or None
        May be changed between tables.
    watch : callable or None
        Called with the number of blocks done in a pass and the total, as blocks finish.

    Examples
    --------
    >>> from cellworth.blocks import ThreadEngine
    >>> from cellworth.blocks.engine_protocol import Blocks
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

    def room(self) -> int | None:
        """Return half of the memory that this machine has left, in bytes; None if it does not tell."""
        free = free_memory()
        return None if free is None else free // 2

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block."""
        with self._threads() as pool:
            return Blocks(list(self._results(pool, function, blocks, shared)))

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, and merge the results in block order as they arrive."""
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

    If ``engine`` is None, runs in the calling thread.
    """
    if engine is None:
        total: tuple[Any, ...] = merge_in_tree(add, map(function, blocks))
    else:
        total = engine.reduce(function, add, Blocks(blocks))
    return total


class RowBlocks:
    """Run a function over cache-sized row blocks of an array, and sum its results.

    The blocks, and the order in which their results are added, depend only on the shape and item size of the
    table, so results are bit-identical for any number of threads.

    Parameters
    ----------
    shape : (n, d)
    itemsize : int
        Bytes per value.
    engine : ThreadEngine or None
        None runs the blocks one at a time.

    Attributes
    ----------
    size : int
        Rows per block; the last one may be shorter.
    """

    def __init__(self, shape: tuple[int, int], itemsize: int, engine: ThreadEngine | None) -> None:
        n, self.size = shape[0], block_size(shape, itemsize)
        self._blocks = [slice(i, min(i + self.size, n)) for i in range(0, n, self.size)]
        self._runs = [slice(run[0].start, run[-1].stop) for run in in_groups(self._blocks)]
        self._engine = engine

    def sum(self, function: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call ``function`` on the slice of each block and return the element-wise sum of its results."""
        return add_up(function, self._blocks, self._engine)

    def sum_runs(self, function: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Do the same for runs of adjacent blocks: one level of the tree in which results are merged.

        A function that adds the results of the blocks of a run in their order gives the result of `sum`.
        """
        return add_up(function, self._runs, self._engine)


def on_threads(engine: Engine | None) -> Engine:
    """Return the engine, by default threads of this process."""
    return ThreadEngine() if engine is None else engine


def block_size(shape: tuple[int, int], itemsize: int) -> int:
    """Return the rows per block of a table of this shape; a table wider than it is long is one block."""
    n, d = shape
    return n if n < d else max(d, MIN_ROWS, BLOCK_BYTES // (d * itemsize))


@contextmanager
def worker_threads(n_threads: int) -> Iterator[ThreadPoolExecutor | None]:
    """Yield a thread pool, or None for one thread, with BLAS limited to one thread meanwhile."""
    with one_blas_thread():
        if n_threads == 1:
            yield None
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                yield pool


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, in all threads of the process, until the last that is in here leaves."""
    _enter()
    try:
        yield
    finally:
        _leave()


@contextmanager
def one_core() -> Iterator[None]:
    """Keep BLAS to one thread, and OpenMP in the calling thread, too: the same sums on any machine."""
    with one_blas_thread(), _libraries(_has_scipy()).limit(limits=1, user_api="openmp"):
        yield


def _enter() -> None:
    global _inside
    with _lock:
        _inside += 1
        libraries = _libraries(_has_scipy())  # asking them is quicker than setting
        if any(each.num_threads != 1 for each in libraries.lib_controllers if each.user_api == "blas"):
            _found.setdefault(_has_scipy(), libraries.limit(limits=1, user_api="blas"))


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if not _inside:
            for earlier in reversed(_found.values()):
                earlier.restore_original_limits()
            _found.clear()


def _has_scipy() -> bool:
    """Return whether SciPy's own BLAS is loaded beside NumPy's."""
    return "scipy.linalg" in sys.modules


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """Find the loaded libraries; cached, since it takes milliseconds."""
    return ThreadpoolController()
