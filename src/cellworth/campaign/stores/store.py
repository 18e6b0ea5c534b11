"""Where a campaign lives: what every store promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

NAME_LENGTH = (
    100  # characters; with KEY_LENGTH it keeps the entries of PostgreSQL's indexes below their limit
)
KEY_LENGTH = 500


@dataclass(frozen=True)
class Founding:
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
class Event:
    """One thing that happened; written once and never changed.

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
    """Keeps campaigns: a founding each, an append-only log of events, and a cache that may be lost.

    Every method either does all of its work or none, survives the death of the process at any moment, and
    may be called from several threads and processes at once. What a method has returned from is on the disk.
    A name that is not in the store, a founding or event that could not be read back as it is, a full disk and
    a server that stays away are DataErrors.
    """

    def found(self, founding: Founding) -> None:
        """Begin a campaign; ConflictError if its name is taken, DataError if its digest is wrong."""
        ...

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        ...

    def founding(self, name: str) -> Founding:
        """Return what a campaign started from; DataError with the closest name if there is none."""
        ...

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[Event]:
        """Return the events with numbers above ``after``, in order; the first ``most`` if it is given."""
        ...

    def append(self, name: str, after: int, events: Sequence[Event]) -> None:
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
