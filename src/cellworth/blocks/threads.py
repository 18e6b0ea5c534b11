"""Row blocks on the threads of this process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Self

from joblib import effective_n_jobs

from cellworth.blocks.protocol import Blocks, Function, Merge, Tally, Watch, fold, in_groups, rows_per_block
from cellworth.complete.solver.blocks import workers


class ThreadEngine:
    """Runs row blocks on threads, and keeps what lies between passes in this process's memory.

    For tables that fit in memory, some five times over; `DaskEngine` is for larger ones, on one machine too.
    Outside of a ``with`` block, threads are started for each pass anew.

    Parameters
    ----------
    threads : int or None, default=None
        None is one for each core. The result does not depend on it.
    block_rows : int or None, default=None
        Rows of a block; None: chosen by the size of the table.

    Attributes
    ----------
    watch : callable or None
        Called with the number of blocks that a pass has done, and of all, as they are done.

    Examples
    --------
    >>> from cellworth.engine import ThreadEngine
    >>> from cellworth.blocks.protocol import Blocks
    >>> with ThreadEngine(threads=2) as engine:
    ...     squares = engine.map(lambda x: x * x, Blocks([1, 2, 3]))
    ...     engine.reduce(lambda x: x, lambda a, b: a + b, squares)
    14
    """

    def __init__(self, threads: int | None = None, block_rows: int | None = None) -> None:
        self.threads = int(effective_n_jobs(-1 if threads is None else threads))
        self.watch: Watch | None = None
        self._block_rows = block_rows
        self._stack = ExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._open = False

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(workers(self.threads))
        self._open = True
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._open, self._pool = False, None

    def block_rows(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have."""
        return self._block_rows or rows_per_block(n_rows, row_bytes, None, self.threads)

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block."""
        if not self._open:
            with self:
                return self.map(function, *blocks, shared=shared)
        tally = None if self.watch is None else Tally(self.watch, len(blocks[0]))

        def of_block(of_blocks: tuple[Any, ...]) -> Any:
            result = function(*of_blocks, *shared)
            if tally is not None:
                tally.count()
            return result

        items = zip(*(b.items for b in blocks), strict=True)
        return Blocks(list(map(of_block, items) if self._pool is None else self._pool.map(of_block, items)))

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, and merge the results in the order of the blocks."""
        results = self.map(function, *blocks, shared=shared).items
        while len(results) > 1:
            results = [fold(merge, *group) for group in in_groups(results)]
        return results[0]
