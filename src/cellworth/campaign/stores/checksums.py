"""Checksums that make a stored campaign prove itself: a seal on its record, and a chain along its events.

The seal is the SHA-256 of a campaign's settings, creation time and table digest. The chain starts from the
seal: each event's link is the SHA-256 of the link before it and of the event's own content. So the last link
is a fingerprint of the whole campaign, and changing, removing, inserting or swapping anything changes every
link after it. The name of a campaign is not part of its seal: a copy under another name has the same
fingerprint.

This reveals damage and careless edits. It does not stop somebody with write access who recomputes all links,
unless the fingerprint was noted down elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cellworth.errors import DataError
from cellworth.messages import shorten

Row = Mapping[str, Any]

_SEALED = ("created", "settings", "digest")
_LINKED = ("number", "time", "kind", "who", "key", "data")

HOW_TO_GO_ON = "Run cellworth check to see what is intact, and restore the store from a backup."


class Stated(NamedTuple):
    """What a store states about a campaign: its seal, and the number and link of its last event."""

    seal: str
    number: int
    chain: str


NOTHING_STATED = Stated("", -1, "")
"""For a store without checksums."""


def seal_of(row: Row) -> str:
    """Return the seal of a campaign's row, in hexadecimal; O(size of its settings)."""
    return _digest(row, _SEALED)


def link_after(before: str, row: Row) -> str:
    """Return the link of an event's row, given the link before it; O(size of the event)."""
    return hashlib.sha256(f"{before}{_digest(row, _LINKED)}".encode()).hexdigest()


def chained(rows: Iterable[dict[str, Any]], before: str) -> str:
    """Add its link to each row, as ``chain``, and return the last link."""
    for row in rows:
        before = row["chain"] = link_after(before, row)
    return before


def check_seal(row: Row) -> None:
    """Raise DataError if a campaign's settings or creation time are not those that were written."""
    if seal_of(row) != row["seal"]:
        raise DataError(
            f"The settings of campaign {shorten(row['name'])} are damaged or were changed: their checksum "
            f"is not the one recorded. {HOW_TO_GO_ON}"
        )


def check_links(name: str, rows: Iterable[Row], after: int, before: str) -> tuple[int, str]:
    """Check that rows continue a chain without gaps, and return the last number and link.

    ``after`` and ``before`` are the number and the link of the event before the first row. Raises a DataError
    that names the first event that is missing or damaged.
    """
    for row in rows:
        if row["number"] != after + 1:
            raise missing_event(name, after + 1)
        if link_after(before, row) != row["chain"]:
            raise damaged_event(name, after + 1, "its checksum is not the one recorded")
        after, before = after + 1, row["chain"]
    return after, before


def check_rows(name: str, known: Stated, after: int, rows: Sequence[Row], most: int | None) -> None:
    """Raise DataError for the first event that is missing or damaged; ``rows`` begin at ``after``."""
    if known is NOTHING_STATED:
        for expected, row in enumerate(rows, start=max(after, 1)):
            if row["number"] != expected:
                raise missing_event(name, expected)
        return
    chain = known.seal
    if after > 0:
        if after > known.number:
            return
        if not rows or rows[0]["number"] != after:
            raise missing_event(name, after)
        chain = rows[0]["chain"]
    last, chain = check_links(name, rows[after > 0 :], after, chain)
    if last < known.number and (most is None or last < after + most):
        raise missing_event(name, last + 1)
    if last == known.number and chain != known.chain:
        raise damaged_event(name, last, "another checksum is stated for the last event")


def missing_event(name: str, number: int) -> DataError:
    """Return the error about an event that is not there."""
    return DataError(f"Campaign {shorten(name)} is damaged: event {number} is missing. {HOW_TO_GO_ON}")


def damaged_event(name: str, number: int, why: str) -> DataError:
    """Return the error about an event that cannot be trusted."""
    return DataError(f"Event {number} of campaign {shorten(name)} is damaged: {why}. {HOW_TO_GO_ON}")


def _digest(row: Row, fields: Iterable[str]) -> str:
    """Hash the fields of a row, each with its length, so that no two rows look alike."""
    found = hashlib.sha256()
    for field in fields:
        value = row[field]
        if value is None:
            found.update(b"-")
        else:
            content = (value if isinstance(value, str) else str(value)).encode("utf-8", "surrogatepass")
            found.update(b"%d:" % len(content))
            found.update(content)
    return found.hexdigest()
