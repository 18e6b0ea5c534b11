"""Row blocks that stay in cache, and the threads that run over them.

Rows are independent given a small matrix, so one pass over the blocks and one sum of small matrices is an
iteration of every solver here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Array = NDArray[np.floating]

BLOCK_BYTES = 1 << 18  # of one array; a step works on five at a time, and they must fit in a core's L2
MIN_ROWS = 640  # with fewer rows, the calls cost more than the work
MAX_CHUNKS = 32  # partial sums are added in this many groups, whatever the number of threads


class RowBlocks:
    """Runs a function over row blocks of a table, on threads, and adds up what it returns.

    The blocks, and the order in which their results are added, depend on the shape of the table alone:
    one thread and many give the same bits.

    Parameters
    ----------
    shape : (n, d)
    itemsize : int
        Bytes of one value.
    pool : ThreadPoolExecutor or None
        None runs the blocks one after another.
    """

    def __init__(self, shape: tuple[int, int], itemsize: int, pool: ThreadPoolExecutor | None) -> None:
        n, size = shape[0], block_size(shape, itemsize)
        blocks = [slice(i, min(i + size, n)) for i in range(0, n, size)]
        per_chunk = -(-len(blocks) // MAX_CHUNKS)
        self._chunks = [blocks[i : i + per_chunk] for i in range(0, len(blocks), per_chunk)]
        self._pool = pool

    def arrays(self, n_rows: Callable[[int], int], like: Array) -> dict[int, Array]:
        """Return an array of zeros for each block, under the number of the block's first row.

        Its columns are as many as those of ``like``; ``n_rows`` tells its rows from those of the block.
        """
        blocks = [block for chunk in self._chunks for block in chunk]
        shapes = {block.start: (n_rows(block.stop - block.start), like.shape[1]) for block in blocks}
        return {start: np.zeros(shape, dtype=like.dtype) for start, shape in shapes.items()}

    def sum(self, function: Callable[[slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call ``function`` on the slice of each block and return the element-wise sum of its results."""

        def of_chunk(chunk: list[slice]) -> tuple[Any, ...]:
            return _add(function(block) for block in chunk)

        if self._pool is None:
            return _add(map(of_chunk, self._chunks))
        return _add(self._pool.map(of_chunk, self._chunks))


def block_size(shape: tuple[int, int], itemsize: int) -> int:
    """Return how many rows a block of a table of this shape has; a table wider than long is one block."""
    n, d = shape
    return n if n < d else max(d, MIN_ROWS, BLOCK_BYTES // (d * itemsize))


def _add(results: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    total = list(next(results))
    for result in results:
        for i, term in enumerate(result):
            total[i] = total[i] + term
    return tuple(total)


@contextmanager
def workers(n_threads: int) -> Iterator[ThreadPoolExecutor | None]:
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
