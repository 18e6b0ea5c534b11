"""What every store promises, and the rows in which databases keep campaigns."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Protocol

from cellworth.campaign.stores.checksums import check_seal, damaged_event, seal_of
from cellworth.errors import ConflictError, DataError
from cellworth.messages import shorten

NAME_LENGTH = 100  # characters; with KEY_LENGTH, this keeps PostgreSQL's index entries below their limit
KEY_LENGTH = 500
WHO_LENGTH = 1000
# A PostgreSQL message holds at most 1 GB, and each byte may be sent as two characters.
LARGEST_BLOB = 400_000_000
_SIMPLE = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign's starting point; written once and never changed.

    Attributes
    ----------
    name : str
        Unique in its store; 1 to 100 characters.
    created : datetime
        With a time zone; stored to the microsecond, and read back in UTC.
    settings : dict
        Plain data (JSON: no NaN, no tuples): prices, strategy, budget, seed, and how to read the table.
    table : bytes
        The original table, packed.
    digest : str
        SHA-256 of ``table``, in hexadecimal; checked on every read.
    """

    name: str
    created: datetime
    settings: dict[str, Any]
    table: bytes
    digest: str


@dataclass(frozen=True)
class StoredEvent:
    """An event as a store keeps it; written once and never changed.

    A store does not look into ``data``; only `cellworth.campaign.event_codec` knows its layout.

    Attributes
    ----------
    number : int
        1, 2, 3, ... without gaps, in the order events were appended.
    time : datetime
        With a time zone; stored to the microsecond, and read back in UTC.
    kind : str
    who : str or None
        At most 1000 characters.
    key : str or None
        Chosen by the writer and unique in the campaign, so that a repeated request is recorded once. At most
        500 characters.
    data : dict
        Plain data (JSON: no NaN, no tuples).
    """

    number: int
    time: datetime
    kind: str
    who: str | None
    key: str | None
    data: dict[str, Any]


