"""Sums over blocks of rows that do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

B = TypeVar("B")


def add_up(
    function: Callable[[B], tuple[Any, ...]], blocks: Sequence[B], pool: ThreadPoolExecutor | None
) -> tuple[Any, ...]:
    """Return the element-wise sum of a function's results over blocks, always added in the same order."""
    results = iter(map(function, blocks) if pool is None else pool.map(function, blocks))
    total = list(next(results))
    for result in results:
        total = [a + b for a, b in zip(total, result, strict=True)]
    return tuple(total)
