"""Campaign events: who did what and when, and how events are stored.

The kinds of events are classes of `cellworth.campaign.event_contents`. Each kind has a version: a released
layout never changes; a new one gets the next number, and `decode` reads them all. Data without a version
number is version 1. An event that is unknown or unreadable raises a DataError that names it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, get_args

from cellworth.campaign.event_contents import (
    Asked,
    AskedCell,
    BudgetChanged,
    Cancelled,
    CellName,
    ClockSet,
    Content,
    Contradicted,
    ContradictingCell,
    Corrected,
    Extended,
    GivenBack,
    PricesChanged,
    Refused,
    Released,
    Stage,
    StageChanged,
    Taken,
    Told,
    ToldCell,
    Value,
    version_of,
)
from cellworth.campaign.stores.store_protocol import StoredEvent
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.table import Column
from cellworth.table.column import LABELLED

__all__ = [
    "Asked",
    "AskedCell",
    "BudgetChanged",
    "Cancelled",
    "CellName",
    "ClockSet",
    "Content",
    "Contradicted",
    "ContradictingCell",
    "Corrected",
    "Event",
    "Extended",
    "GivenBack",
    "PricesChanged",
    "Refused",
    "Released",
    "Stage",
    "StageChanged",
    "Taken",
    "Told",
    "ToldCell",
    "Value",
    "asked_cells",
    "check_optional_text",
    "check_text",
    "decode",
    "encode",
    "fingerprint",
    "size",
    "value_from_json",
    "value_reader",
    "value_to_json",
]

_KINDS: dict[str, type[Content]] = {each.kind: each for each in get_args(Content)}
_NEWEST = dict.fromkeys(_KINDS, 1) | {Asked.kind: 2, Told.kind: 2}
"""The version each kind is written in, which is also the newest that can be read."""


@dataclass(frozen=True)
class Event:
    """One event in a campaign; recorded once and never changed.

    Attributes
    ----------
    number : int
        1, 2, 3, ... without gaps.
    time : datetime
        In UTC.
    who : str or None
        Who did it.
    key : str or None
        The key of the request it answers, if any: repeating the request records nothing new.
    request : str or None
        The fingerprint of that request: a different request with the same key is rejected.
    content : Content
        What happened: an `Asked`, a `Told`, ...
    """

    number: int
    time: datetime
    who: str | None
    key: str | None
    request: str | None
    content: Content

    @property
    def kind(self) -> str:
        """The kind of event, such as "asked"."""
        return self.content.kind


def size(event: Event | None) -> int:
    """Return how many cells, rows or settings an event concerns; 0 without an event."""
    if event is None:
        return 0
    match event.content:
        case Corrected() | BudgetChanged() | PricesChanged() | ClockSet() | StageChanged():
            return 1
        case Extended(rows=rows):
            return len(rows)
        case other:
            return len(other.cells)


def asked_cells(event: Event) -> tuple[AskedCell, ...]:
    """Return the cells that an event asks for; none for other kinds."""
    return event.content.cells if isinstance(event.content, Asked) else ()


def encode(event: Event) -> StoredEvent:
    """Return an event as a store keeps it."""
    data = event.content.to_json()
    if event.request is not None:
        data["request"] = event.request
    if _NEWEST[event.kind] > 1:
        data["version"] = _NEWEST[event.kind]
    return StoredEvent(event.number, event.time, event.kind, event.who, event.key, data)


def decode(stored: StoredEvent) -> Event:
    """Return the event that `encode` wrote, in this version or an earlier one; O(its size)."""
    kind = _KINDS.get(stored.kind)
    if kind is None:
        raise DataError(
            f"event {stored.number} is of the unknown kind {stored.kind!r}: a newer version of cellworth "
            "wrote it. Upgrade with: pip install --upgrade cellworth."
        )
    version = version_of(stored.data)
    if version not in range(1, _NEWEST[stored.kind] + 1):
        raise DataError(
            f"event {stored.number} ({stored.kind}) is of version {version!r}, and this cellworth reads "
            f"versions up to {_NEWEST[stored.kind]}: a newer cellworth wrote it. Upgrade with: "
            "pip install --upgrade cellworth."
        )
    try:
        content = kind.from_json(stored.data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"event {stored.number} ({stored.kind}) is damaged ({type(error).__name__}: {error}). "
            "Restore the store from a backup."
        ) from error
    return Event(stored.number, stored.time, stored.who, stored.key, stored.data.get("request"), content)


def value_to_json(column: Column, number: float) -> Value:
    """Return a known value as the user writes it; dates and times as ISO strings.

    >>> value_to_json(Column("stage", "ordered", categories=("I", "II")), 1.0)
    'II'
    """
    value = column.format(number)
    if value is None:
        raise ValueError("a hole has no value")
    return value.isoformat() if isinstance(value, date) else value


def value_from_json(column: Column, value: Value) -> float:
    """Undo `value_to_json`: return the number stored in the table, without checking it again."""
    return value_reader(column)(value)


def value_reader(column: Column) -> Callable[[Any], float]:
    """Return `value_from_json` for one column."""
    if column.kind in LABELLED:
        return lambda value: float(column.categories.index(str(value)))
    return column.parse if column.kind in ("date", "boolean") else float


def fingerprint(data: object) -> str:
    """Return a short string that differs for different plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_text(what: str, text: object) -> str:
    """Return the text if it is a string that is not blank; ParameterError otherwise."""
    if isinstance(text, str) and text.strip():
        return text
    raise ParameterError(f"{what} must be text and not blank; got {shorten(text)}.")


def check_optional_text(what: str, text: object) -> str | None:
    """Return the text, which may be None but not blank."""
    return None if text is None else check_text(what, text)