class Store(Protocol):
    """Keeps campaigns: for each a record, an append-only log of events, a disposable cache and a snapshot.

    Every method does all of its work or none, even if the process dies at any moment, and may be called from
    several threads and processes at once. Once a method returns, its data is on disk. It is a DataError if
    the name is not in the store, a record or event could not be read back unchanged, a stored one is damaged
    (the error names the event), the disk is full, or the server stays unreachable. Opening a store writes
    nothing.
    """

    def create(self, record: CampaignRecord, events: Iterable[StoredEvent] = ()) -> None:
        """Create a campaign, with its events if it is a copy: all or nothing.

        ``events`` may be iterated again after a lost connection. ConflictError if the name is taken,
        DataError if the digest is wrong or the events are not numbered 1, 2, ...
        """
        ...

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        ...

    def rename(self, name: str, new: str) -> None:
        """Give a campaign a new name; ConflictError if it is taken. Everything else stays as it is."""
        ...

    def delete(self, name: str) -> None:
        """Delete a campaign with all its events, for good."""
        ...

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record; DataError suggesting the closest name if there is none."""
        ...

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order; at most ``most`` if given."""
        ...

    def number_of(self, name: str, key: str) -> int | None:
        """Return the number of the event with a key; None if there is none."""
        ...

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events numbered ``after + 1``, ``after + 2``, ..., all or none.

        ConflictError if ``after`` is not the number of the last event or a key is taken: somebody else wrote
        first, so read the new events and try again.
        """
        ...

    def alone(self, name: str) -> AbstractContextManager[None]:
        """Keep other writers to a campaign waiting while a block runs, which can read and append.

        What it appends is on disk once the block has ended. A block that raises appends nothing. Enter it
        from one thread at a time, and do no long work in it: others wait for a limited time.
        """
        ...

    def turn(self, name: str, patience: float) -> AbstractContextManager[bool]:
        """Let one of several processes or threads work out a campaign's next round, while a block runs.

        The others wait for their turn, each for at most ``patience`` seconds; the context manager's value is
        whether it came. It hinders nobody from reading and writing. It ends with the process, however that
        ends. A store may leave this method out: turns only save time.
        """
        ...

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Save a cache derived from the events up to ``number``; an older cache may be dropped."""
        ...

    def load_cache(self, name: str, at_most: int, first: int | None = None) -> tuple[int, bytes] | None:
        """Return the newest cache derived from events up to ``at_most``, with its number; None if absent.

        If ``first`` is given, only that many of its bytes, without reading the others.
        """
        ...

    def save_snapshot(self, name: str, number: int, blob: bytes) -> None:
        """Save a snapshot of the state after event ``number``; an older snapshot may be dropped."""
        ...

    def load_snapshot(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the newest snapshot of a state up to event ``at_most``, with its number; None if absent."""
        ...

    def close(self) -> None:
        """Close files and connections; do not use the store afterwards."""
        ...


def check_new_name(name: str) -> str:
    """Return a name that every store can keep; DataError otherwise."""
    if not name:
        raise DataError("The name of a campaign must not be empty.")
    return _text(name, f"Campaign {name!r}: its name", NAME_LENGTH)


def name_taken(name: str) -> ConflictError:
    """Return the error about a name that another campaign of the store has."""
    return ConflictError(f"A campaign named {shorten(name)} already exists. Open it, or choose another name.")


def record_row(record: CampaignRecord, token: str) -> dict[str, Any]:
    """Return the row of a record; DataError if it could not be read back unchanged. O(size)."""
    where = f"Campaign {record.name!r}"
    _check_digest(record.table, record.digest, record.name)
    check_blob(record.table, f"{where}: its table")
    row = {
        "name": check_new_name(record.name),
        "created": _time_text(record.created, where),
        "settings": _json_text(record.settings, f"{where}: its settings"),
        "digest": record.digest,
        "token": token,
        "content": record.table,
    }
    return {**row, "seal": seal_of(row)}


def record_from(row: Mapping[str, Any]) -> CampaignRecord:
    """Return the record in a row; DataError if it is not the one that was written. O(size).

    Rows of stores from before there were seals have none.
    """
    if "seal" in row:
        check_seal(row)
    table = bytes(row["content"])
    _check_digest(table, row["digest"], row["name"])
    try:
        created, settings = datetime.fromisoformat(row["created"]), json.loads(row["settings"])
    except (TypeError, ValueError) as error:  # of stores without seals, which would have revealed it
        raise DataError(
            f"The settings of campaign {row['name']!r} are damaged ({error}). Restore the store from "
            "a backup."
        ) from error
    return CampaignRecord(row["name"], created, settings, table, row["digest"])


def event_rows(name: str, after: int, events: Sequence[StoredEvent], token: str) -> list[dict[str, Any]]:
    """Return the rows of a batch; DataError if not numbered ``after + 1``, ... or a key appears twice."""
    rows = [_event_row(name, event, token) for event in events]
    numbers = [event.number for event in events]
    expected = list(range(after + 1, after + 1 + len(events)))
    if numbers != expected:
        first, got = next((e, n) for e, n in zip(expected, numbers, strict=True) if e != n)
        raise DataError(f"Campaign {name!r}: expected event number {first}; got {got}.")
    times = Counter(event.key for event in events if event.key is not None)
    twice = next((key for key, count in times.items() if count > 1), None)
    if twice is not None:
        raise DataError(
            f"Campaign {name!r}: the key {twice!r} appears twice in one batch. Send only one of the two."
        )
    return rows


def event_from(row: Mapping[str, Any]) -> StoredEvent:
    """Return the event in a row; a DataError that names it if the row cannot be read."""
    try:
        time, data = datetime.fromisoformat(row["time"]), json.loads(row["data"])
        if time.tzinfo is None or not isinstance(data, dict):
            raise ValueError("its time or data are not of the kind expected")
    except (TypeError, ValueError) as error:  # of stores without checksums, which would have revealed it
        raise damaged_event(row["campaign"], row["number"], str(error)) from error
    return StoredEvent(row["number"], time, row["kind"], row["who"], row["key"], data)


def is_keepable(text: str) -> bool:
    """Return whether both databases can store a text: PostgreSQL has no NUL, UTF-8 no lone surrogates."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_blob(blob: bytes, what: str) -> None:
    """Raise DataError for a blob too large for some store."""
    if len(blob) > LARGEST_BLOB:
        raise DataError(
            f"{what} must have at most {LARGEST_BLOB / 1e6:g} MB; got {len(blob) / 1e6:.0f} MB. "
            "Leave out rows or columns that you will not buy."
        )


def _event_row(name: str, event: StoredEvent, token: str) -> dict[str, Any]:
    where = f"Event {event.number} of campaign {name!r}"
    return {
        "campaign": name,
        "number": event.number,
        "time": _time_text(event.time, where),
        "kind": _text(event.kind, f"{where}: its kind"),
        "who": None if event.who is None else _text(event.who, f"{where}: who", WHO_LENGTH),
        "key": None if event.key is None else _text(event.key, f"{where}: its key", KEY_LENGTH),
        "data": _json_text(event.data, f"{where}: its data"),
        "token": token,
    }


def _check_digest(table: bytes, digest: str, name: str) -> None:
    found = hashlib.sha256(table).hexdigest()
    if found != digest:
        raise DataError(
            f"The table of campaign {name!r} is damaged: expected the SHA-256 {digest}; got {found}. "
            "Restore the store from a backup."
        )


def _text(value: str, what: str, longest: int | None = None) -> str:
    """Return the text if both databases can store it unchanged; DataError otherwise."""
    if longest is not None and len(value) > longest:
        raise DataError(f"{what} must have at most {longest} characters; got {len(value)}.")
    if not is_keepable(value):
        raise DataError(f"{what} must not contain NUL or half a surrogate pair; got {value!r}.")
    return value


def _time_text(time: datetime, where: str) -> str:
    """Format a time in UTC, to the microsecond, so that strings sort like times."""
    if time.utcoffset() is None:
        raise DataError(f"{where}: expected a time with a time zone, as in datetime.now(UTC); got {time!r}.")
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _json_text(data: dict[str, Any], what: str) -> str:
    """Write plain data as JSON; DataError for what would come back changed: tuples, non-string keys, NaN."""
    remedy = "Use strings, numbers, True, False, None, lists, and dicts with string keys; None for NaN."
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be plain data (JSON); got: {error}. {remedy}") from error
    if not _is_plain(data):
        raise DataError(f"{what} must be plain data (JSON), and would come back changed. {remedy}")
    return text


def _is_plain(value: Any) -> bool:
    """Return whether something that JSON can express comes back as it is: no tuples, and strings as keys."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and _is_plain(list(value.values()))
    if isinstance(value, list):
        types = set(map(type, value))
        if types == {list}:  # such as the cells of an event, a million of them
            types = set(map(type, chain.from_iterable(value)))
        return types <= _SIMPLE or all(map(_is_plain, value))
    return not isinstance(value, tuple)
