"""The cache that a store keeps for a campaign: arrays and JSON, so that loading it cannot run code.

A store keeps one blob, with two parts: the state of the rounds, and the assessment. A blob with both is
`MARK`, the length of the assessment as 8 bytes, the assessment, and the rounds; any other is the rounds
alone. Each part is `START`, a checksum as 4 bytes, and what `cellworth.campaign.array_codec` packs, with the
version of this format and the package versions.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from cellworth import __version__
from cellworth.campaign.array_codec import plain_pieces, unpack_plain
from cellworth.campaign.stores.store_protocol import Store
from cellworth.errors import UnusableCacheError

MARK = b"cellworth cache\n"
ROUNDS, ASSESSMENT = "rounds", "assessment"
_LENGTH = 8

START = b"cellworth part\n"
_CHECKSUM = 4
FORM = 2
LARGEST = 2_000_000_000
"""Size limit of an unpacked cache, in bytes; a larger one is neither written nor read."""


def pack_cache(content: dict[str, Any]) -> bytes:
    """Pack a dict of arrays, numbers, strings, None, and lists and dicts of these into bytes.

    Raises UnusableCacheError if it holds anything else or is too large.
    """
    pieces = plain_pieces(_about(), content, LARGEST)
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return b"".join([START, checksum.to_bytes(_CHECKSUM, "little"), *pieces])


def unpack_cache(blob: bytes) -> dict[str, Any]:
    """Undo `pack_cache`; UnusableCacheError if the bytes are damaged, too large or of another version."""
    if not blob.startswith(START):
        raise UnusableCacheError("it is damaged, or was written by another version")
    if len(blob) > LARGEST:
        raise UnusableCacheError(f"its {len(blob):,} bytes are more than {LARGEST:,}")
    start = len(START) + _CHECKSUM
    packed = memoryview(blob)[start:]
    if zlib.crc32(packed) != int.from_bytes(blob[len(START) : start], "little"):
        raise UnusableCacheError("it is damaged: its checksum is another")
    return unpack_plain(packed, _about())


def _about() -> dict[str, Any]:
    """Return the version of this format, and of the packages that decide whether a fit can be reused."""
    return {"form": FORM, "versions": [__version__, np.__version__]}


def load_part(store: Store, name: str, at_most: int, part: str) -> bytes | None:
    """Return a part of the newest cache of the events up to ``at_most``; None if there is none."""
    if part == ASSESSMENT:
        return _assessment(store, name, at_most) or None
    found = store.load_cache(name, at_most)
    return None if found is None else _parts(found[1]).get(part)


def save_part(store: Store, name: str, number: int, part: str, content: bytes) -> None:
    """Save one part, derived from the events up to ``number``, and keep the other.

    Of two processes that save at once, the one that comes first may lose its part: a cache only saves time.
    A cache of later events is left alone.
    """
    if part == ROUNDS:  # which is large: the old one is not read
        rounds, assessment = content, _assessment(store, name, number)
    else:
        rounds, assessment = load_part(store, name, number, ROUNDS) or b"", content
    if assessment:
        rounds = b"".join([MARK, len(assessment).to_bytes(_LENGTH, "little"), assessment, rounds])
    store.save_cache(name, number, rounds)


def _assessment(store: Store, name: str, at_most: int) -> bytes:
    """Return the assessment without reading the rounds; empty if there is none."""
    start = len(MARK) + _LENGTH
    found = store.load_cache(name, at_most, first=start)
    if found is None or not found[1].startswith(MARK):
        return b""
    length = int.from_bytes(found[1][len(MARK) :], "little")
    found = store.load_cache(name, at_most, first=start + length)
    return b"" if found is None else _parts(found[1]).get(ASSESSMENT, b"")


def _parts(blob: bytes) -> dict[str, bytes]:
    if not blob.startswith(MARK):
        return {ROUNDS: blob}
    start = len(MARK) + _LENGTH
    end = start + int.from_bytes(blob[len(MARK) : start], "little")
    found = {ASSESSMENT: blob[start:end], ROUNDS: blob[end:]}
    return {part: content for part, content in found.items() if content}
