"""What an engine is: a function on each row block, and results merged in a fixed order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

R = TypeVar("R")

Function = Callable[..., Any]
Merge = Callable[[Any, Any], Any]
Watch = Callable[[int, int], Any]
"""Called with the number of blocks that a pass has done, and the number of all blocks."""

FAN_IN = 8  # results that are merged into one
PROCESS_BYTES = 250 * 10**6  # that a worker takes before any work
ARRAYS_PER_BLOCK = 32  # arrays of a block that a worker has room for: work, old and new state
BLOCKS_PER_WORKER = 4  # at least, if the table is long, so that workers finish at about the same time
FEWEST_BLOCKS = 8
FEWEST_ROWS = 4096  # of a block, if memory allows: with fewer, the calls cost more than the work


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

    def rows_per_block(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have, given the bytes of one row."""

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block; the results stay where they are made."""

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, merge the results of neighbouring blocks in a fixed tree, and return what is left.

        Results must be small. The order depends on the number of blocks alone, not on that of the workers;
        see `merge_in_tree`.
        """


def merge_in_tree(merge: Merge, results: Iterable[Any]) -> Any:
    """Merge results eight by eight, then what these gave eight by eight, and so on: the tree of every engine.

    Results are taken as they come, and at most one partial result of each level is kept.

    >>> merge_in_tree(lambda a, b: f"({a}{b})", "abcdefghij")
    '((((((((ab)c)d)e)f)g)h)(ij))'
    """
    levels: list[tuple[Any, int]] = []  # of each level, what was merged so far, and of how many

    def put(result: Any, level: int) -> None:
        if level == len(levels):
            levels.append((result, 1))
        else:
            before, count = levels[level]
            levels[level] = (result if count == 0 else merge(before, result), count + 1)
        if levels[level][1] == FAN_IN:
            full = levels[level][0]
            levels[level] = (None, 0)
            put(full, level + 1)

    for result in results:
        put(result, 0)
    level = 0
    while level < len(levels) - 1:
        rest, count = levels[level]
        levels[level] = (None, 0)
        if count:
            put(rest, level + 1)
        level += 1
    return levels[-1][0]


def in_groups(items: Sequence[R]) -> list[Sequence[R]]:
    """Cut a sequence into runs of `FAN_IN`: one level of the tree."""
    return [items[i : i + FAN_IN] for i in range(0, len(items), FAN_IN)]


def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the element-wise sum of two tuples."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def join(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return one tuple after the other: results in the order of the blocks."""
    return a + b


def alone(block: R) -> tuple[R]:
    """Return the thing itself as a tuple: with `join`, all blocks come to one place."""
    return (block,)


def suitable_rows(n_rows: int, row_bytes: int, memory: int | None, workers: int) -> int:
    """Return a number of rows with which every worker has several blocks, and each fits its memory.

    ``memory`` is what one worker may use at a time, in bytes; None: any amount.
    """
    even = -(-n_rows // max(FEWEST_BLOCKS, BLOCKS_PER_WORKER * workers))
    rows = max(FEWEST_ROWS, even)
    if memory is not None:
        rows = min(rows, memory_for_blocks(memory) // (ARRAYS_PER_BLOCK * row_bytes))
    return max(1, min(rows, n_rows))


def memory_for_blocks(memory: int) -> int:
    """Return what a worker's memory leaves for blocks, in bytes."""
    return max(memory - PROCESS_BYTES, memory // 8)


class PassProgress:
    """Counts the finished blocks of one pass, from any thread, and reports them."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch, self._total, self._done = watch, total, 0
        self._lock = Lock()

    def count(self, *_: Any) -> None:
        """Count one more."""
        with self._lock:
            self._done += 1
            self._watch(self._done, self._total)


class Sized:
    """A result that is kept between passes. Its size, for ``sys.getsizeof``, is that of all arrays in it.

    Dask must know it to decide what goes to disk and what moves where.
    """

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_within(vars(self))


def bytes_within(thing: Any) -> int:
    """Return the bytes of the arrays in a thing: its attributes, items, and so on down.

    An array that is there twice counts twice.

    >>> bytes_within({"a": [np.zeros(3), np.zeros(2)]}) - 5 * 8 < 1000
    True
    """
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, dict):
        return sum(map(bytes_within, thing.values()))
    if isinstance(thing, list | tuple):
        return sum(map(bytes_within, thing))
    if hasattr(thing, "__dict__"):
        return bytes_within(vars(thing))
    return sys.getsizeof(thing)
