"""BLAS kept to one thread while blocks, folds or candidates have threads of their own.

The number of BLAS threads belongs to the process. If each of several threads set it back once it is done, it
would do so while others are at work, and their sums would differ in the last bits from one run to the next.
So whoever comes sets it, since newer versions of OpenBLAS hear the main thread only, and the last to go sets
it back to what the first had found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_found: dict[bool, Any] = {}
"""What the first found, by whether SciPy's own BLAS was there, too."""


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
