"""A SQLite file that is read with Python's own driver, for commands that only look."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from typing import Any, TypeVar

from cellworth.campaign.stores.address import Address
from cellworth.campaign.stores.read_campaigns import (
    NEWEST,
    VERSION_TABLE,
    CampaignReader,
    Fetch,
    check_version,
    not_ours,
    nothing_at,
    stated_version,
)
from cellworth.campaign.stores.sqlite import SqliteDatabase
from cellworth.campaign.stores.store_protocol import CampaignRecord, Store, StoredEvent
from cellworth.errors import DataError

Result = TypeVar("Result")


class SqliteReader:
    """A store in a SQLite file; see `Store` for what it promises.

    It reads without SQLAlchemy, whose import takes longer than a short command. The first call that writes
    opens an `SqlStore`, which does everything from then on. Each reading method opens the file anew.

    Parameters
    ----------
    address : Address
        Of a file.
    patience : float
        Seconds to wait for another writer before raising DataError.
    """

    def __init__(self, address: Address, patience: float) -> None:
        self._address, self._patience = address, patience
        self._database = SqliteDatabase(address.rest, patience)
        self._whole: Store | None = None
        self._read(lambda _: None)

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted by code point."""
        return self._whole.names() if self._whole else self._read(CampaignReader.names)

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record. See `Store.record`."""
        return self._whole.record(name) if self._whole else self._read(lambda reader: reader.record(name))

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order, each checked. See `Store.events`."""
        if self._whole:
            return self._whole.events(name, after, most)
        return self._read(lambda reader: reader.events(name, after, most))

    def number_of(self, name: str, key: str) -> int | None:
        """Return the number of the event with a key; None if there is none. O(log N)."""
        if self._whole:
            return self._whole.number_of(name, key)
        return self._read(lambda reader: reader.number_of(name, key))

    def load_cache(self, name: str, at_most: int, first: int | None = None) -> tuple[int, bytes] | None:
        """Return the saved cache with its number; None if it is absent or newer than ``at_most``."""
        if self._whole:
            return self._whole.load_cache(name, at_most, first)
        return self._read(lambda reader: reader.blob("cellworth_cache", name, at_most, first))

    def load_snapshot(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the saved snapshot with its number; None if it is absent or newer than ``at_most``."""
        if self._whole:
            return self._whole.load_snapshot(name, at_most)
        return self._read(lambda reader: reader.blob("cellworth_snapshot", name, at_most))

    def now(self) -> datetime:
        """Return the time in UTC: a file has no clock of its own."""
        return datetime.now(UTC)

    def create(self, record: CampaignRecord, events: Iterable[StoredEvent] = ()) -> None:
        """Create a campaign; ConflictError if its name is taken. See `Store.create`."""
        self._writing().create(record, events)

    def rename(self, name: str, new: str) -> None:
        """Give a campaign a new name; ConflictError if it is taken. See `Store.rename`."""
        self._writing().rename(name, new)

    def delete(self, name: str) -> None:
        """Delete a campaign with all its events, for good."""
        self._writing().delete(name)

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events, all or none; ConflictError if somebody else wrote first. See `Store.append`."""
        self._writing().append(name, after, events)

    def alone(self, name: str) -> AbstractContextManager[None]:
        """Keep other writers waiting while the block runs. See `Store.alone`."""
        return self._writing().alone(name)

    def turn(self, name: str, patience: float) -> AbstractContextManager[bool]:
        """Take the turn at a campaign's rounds. See `Store.turn`."""
        return self._writing().turn(name, patience)

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Save a cache; only the newest for each campaign is kept. See `Store.save_cache`."""
        self._writing().save_cache(name, number, blob)

    def save_snapshot(self, name: str, number: int, blob: bytes) -> None:
        """Save a snapshot; only the newest for each campaign is kept. See `Store.save_snapshot`."""
        self._writing().save_snapshot(name, number, blob)

    def close(self) -> None:
        """Close files; do not use the store afterwards."""
        self._database.close()
        if self._whole is not None:
            self._whole.close()

    def _writing(self) -> Store:
        if self._whole is None:
            from cellworth.campaign.stores.sql_store import SqlStore

            self._whole = SqlStore(self._address, patience=self._patience)
        return self._whole

    def _read(self, work: Callable[[CampaignReader], Result]) -> Result:
        place = self._database.place
        if not self._database.is_there():  # reading makes nothing
            return work(nothing_at(place))
        try:
            with closing(self._database.connect()) as connection:
                connection.row_factory = sqlite3.Row
                connection.execute("BEGIN")
                fetch = _fetching(connection)
                return work(CampaignReader(fetch, _version(fetch, place), place))
        except (sqlite3.Error, UnicodeError) as error:
            if "decode to UTF-8" in str(error) or isinstance(error, UnicodeError):
                raise DataError(
                    f"The store {place} is damaged: it holds text that is not UTF-8 ({error}). Restore it "
                    "from a backup."
                ) from error
            raise self._database.explain_sqlite(error) from error


def _fetching(connection: sqlite3.Connection) -> Fetch:
    def fetch(query: str, **values: object) -> list[Mapping[str, Any]]:
        return [dict(row) for row in connection.execute(query, values)]

    return fetch


def _version(fetch: Fetch, place: str) -> int:
    if not fetch("SELECT name FROM sqlite_master WHERE type = 'table' AND name = :name", name=VERSION_TABLE):
        raise not_ours(place)
    version = stated_version(fetch, place)
    check_version(version, place, NEWEST)
    return version
