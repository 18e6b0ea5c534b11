"""Where a campaign lives: what every store promises, and the rows in which databases keep it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from cellworth.errors import DataError

NAME_LENGTH = (
    100  # characters; with KEY_LENGTH it keeps the entries of PostgreSQL's indexes below their limit
)
KEY_LENGTH = 500
# A message of PostgreSQL carries at most 1 GB, and bytes may travel in it as two letters each.
LARGEST_BLOB = 400_000_000


@dataclass(frozen=True)
class CampaignRecord:
    """What a campaign starts from; written once and never changed.

    Attributes
    ----------
    name : str
        Unique in its store; 1 to 100 characters.
    created : datetime
        With its time zone; kept to the microsecond, and read back in UTC.
    settings : dict
        Plain data (JSON: no NaN, no tuples): prices, strategy, budget, seed, and how the table is to be read.
    table : bytes
        The original table, packed.
    digest : str
        SHA-256 of ``table``, in hexadecimal; checked whenever it is read.
    """

    name: str
    created: datetime
    settings: dict[str, Any]
    table: bytes
    digest: str


@dataclass(frozen=True)
class StoredEvent:
    """One thing that happened, as a store keeps it; written once and never changed.

    A store does not look into ``data``: what it holds is the business of `cellworth.campaign.events`.

    Attributes
    ----------
    number : int
        1, 2, 3, ... without gaps, in the order in which events were appended.
    time : datetime
        With its time zone; kept to the microsecond, and read back in UTC.
    kind : str
    who : str or None
    key : str or None
        Chosen by the writer, unique in the campaign: the same thing said twice is recorded once. At most 500
        characters.
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
    """Keeps campaigns: a record each, an append-only log of events, and a cache that may be lost.

    Every method either does all of its work or none, survives the death of the process at any moment, and
    may be called from several threads and processes at once. What a method has returned from is on the disk.
    A name that is not in the store, a record or event that could not be read back as it is, a full disk and
    a server that stays away are DataErrors.
    """

    def create(self, record: CampaignRecord) -> None:
        """Begin a campaign; ConflictError if its name is taken, DataError if its digest is wrong."""
        ...

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        ...

    def record(self, name: str) -> CampaignRecord:
        """Return what a campaign started from; DataError with the closest name if there is none."""
        ...

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events with numbers above ``after``, in order; the first ``most`` if it is given."""
        ...

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events numbered ``after + 1``, ``after + 2``, ..., all or none.

        ConflictError if ``after`` is not the number of the last event, or if a key is taken: somebody else
        wrote meanwhile, so read on and try again.
        """
        ...

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Keep what was derived from the events up to ``number``; an older cache may be dropped."""
        ...

    def load_cache(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the newest cache made of events up to ``at_most``, with its number, or None."""
        ...

    def close(self) -> None:
        """Let go of files and connections; the store is not used afterwards."""
        ...


def record_row(record: CampaignRecord, token: str) -> dict[str, Any]:
    """Return the row of a record; DataError where it could not be read back as it is. O(size)."""
    where = f"The campaign {record.name!r}"
    if not record.name:
        raise DataError("The name of a campaign must not be empty.")
    _check_digest(record.table, record.digest, record.name)
    check_blob(record.table, f"{where}: its table")
    return {
        "name": _text(record.name, f"{where}: its name", NAME_LENGTH),
        "created": _time_text(record.created, where),
        "settings": _json_text(record.settings, f"{where}: its settings"),
        "digest": record.digest,
        "token": token,
        "content": record.table,
    }


def record_from(row: Mapping[str, Any]) -> CampaignRecord:
    """Return the record of a row; DataError if its table is not the one that was written. O(size)."""
    table = bytes(row["content"])
    _check_digest(table, row["digest"], row["name"])
    created = datetime.fromisoformat(row["created"])
    return CampaignRecord(row["name"], created, json.loads(row["settings"]), table, row["digest"])


def event_rows(name: str, after: int, events: Sequence[StoredEvent], token: str) -> list[dict[str, Any]]:
    """Return the rows of a batch; DataError if it is not numbered ``after + 1``, ... or says a key twice."""
    rows = [_event_row(name, event, token) for event in events]
    numbers = [event.number for event in events]
    expected = list(range(after + 1, after + 1 + len(events)))
    if numbers != expected:
        first, got = next((e, n) for e, n in zip(expected, numbers, strict=True) if e != n)
        raise DataError(f"Campaign {name!r}: expected an event with the number {first}; got {got}.")
    times = Counter(event.key for event in events if event.key is not None)
    twice = next((key for key, count in times.items() if count > 1), None)
    if twice is not None:
        raise DataError(
            f"Campaign {name!r}: the key {twice!r} stands twice in one batch. Send one of the two."
        )
    return rows


def event_from(row: Mapping[str, Any]) -> StoredEvent:
    """Return the event of a row."""
    time = datetime.fromisoformat(row["time"])
    return StoredEvent(row["number"], time, row["kind"], row["who"], row["key"], json.loads(row["data"]))


def is_keepable(text: str) -> bool:
    """Tell whether both databases can keep a text: PostgreSQL knows no NUL, UTF-8 no half surrogate pair."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_blob(blob: bytes, what: str) -> None:
    """Refuse a blob that some store could not give back."""
    if len(blob) > LARGEST_BLOB:
        raise DataError(
            f"{what} must have at most {LARGEST_BLOB / 1e6:g} MB; got {len(blob) / 1e6:.0f} MB. "
            "Leave out rows or columns that are not to be bought."
        )


def _event_row(name: str, event: StoredEvent, token: str) -> dict[str, Any]:
    where = f"StoredEvent {event.number} of campaign {name!r}"
    return {
        "campaign": name,
        "number": event.number,
        "time": _time_text(event.time, where),
        "kind": _text(event.kind, f"{where}: its kind"),
        "who": None if event.who is None else _text(event.who, f"{where}: who"),
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
    """Return a text that both databases keep as it is."""
    if longest is not None and len(value) > longest:
        raise DataError(f"{what} must have at most {longest} characters; got {len(value)}.")
    if not is_keepable(value):
        raise DataError(f"{what} must not hold NUL or half a surrogate pair; got {value!r}.")
    return value


def _time_text(time: datetime, where: str) -> str:
    """Write a time in UTC, to the microsecond, so that texts sort as times do."""
    if time.utcoffset() is None:
        raise DataError(f"{where}: expected a time with its zone, as in datetime.now(UTC); got {time!r}.")
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _json_text(data: dict[str, Any], what: str) -> str:
    """Write plain data; refuse what would come back changed: tuples, keys that are not texts, NaN."""
    remedy = "Use texts, numbers, True, False, None, lists, and dicts with texts as keys; None for NaN."
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be plain data (JSON); got: {error}. {remedy}") from error
    if json.loads(text) != data:
        raise DataError(f"{what} must be plain data (JSON), and would come back changed. {remedy}")
    return text
