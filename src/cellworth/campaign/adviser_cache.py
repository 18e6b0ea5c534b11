"""Serialize an adviser's state as arrays and JSON, so that loading it cannot run code.

The bytes are a zlib stream (for its checksum) of what `cellworth.campaign.plain_bytes` packs, with the
version of this format and the package versions.
"""

from __future__ import annotations

import zlib
from importlib.metadata import version
from typing import Any

import numpy as np

from cellworth.campaign.plain_bytes import pack_plain, unpack_plain
from cellworth.errors import UnusableCacheError

FORM = 1
LARGEST = 2_000_000_000
"""Size limit of an unpacked cache, in bytes; a larger one is neither written nor read."""


def pack_cache(content: dict[str, Any]) -> bytes:
    """Pack a dict of arrays, numbers, strings, None, and lists and dicts of these into bytes.

    Raises UnusableCacheError if it holds anything else or is too large.
    """
    packed = pack_plain(_about(), content, LARGEST)
    return zlib.compress(packed, level=0)  # level 1 saves a third, but takes longer than writing all of it


def unpack_cache(blob: bytes) -> dict[str, Any]:
    """Undo `pack_cache`; UnusableCacheError if the bytes are damaged, too large or of another version."""
    try:
        stream = zlib.decompressobj()
        packed = memoryview(stream.decompress(blob, LARGEST + 8))
    except (zlib.error, MemoryError) as error:
        raise UnusableCacheError(f"it is damaged: {type(error).__name__}") from error
    if stream.unconsumed_tail or not stream.eof:
        raise UnusableCacheError("it is too large or truncated")
    return unpack_plain(packed, _about())


def _about() -> dict[str, Any]:
    """Return the version of this format, and of the packages that decide whether a fit can be reused."""
    return {"form": FORM, "versions": [version("cellworth"), np.__version__]}
