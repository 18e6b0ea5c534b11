"""The two parts of the cache that a store keeps for a campaign: that of its rounds and of its assessment.

A store keeps one blob. One with both parts is `MARK`, the length of the assessment as 8 bytes, the
assessment, and the rounds; any other is the rounds alone.
"""

from __future__ import annotations

from cellworth.campaign.stores.store_protocol import Store

MARK = b"cellworth cache\n"
ROUNDS, ASSESSMENT = "rounds", "assessment"
_LENGTH = 8


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
