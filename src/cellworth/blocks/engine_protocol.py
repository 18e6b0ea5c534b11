"""The engine protocol: call a function on each row block and merge the results in a fixed order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

R = TypeVar("R")

Function = Callable[..., Any]
Merge = Callable[[Any, Any], Any]
Watch = Callable[[int, int], Any]
"""Called with the number of blocks done in a pass and the total."""

FAN_IN = 8  # results merged into one
PROCESS_BYTES = 250 * 10**6  # memory of an idle worker
ARRAYS_PER_BLOCK = 32  # arrays the size of a block that a worker has room for: work, old and new state
BLOCKS_PER_WORKER = 4  # at least, if the table is long, so that workers finish at about the same time
FEWEST_BLOCKS = 8
FEWEST_ROWS = 4096  # per block, if memory allows: with fewer, call overhead exceeds the work
MOST_BYTES = 16 * 10**6  # per block of a long table, so that the memory of a pass does not grow with it


@dataclass(frozen=True)
class Blocks:
    """One item per row block of a table, wherever it is stored: local values, or futures on a cluster.

    Dropping the last reference frees the stored items.
    """

    items: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)

    def only(self, places: Sequence[int]) -> Blocks:
        """Return the items of some blocks."""
        return Blocks([self.items[place] for place in places])


class Engine(Protocol):
    """Where row blocks run.

    Functions must be pure: they do not modify their arguments, so that a lost result can be recomputed.
    """

    def rows_per_block(self, n_rows: int, row_bytes: int) -> int:
        """Return how many rows a block of a table should have, given the bytes per row."""

    def room(self) -> int | None:
        """Return how many bytes of results can be kept between passes in memory; None if unlimited.

        A completer that would keep more reads the table again in each pass.
        """

    def map(self, function: Function, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Blocks:
        """Call ``function(*of_block, *shared)`` for each block; results stay where they are computed."""

    def reduce(self, function: Function, merge: Merge, *blocks: Blocks, shared: tuple[Any, ...] = ()) -> Any:
        """Do the same, merge the results of adjacent blocks in a fixed tree, and return the final result.

        Results must be small. The order depends only on the number of blocks, not on the number of workers;
        see `merge_in_tree`.
        """


def merge_in_tree(merge: Merge, results: Iterable[Any]) -> Any:
    """Merge results in groups of eight, then the merged results, and so on; every engine uses this tree.

    Results are consumed as they arrive, and at most one partial result per level is kept.

    >>> merge_in_tree(lambda a, b: f"({a}{b})", "abcdefghij")
    '((((((((ab)c)d)e)f)g)h)(ij))'
    """
    levels: list[tuple[Any, int]] = []  # per level: the partial result, and how many results are in it

    def put(result: Any, level: int) -> None:
        while True:
            if level == len(levels):
                levels.append((None, 0))
            before, count = levels[level]
            merged = merge(before, result) if count else result
            if count + 1 < FAN_IN:
                levels[level] = (merged, count + 1)
                return
            levels[level] = (None, 0)
            result, level = merged, level + 1

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
    """Split a sequence into runs of `FAN_IN`: one level of the tree."""
    return [items[i : i + FAN_IN] for i in range(0, len(items), FAN_IN)]


def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the element-wise sum of two tuples."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def join(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Concatenate two tuples: results in block order."""
    return a + b


def alone(block: R) -> tuple[R]:
    """Wrap a block in a tuple: with `join`, this gathers all blocks."""
    return (block,)


def suitable_rows(n_rows: int, row_bytes: int, memory: int | None, workers: int) -> int:
    """Return a block size, in rows, that gives every worker several blocks and fits its memory.

    ``memory`` is what one worker may use at a time, in bytes; None means unlimited.
    """
    even = -(-n_rows // max(FEWEST_BLOCKS, BLOCKS_PER_WORKER * workers))
    rows = max(FEWEST_ROWS, min(even, MOST_BYTES // row_bytes))
    if memory is not None:
        rows = min(rows, memory_for_blocks(memory) // (ARRAYS_PER_BLOCK * row_bytes))
    return max(1, min(rows, n_rows))


def memory_for_blocks(memory: int) -> int:
    """Return how much of a worker's memory is left for blocks, in bytes."""
    return max(memory - PROCESS_BYTES, memory // 8)


def free_memory() -> int | None:
    """Return how many bytes of memory this machine has left, and this process may use; None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
        return min(free, _allowed(free))
    except (OSError, StopIteration, ValueError):
        return None


def _allowed(free: int) -> int:
    """Return how many more bytes this process may use by its limit (``ulimit -v``), if it has one."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return free
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    return max(0, limit - used)


class PassProgress:
    """Count and report the finished blocks of one pass; thread-safe."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch, self._total, self._done = watch, total, 0
        self._lock = Lock()

    def count(self, *_: Any, blocks: int = 1) -> None:
        """Count one more block, or several."""
        with self._lock:
            if self._done < self._total:
                self._done = min(self._total, self._done + blocks)
                self._watch(self._done, self._total)

    def finish(self) -> None:
        """Count the blocks that are left, if any: the pass is over."""
        self.count(blocks=self._total)


class Sized:
    """A result kept between passes, whose ``sys.getsizeof`` includes all arrays in it.

    Dask uses the size to decide what to spill to disk and what to move where.
    """

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_within(vars(self))


def bytes_within(thing: Any) -> int:
    """Return the total bytes of the arrays in an object, including attributes and items, recursively.

    An array that appears twice counts twice.

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
