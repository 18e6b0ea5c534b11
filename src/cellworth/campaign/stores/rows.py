"""Foundings and events to the rows of a database, and back, exactly."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cellworth.campaign.stores.store import KEY_LENGTH, NAME_LENGTH, Event, Founding
from cellworth.errors import DataError

# A message of PostgreSQL carries at most 1 GB, and bytes may travel in it as two letters each.
LARGEST_BLOB = 400_000_000


def founding_row(founding: Founding, token: str) -> dict[str, Any]:
    """Return the row of a founding; DataError where it could not be read back as it is. O(size)."""
    where = f"The campaign {founding.name!r}"
    if not founding.name:
        raise DataError("The name of a campaign must not be empty.")
    _check_digest(founding.table, founding.digest, founding.name)
    check_blob(founding.table, f"{where}: its table")
    return {
        "name": _text(founding.name, f"{where}: its name", NAME_LENGTH),
        "created": _time_text(founding.created, where),
        "settings": _json_text(founding.settings, f"{where}: its settings"),
        "digest": founding.digest,
        "token": token,
        "content": founding.table,
    }


def founding_from(row: Mapping[str, Any]) -> Founding:
    """Return the founding of a row; DataError if its table is not the one that was written. O(size)."""
    table = bytes(row["content"])
    _check_digest(table, row["digest"], row["name"])
    created = datetime.fromisoformat(row["created"])
    return Founding(row["name"], created, json.loads(row["settings"]), table, row["digest"])


def event_rows(name: str, after: int, events: Sequence[Event], token: str) -> list[dict[str, Any]]:
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


def event_from(row: Mapping[str, Any]) -> Event:
    """Return the event of a row."""
    time = datetime.fromisoformat(row["time"])
    return Event(row["number"], time, row["kind"], row["who"], row["key"], json.loads(row["data"]))


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


def _event_row(name: str, event: Event, token: str) -> dict[str, Any]:
    where = f"Event {event.number} of campaign {name!r}"
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
