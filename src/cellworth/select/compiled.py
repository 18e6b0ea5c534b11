"""Compile a kernel where the optional package numba is installed, and only when it is first needed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any


@functools.cache
def compiled(kernel: Callable[..., Any], *parts: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel compiled, with the functions that it calls, or as it is if numba is not installed.

    No floating-point operation is reordered: both forms give the same result to the last bit.
    """
    try:
        numba = importlib.import_module("numba")
        extending = importlib.import_module("numba.extending")
    except ImportError:
        return kernel
    for part in parts:
        extending.register_jitable(part)
    return numba.njit(cache=True)(kernel)
