"""The cache that a store keeps for a campaign: arrays and JSON, so that loading it cannot run code.

A store keeps one blob, with two parts: the state of the rounds, and the assessment. A blob with both is
`MARK`, the length of the assessment as 8 bytes, the assessment, and the rounds; any other is the rounds
alone. Each part is a zlib stream (for its checksum) of what `cellworth.campaign.array_codec` packs, with the
version of this format and the package versions.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from cellworth import __version__
from cellworth.campaign.array_codec import pack_plain, unpack_plain
from cellworth.campaign.stores.store_protocol import Store
from cellworth.errors import UnusableCacheError

MARK = b"cellworth cache\n"
ROUNDS, ASSESSMENT = "rounds", "assessment"
_LENGTH = 8

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
    return {"form": FORM, "versions": [__version__, np.__version__]}


def load_part(store: Store, name: str, at_most: int, part: str) -> bytes | None:
    """Return a part of the newest cache of the events up to ``at_most``; None if there is none."""
    found = store.load_cache(name, at_most)
    return None if found is None else _parts(found[1]).get(part)


def save_part(store: Store, name: str, number: int, part: str, content: bytes) -> None:
    """Save one part, derived from the events up to ``number``, and keep the other.

    Of two processes that save at once, the one that comes first may lose its part: a cache only saves time.
    A cache of later events is left alone.
    """
    found = store.load_cache(name, number)
    parts = {**({} if found is None else _parts(found[1])), part: content}
    assessment, rounds = parts.get(ASSESSMENT, b""), parts.get(ROUNDS, b"")
    if assessment:
        rounds = MARK + len(assessment).to_bytes(_LENGTH, "little") + assessment + rounds
    store.save_cache(name, number, rounds)


def _parts(blob: bytes) -> dict[str, bytes]:
    if not blob.startswith(MARK):
        return {ROUNDS: blob}
    start = len(MARK) + _LENGTH
    end = start + int.from_bytes(blob[len(MARK) : start], "little")
    found = {ASSESSMENT: blob[start:end], ROUNDS: blob[end:]}
    return {part: content for part, content in found.items() if content}
