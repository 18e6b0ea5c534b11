"""Campaign events: who did what and when, how a kind of event is described, and how events are stored.

The kinds are the subclasses of `Content` in `cellworth.campaign.cell_events` and
`cellworth.campaign.campaign_events`. An event that is unknown or unreadable raises a DataError that names it.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, get_args, get_origin, get_type_hints

from cellworth.campaign.stores.store_protocol import StoredEvent
from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.table import Column
from cellworth.table.column import LABELLED

if TYPE_CHECKING:
    from cellworth.campaign.state import State

Json = dict[str, Any]
ROW_NUMBERS = "row_numbers"
"""The field of an event's data in which it states them."""
Value = float | int | bool | str
"""A cell's value as the user writes it; dates and times as ISO strings."""


class EventLine(NamedTuple):
    """What an event says about a cell, or about an added row, which has no column."""

    row: str
    column: str = ""
    value: Value | None = None
    old: Value | None = None
    """The value that it replaces, or the one known that it contradicts."""
    price: float | None = None
    worth: float | None = None


KINDS: dict[str, type[Content]] = {}
"""Every kind of event, by name."""


class Content:
    """What happened: the base of all kinds of events, which are frozen dataclasses.

    A subclass says everything about its kind: how it is stored, by default each field under its name; what it
    does to the state, and what logs and ledgers show of it. If the state must remember something new, `State`
    gets an attribute and keeps it in its snapshots. A released layout never changes: a new one gets the next
    version number, and ``from_json`` reads them all; data without a number are of version 1.

    Attributes
    ----------
    kind : str
        Its name, in the log and in stores.
    words : str
        The same in everyday words.
    version : int
        The version of the layout it is written in, which is also the newest that can be read.
    changes_table : bool
        Whether it changes the table, so that the next ask is chosen anew.
    whole : bool
        Whether it concerns the campaign as a whole rather than cells or rows.
    """

    kind: ClassVar[str]
    words: ClassVar[str]
    version: ClassVar[int] = 1
    changes_table: ClassVar[bool] = False
    whole: ClassVar[bool] = False
    cells: Any  # of most kinds

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        KINDS[cls.kind] = cls

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {name: _plain(getattr(self, name)) for name in _readers(self.kind)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return what `to_json` wrote, in this version or an earlier one."""
        return cls(**{name: read(data[name]) for name, read in _readers(cls.kind).items()})

    def apply(self, state: State, event: Event) -> None:
        """Change the state by what happened in this event; O(its size), amortised."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many cells or rows it concerns; 1 if the whole campaign."""
        return 1 if self.whole else len(self.cells)

    def lines(self) -> Iterator[EventLine]:
        """Yield what it says about each cell or row; nothing if it concerns the whole campaign."""
        return iter(()) if self.whole else itertools.starmap(EventLine, self.cells)

    def change(self, currency: str | None) -> str | None:
        """Return what it changed in the whole campaign, in words; None if it concerns cells or rows."""
        return None

    def shown(self) -> Json:
        """Return it as the log shows it: plain data, each cell by name."""
        shown = self.to_json()
        if "cells" in shown:
            shown["cells"] = [cell._asdict() for cell in self.cells]
        return shown


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
    row_numbers : dict of str to int
        The numbers of rows that the log names for the first time, if the table is in row blocks.
    """

    number: int
    time: datetime
    who: str | None
    key: str | None
    request: str | None
    content: Content
    row_numbers: dict[str, int] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of event, such as "asked"."""
        return self.content.kind


def size(event: Event | None) -> int:
    """Return how many cells, rows or settings an event concerns; 0 without an event."""
    return 0 if event is None else event.content.size


def encode(event: Event) -> StoredEvent:
    """Return an event as a store keeps it."""
    data = event.content.to_json()
    if event.request is not None:
        data["request"] = event.request
    if event.content.version > 1:
        data["version"] = event.content.version
    if event.row_numbers:
        data[ROW_NUMBERS] = event.row_numbers
    return StoredEvent(event.number, event.time, event.kind, event.who, event.key, data)


def decode(stored: StoredEvent) -> Event:
    """Return the event that `encode` wrote, in this version or an earlier one; O(its size)."""
    kind = KINDS.get(stored.kind)
    if kind is None:
        raise DataError(
            f"event {stored.number} is of the unknown kind {stored.kind!r}: a newer version of cellworth "
            "wrote it. Upgrade with: pip install --upgrade cellworth."
        )
    version = version_of(stored.data)
    if version not in range(1, kind.version + 1):
        raise DataError(
            f"event {stored.number} ({stored.kind}) is of version {version!r}, and this cellworth reads "
            f"versions up to {kind.version}: a newer cellworth wrote it. Upgrade with: "
            "pip install --upgrade cellworth."
        )
    try:
        content = kind.from_json(stored.data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"event {stored.number} ({stored.kind}) is damaged ({type(error).__name__}: {error}). "
            "Restore the store from a backup."
        ) from error
    request, numbers = stored.data.get("request"), stored.data.get(ROW_NUMBERS, {})
    return Event(stored.number, stored.time, stored.who, stored.key, request, content, numbers)


def version_of(data: Json) -> Any:
    """Return the version of a stored layout; data without a number are of version 1."""
    return data.get("version", 1)


@cache
def _readers(kind: str) -> dict[str, Callable[[Any], Any]]:
    """Return how to read each field of a kind of event from its stored form."""
    content: Any = KINDS[kind]
    hints = get_type_hints(content)
    return {each.name: _reader(hints[each.name]) for each in fields(content)}


def _reader(hint: Any) -> Callable[[Any], Any]:
    inner = get_args(hint)
    if len(inner) == 2 and inner[1] is NoneType:
        read = _reader(inner[0])
        return lambda stored: None if stored is None else read(stored)
    if get_origin(hint) is tuple:
        return tuple if inner[0] is str else lambda stored: tuple(itertools.starmap(inner[0], stored))
    if hint is bytes:
        return lambda stored: base64.b64decode(stored, validate=True)
    if hint is float:
        return float
    if hint is datetime:
        return datetime.fromisoformat
    return getattr(hint, "from_json", lambda stored: stored)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [list(each) if isinstance(each, tuple) else each for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat()
    return value.to_json() if hasattr(value, "to_json") else value


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
