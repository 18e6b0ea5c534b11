"""Campaign events: a class for each kind of event, and how events are stored.

Nothing outside this module knows the stored layout. Each kind has a version: a released layout never changes;
a new one gets the next number, and `decode` reads them all. Data without a version number is version 1. An
event that is unknown or unreadable raises a DataError that names it.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, NamedTuple, Self

from cellworth.campaign.account import Terms
from cellworth.campaign.stores.store_protocol import StoredEvent
from cellworth.campaign.wish import Wish
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.table import Column
from cellworth.table.column import LABELLED

Json = dict[str, Any]
Value = float | int | bool | str
"""A cell's value as the user writes it; dates and times as ISO strings."""


class CellName(NamedTuple):
    """A cell, by the user's row and column names."""

    row: str
    column: str


class AskedCell(NamedTuple):
    """A cell that was asked for; see `cellworth.Purchase` for the fields."""

    row: str
    column: str
    price: float
    worth: float
    why: str


class ToldCell(NamedTuple):
    """An answer, and what it cost."""

    row: str
    column: str
    value: Value
    price: float


@dataclass(frozen=True)
class Asked:
    """Cells were asked for.

    Attributes
    ----------
    round : int
        The round (1, 2, ...) whose scores they were chosen by.
    based_on : int
        The number of the last event that had changed the table when the round was completed; 0 for the
        original table.
    until : datetime or None
        When the lease expires; None for never.
    cells : tuple of AskedCell
        Best first; empty if the request had a key and nothing could be bought.
    wish : Wish or None
        What was wished for; None in version 1.
    terms : tuple of Terms or None
        What each cell owes, without ``number``; None if each costs its price and shares nothing.
    """

    kind: ClassVar[str] = "asked"
    round: int
    based_on: int
    until: datetime | None
    cells: tuple[AskedCell, ...]
    wish: Wish | None = None
    terms: tuple[Terms, ...] | None = None

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {
            "round": self.round,
            "based_on": self.based_on,
            "until": None if self.until is None else self.until.isoformat(),
            "cells": _lists(self.cells),
            "wish": None if self.wish is None else self.wish.to_json(),
            "terms": None if self.terms is None else [list(each[:5]) for each in self.terms],
        }

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        until = None if data["until"] is None else datetime.fromisoformat(data["until"])
        cells = tuple(itertools.starmap(AskedCell, data["cells"]))
        wish = terms = None
        if _version(data) > 1 and data["wish"] is not None:
            wish = Wish.from_json(data["wish"])
        if _version(data) > 1 and data["terms"] is not None:
            terms = tuple(itertools.starmap(Terms, data["terms"]))
        if terms is not None and len(terms) != len(cells):
            raise ValueError(f"{len(cells)} cells have {len(terms)} terms")
        return cls(data["round"], data["based_on"], until, cells, wish, terms)

    def owed(self, number: int) -> Iterator[Terms]:
        """Yield the terms of each cell, given the number of the event."""
        if self.terms is None:
            yield from (Terms(cell.price, number=number) for cell in self.cells)
        else:
            yield from (each._replace(number=number) for each in self.terms)


@dataclass(frozen=True)
class Taken:
    """Cells that are out were taken, until a given time, by the event's ``who``."""

    kind: ClassVar[str] = "taken"
    until: datetime
    cells: tuple[CellName, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "until": self.until.isoformat()}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(datetime.fromisoformat(data["until"]), _names(data))


@dataclass(frozen=True)
class GivenBack:
    """Taken cells were given back; others may take them."""

    kind: ClassVar[str] = "given back"
    cells: tuple[CellName, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data))


@dataclass(frozen=True)
class Told:
    """Answers were recorded.

    Attributes
    ----------
    cells : tuple of ToldCell
    stated : bool
        Whether the prices were stated with the answers. If not, they follow from the terms of the asks.
    """

    kind: ClassVar[str] = "told"
    cells: tuple[ToldCell, ...]
    stated: bool

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "stated": self.stated}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote; in version 1 each answer cost the price recorded with it."""
        stated = _version(data) == 1 or bool(data["stated"])
        return cls(tuple(itertools.starmap(ToldCell, data["cells"])), stated)


@dataclass(frozen=True)
class Refused:
    """Cells were refused: they cannot be obtained."""

    kind: ClassVar[str] = "refused"
    cells: tuple[CellName, ...]
    reason: str

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells), "reason": self.reason}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data), data["reason"])


@dataclass(frozen=True)
class Cancelled:
    """Cells that had been asked for were returned to the pool."""

    kind: ClassVar[str] = "cancelled"
    cells: tuple[CellName, ...]

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"cells": _lists(self.cells)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(_names(data))


@dataclass(frozen=True)
class Corrected:
    """A known value was replaced."""

    kind: ClassVar[str] = "corrected"
    row: str
    column: str
    old: Value
    new: Value
    reason: str | None

    def to_json(self) -> Json:
        """Return it as plain data."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(data["row"], data["column"], data["old"], data["new"], data["reason"])


@dataclass(frozen=True)
class Extended:
    """Rows were appended; ``table`` holds them, packed (see `cellworth.campaign.table_bytes`)."""

    kind: ClassVar[str] = "extended"
    rows: tuple[str, ...]
    table: bytes

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"rows": list(self.rows), "table": base64.b64encode(self.table).decode("ascii")}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote."""
        return cls(tuple(data["rows"]), base64.b64decode(data["table"], validate=True))


Content = Asked | Taken | GivenBack | Told | Refused | Cancelled | Corrected | Extended
"""What happened; ``content.kind`` names it."""

_KINDS: dict[str, type[Content]] = {
    each.kind: each for each in (Asked, Taken, GivenBack, Told, Refused, Cancelled, Corrected, Extended)
}
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
    content : Asked, Taken, GivenBack, Told, Refused, Cancelled, Corrected or Extended
        What happened.
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
    """Return how many cells or rows an event concerns; 0 without an event."""
    if event is None:
        return 0
    match event.content:
        case Corrected():
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
    version = _version(stored.data)
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
    if column.kind in LABELLED:
        return float(column.categories.index(str(value)))
    return column.parse(value) if column.kind in ("date", "boolean") else float(value)


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


def _version(data: Json) -> Any:
    return data.get("version", 1)


def _lists(cells: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    return list(map(list, cells))


def _names(data: Json) -> tuple[CellName, ...]:
    return tuple(itertools.starmap(CellName, data["cells"]))
