"""Serialize an adviser's state as arrays and JSON, so that loading it cannot run code.

The bytes are a zlib stream: the length of a JSON text as 8 bytes, the text, and then the arrays back to back.
The text holds the version of this format, the package versions, and the content, in which
``{"array": [type, shape, order]}`` stands for the next array and ``{"dict": {...}}`` for a dict.
"""

from __future__ import annotations

import json
import math
import zlib
from importlib.metadata import version
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.errors import UnusableCacheError

FORM = 1
LARGEST = 2_000_000_000
"""Size limit of an unpacked cache, in bytes; a larger one is neither written nor read."""
WORTH_SHRINKING = 32_000_000
"""In bytes. Compression saves a third but takes a second per 30 MB; above this it would delay the ask."""
_PLAIN_TYPES = "biuf"
"""Kinds of NumPy types that can be stored: booleans, integers, floats."""


def pack_cache(content: dict[str, Any]) -> bytes:
    """Pack a dict of arrays, numbers, strings, None, and lists and dicts of these into bytes.

    Raises UnusableCacheError if it holds anything else or is too large.
    """
    arrays: list[AnyArray] = []
    head = {"form": FORM, "versions": _versions(), "content": _to_json(content, arrays)}
    text = json.dumps(head).encode("ascii")
    size = len(text) + sum(array.nbytes for array in arrays)
    if size > LARGEST:
        raise UnusableCacheError(f"its {size:,} bytes are more than {LARGEST:,}")
    packed = b"".join([len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in arrays)])
    return zlib.compress(packed, level=1 if len(packed) <= WORTH_SHRINKING else 0)


def unpack_cache(blob: bytes) -> dict[str, Any]:
    """Undo `pack_cache`; UnusableCacheError if the bytes are damaged, too large or of another version."""
    try:
        stream = zlib.decompressobj()
        packed = memoryview(stream.decompress(blob, LARGEST + 8))
        if stream.unconsumed_tail or not stream.eof:
            raise UnusableCacheError("it is too large or truncated")
        length = int.from_bytes(packed[:8], "little")
        head = json.loads(bytes(packed[8 : 8 + length]))
        if head["form"] != FORM or head["versions"] != _versions():
            raise UnusableCacheError("it was written by another version")
        reader = _Reader(packed[8 + length :])
        content = reader.read(head["content"])
    except (zlib.error, ValueError, LookupError, TypeError, RecursionError, MemoryError) as error:
        raise UnusableCacheError(f"it is damaged: {type(error).__name__}") from error
    if not isinstance(content, dict) or len(reader.rest):
        raise UnusableCacheError("it is damaged: its header and content do not match")
    return content


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


def _versions() -> list[str]:
    """Return the package versions that decide whether a fitted completer can be reused."""
    return [version("cellworth"), np.__version__]
