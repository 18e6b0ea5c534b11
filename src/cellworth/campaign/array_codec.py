"""Serialize arrays and plain data to bytes that cannot run code when they are read.

The bytes are the length of a JSON text as 8 bytes, the text, and then the arrays back to back. In the text,
``{"array": [type, shape, order]}`` stands for the next array and ``{"dict": {...}}`` for a dict.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.errors import UnusableCacheError

_PLAIN_TYPES = "biuf"
"""Kinds of NumPy types that can be stored: booleans, integers, floats."""
_LENGTH = 8


def pack_plain(about: dict[str, Any], content: dict[str, Any], largest: int) -> bytes:
    """Pack a dict of arrays, numbers, strings, None, and lists and dicts of these into bytes.

    ``about`` is JSON that `unpack_plain` returns as it is, without arrays. Raises UnusableCacheError if the
    content holds anything else, or takes more than ``largest`` bytes. The same content gives the same bytes.
    """
    arrays: list[AnyArray] = []
    text = json.dumps({**about, "content": _to_json(content, arrays)}).encode("ascii")
    size = len(text) + sum(array.nbytes for array in arrays)
    if size > largest:
        raise UnusableCacheError(f"its {size:,} bytes are more than {largest:,}")
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)])


def unpack_plain(packed: memoryview, about: dict[str, Any]) -> dict[str, Any]:
    """Return the content that `pack_plain` packed; UnusableCacheError if damaged or about something else."""
    try:
        start = _LENGTH + int.from_bytes(packed[:_LENGTH], "little")
        head = json.loads(bytes(packed[_LENGTH:start]))
        if any(head[name] != value for name, value in about.items()):
            raise UnusableCacheError("it was written by another version")
        reader = _Reader(packed[start:])
        content = reader.read(head["content"])
    except (ValueError, LookupError, TypeError, RecursionError, MemoryError) as error:
        raise UnusableCacheError(f"it is damaged: {type(error).__name__}") from error
    if not isinstance(content, dict) or len(reader.rest):
        raise UnusableCacheError("it is damaged: its header and content do not match")
    return content


def slim(array: AnyArray) -> AnyArray:
    """Return an array that takes less room: one element if all are equal, and the smallest integer type.

    >>> slim(np.array([7, 7, 7])), slim(np.array([1, 300]))
    (array([7], dtype=uint8), array([  1, 300], dtype=uint16))
    """
    if array.size > 1 and (array == array[0]).all():
        array = array[:1]
    if array.size and array.dtype.kind in "iu" and array.min() >= 0:
        array = array.astype(np.min_scalar_type(array.max()))
    return array


def widened(array: AnyArray, length: int, dtype: type[Any]) -> AnyArray:
    """Undo `slim`; ValueError if that does not give an array (length,) of numbers."""
    if array.ndim != 1 or array.size not in (1, length) or (array.dtype.kind == "f") != (dtype is np.float64):
        raise ValueError(f"expected {length} numbers")
    whole = array if array.size == length else np.broadcast_to(array, (length,))
    return whole.astype(dtype, copy=False)


class _Reader:
    """Reads arrays from the front of a buffer."""

    def __init__(self, rest: memoryview) -> None:
        self.rest = rest

    def read(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.read(each) for each in value]
        if not isinstance(value, dict):
            return value
        ((what, inner),) = value.items()
        if what == "dict":
            return {str(name): self.read(each) for name, each in inner.items()}
        if what != "array":
            raise ValueError(what)
        return self._array(*inner)

    def _array(self, kind: str, shape: list[int], order: Any) -> AnyArray:
        dtype = np.dtype(str(kind))
        whole = all(type(length) is int and length >= 0 for length in shape)
        if dtype.kind not in _PLAIN_TYPES or order not in ("C", "F") or not whole:
            raise ValueError(kind)
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.rest):
            raise ValueError(size)
        array = np.frombuffer(self.rest[:size], dtype=dtype).reshape(shape, order=order).copy(order="K")
        self.rest = self.rest[size:]
        return array


def _to_json(value: Any, arrays: list[AnyArray]) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return _to_json(value.item(), arrays)
    if isinstance(value, np.ndarray) and value.dtype.kind in _PLAIN_TYPES:
        # Keep the memory order too: sums in another order differ in the last bit.
        by_column = value.flags.f_contiguous and not value.flags.c_contiguous
        arrays.append(np.ascontiguousarray(value.T if by_column else value))
        return {"array": [value.dtype.str, list(value.shape), "F" if by_column else "C"]}
    if isinstance(value, list | tuple):
        return [_to_json(each, arrays) for each in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _to_json(each, arrays) for name, each in value.items()}}
    raise UnusableCacheError(f"a {type(value).__name__} cannot be stored")
