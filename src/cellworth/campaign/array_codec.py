"""Serialize arrays and plain data to bytes that cannot run code when they are read.

The bytes are the length of a JSON text as 8 bytes, the text, and then the arrays back to back. In the text,
``{"dict": {...}}`` stands for a dict, and ``{"array": [type, shape, order]}`` for the next array. Instead of
"array", large arrays may have "bits", if they are boolean and their bits follow, or "filled", if many of
their elements are zero: then the bits that tell which are not come first, and those elements after them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.errors import UnusableCacheError

_PLAIN_TYPES = "biuf"
"""Kinds of NumPy types that can be stored: booleans, integers, floats."""
_LENGTH = 8
_SMALL = 1_000  # elements: fewer are packed as they are
_MANY_ZEROS = 0.25  # of the elements
_ROOM = 4_000_000_000  # bytes that the arrays may take, however few zeros take when packed


def pack_plain(about: dict[str, Any], content: dict[str, Any], largest: int) -> bytes:
    """Pack a dict of arrays, numbers, strings, None, and lists and dicts of these into bytes.

    ``about`` is JSON that `unpack_plain` returns as it is, without arrays. Raises UnusableCacheError if the
    content holds anything else, or takes more than ``largest`` bytes. The same content gives the same bytes.
    """
    return b"".join(plain_pieces(about, content, largest))


def plain_pieces(about: dict[str, Any], content: dict[str, Any], largest: int) -> list[bytes | memoryview]:
    """Return what `pack_plain` joins, without copying large arrays that are packed as they are."""
    arrays: list[AnyArray] = []
    text = json.dumps({**about, "content": _to_json(content, arrays)}).encode("ascii")
    size = len(text) + sum(array.nbytes for array in arrays)
    if size > largest:
        raise UnusableCacheError(f"its {size:,} bytes are more than {largest:,}")
    return [len(text).to_bytes(_LENGTH, "little"), text, *(array.data for array in arrays)]


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
        self._room = _ROOM

    def read(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.read(each) for each in value]
        if not isinstance(value, dict):
            return value
        ((what, inner),) = value.items()
        if what == "dict":
            return {str(name): self.read(each) for name, each in inner.items()}
        kind, shape, order = inner
        dtype = np.dtype(str(kind))
        whole = all(type(length) is int and length >= 0 for length in shape)
        size = math.prod(shape) if whole else 0
        if dtype.kind not in _PLAIN_TYPES or order not in ("C", "F") or not whole:
            raise ValueError(kind)
        self._room -= size * dtype.itemsize
        if self._room < 0:
            raise ValueError(size)
        return self._elements(what, size, dtype).reshape(shape, order=order)

    def _elements(self, what: str, size: int, dtype: np.dtype[Any]) -> AnyArray:
        """Return the elements (size,) of the next array, of its own memory."""
        if what == "array":
            return self._next(size, dtype).copy()
        bits = np.unpackbits(self._next(-(-size // 8), np.dtype(np.uint8)), count=size).view(np.bool_)
        if what == "bits" and dtype.kind == "b":
            return bits
        if what != "filled":
            raise ValueError(what)
        array = np.zeros(size, dtype=dtype)
        array[bits] = self._next(int(bits.sum()), dtype)
        return array

    def _next(self, size: int, dtype: np.dtype[Any]) -> AnyArray:
        end = size * dtype.itemsize
        if end > len(self.rest):
            raise ValueError(size)
        found, self.rest = np.frombuffer(self.rest[:end], dtype=dtype), self.rest[end:]
        return found


def _to_json(value: Any, arrays: list[AnyArray]) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return _to_json(value.item(), arrays)
    if isinstance(value, np.ndarray) and value.dtype.kind in _PLAIN_TYPES:
        # Keep the memory order too: sums in another order differ in the last bit.
        by_column = value.flags.f_contiguous and not value.flags.c_contiguous
        what, *pieces = _packed_array(np.ascontiguousarray(value.T if by_column else value))
        arrays += pieces
        return {what: [value.dtype.str, list(value.shape), "F" if by_column else "C"]}
    if isinstance(value, list | tuple):
        return [_to_json(each, arrays) for each in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _to_json(each, arrays) for name, each in value.items()}}
    raise UnusableCacheError(f"a {type(value).__name__} cannot be stored")


def _packed_array(array: AnyArray) -> Iterator[Any]:
    """Yield how an array is packed, and the arrays to write for it."""
    size, itemsize = array.size, array.dtype.itemsize
    if size >= _SMALL and array.dtype.kind == "b":
        yield from ("bits", np.packbits(array))
        return
    if size >= _SMALL and itemsize in (1, 2, 4, 8):
        flat = array.ravel()
        filled = flat.view(f"u{itemsize}") != 0  # as bits: a negative zero is none
        if np.count_nonzero(filled) <= (1 - _MANY_ZEROS) * size:
            yield from ("filled", np.packbits(filled), flat[filled])
            return
    yield from ("array", array)
