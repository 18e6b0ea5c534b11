"""How much memory results take: Dask must know it to decide what goes to disk and what moves where."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class Sized:
    """A result that is kept between passes. Its size, for ``sys.getsizeof``, is that of all arrays in it."""

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
