"""What an engine is: a function on each row block, and results merged in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from threading import Lock
from typing import Any, Protocol, TypeVar

R = TypeVar("R")

Function = Callable[..., Any]
Merge = Callable[[Any, Any], Any]

FAN_IN = 8  # results that are merged in one go
OF_PROCESS = 250 * 10**6  # bytes that a worker takes before any work
ARRAYS_PER_BLOCK = 32  # a worker has room for so many arrays of a block: work, old and new state
BLOCKS_PER_WORKER = 4  # at least, if the table is long: so that workers end at about the same time
FEWEST_BLOCKS = 8
FEWEST_ROWS = 4096  # of a block, if memory allows: with fewer, the calls cost more than the work


Watch = Callable[[int, int], Any]
"""Called with the number of blocks that a pass has done, and the number of all."""


class Tally:
    """Counts the blocks of one pass, from any thread, and tells whoever watches."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch, self._total, self._done = watch, total, 0
        self._lock = Lock()

    def count(self, *_: Any) -> None:
        """Count one more."""
        with self._lock:
            self._done += 1
            self._watch(self._done, self._total)


@dataclass(frozen=True)
class Blocks:
    """One thing for each row block of a table, wherever it lies: values here, or futures of a cluster.

    Dropping the last reference to it frees what it stands for.
    """

    items: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)


class Engine(Protocol):
    """Where row blocks run.

    Functions are pure: they change none of their arguments, so that a result that was lost can be made again.
    """

    def block_rows(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have, given the bytes of one row."""

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block; the results stay where they are made."""

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, merge the results of neighbouring blocks in a fixed tree, and return what is left.

        Results must be small. The order depends on the number of blocks alone, not on that of workers.
        """


def rows_per_block(n_rows: int, row_bytes: int, memory: int | None, workers: int) -> int:
    """Return a number of rows with which every worker has several blocks, and each fits its memory.

    ``memory`` is what one worker may use at a time, in bytes; None: any amount.
    """
    even = -(-n_rows // max(FEWEST_BLOCKS, BLOCKS_PER_WORKER * workers))
    rows = max(FEWEST_ROWS, even)
    if memory is not None:
        rows = min(rows, room_of(memory) // (ARRAYS_PER_BLOCK * row_bytes))
    return max(1, min(rows, n_rows))


def room_of(memory: int) -> int:
    """Return what a worker's memory leaves for blocks, in bytes."""
    return max(memory - OF_PROCESS, memory // 8)


def fold(merge: Merge, *results: Any) -> Any:
    """Merge results from left to right."""
    return reduce(merge, results)


def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the element-wise sum of two tuples."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def join(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return one tuple after the other: results in the order of the blocks."""
    return a + b


def in_groups(items: Sequence[R]) -> list[Sequence[R]]:
    """Cut a sequence into runs of `FAN_IN`: one level of the tree."""
    return [items[i : i + FAN_IN] for i in range(0, len(items), FAN_IN)]
