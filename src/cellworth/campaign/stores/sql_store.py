"""Campaigns in a SQLite or PostgreSQL database, with transactions that survive a lost connection."""

from __future__ import annotations

import math
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Engine, func, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from cellworth.campaign.stores import schema
from cellworth.campaign.stores.address import PATIENCE, Address, read_address
from cellworth.campaign.stores.schema import CACHE, CAMPAIGN, EVENT
from cellworth.campaign.stores.store_protocol import (
    CampaignRecord,
    StoredEvent,
    check_blob,
    event_from,
    event_rows,
    is_keepable,
    record_from,
    record_row,
)
from cellworth.errors import CellworthError, ConflictError, DataError, ParameterError
from cellworth.messages import did_you_mean, listing, shorten

Result = TypeVar("Result")

_KEYS_AT_ONCE = 500  # in one query; databases accept tens of thousands of values
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two attempts to reach a server

# Engines inherited from the parent process by fork. They must be neither used nor closed here, so keep them
# from being garbage-collected.
_inherited: list[Engine] = []


class Database(Protocol):
    """A kind of database, at one address.

    Attributes
    ----------
    place : str
        The address to show, without a password.
    """

    place: str

    def make_engine(self) -> Engine:
        """Return a new engine with its own connections."""
        ...

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction on a connection; once it commits, its data is on disk."""
        ...

    def is_away(self, error: DBAPIError) -> bool:
        """Return whether the database is unreachable, so that waiting may help."""
        ...

    def explain(self, error: DBAPIError) -> CellworthError:
        """Return an error that says in plain words what went wrong and what to do."""
        ...


class _Held(threading.local):
    """The transaction that a thread holds, if any."""

    connection: Connection | None = None


class Transactions:
    """Runs work on a database, each piece in one transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = database.make_engine()
        self._process = os.getpid()
        self._held = _Held()

    def run(self, work: Callable[[Connection], Result], *, writing: bool, patience: float) -> Result:
        """Run ``work`` and commit; retry for ``patience`` seconds while the server is unreachable.

        ``work`` must be idempotent: if the connection breaks during a commit, there is no way to know whether
        it succeeded. An IntegrityError is passed on; every other database error is explained in plain words.
        """
        deadline = time.monotonic() + patience
        pause = _FIRST_PAUSE
        while True:
            try:
                if self._held.connection is not None:
                    return work(self._held.connection)
                with self._own_engine().begin() as connection:
                    self._database.begin(connection, writing=writing)
                    return work(connection)
            except IntegrityError:
                raise
            except DBAPIError as error:
                late = self._held.connection is not None or time.monotonic() + pause > deadline
                if not self._database.is_away(error) or late:
                    raise self._database.explain(error) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Run all work of this thread in one writing transaction, until the end of the block; no retries."""
        try:
            with self._own_engine().begin() as connection:
                self._database.begin(connection, writing=True)
                self._held.connection = connection
                try:
                    yield
                finally:
                    self._held.connection = None
        except DBAPIError as error:
            raise self._database.explain(error) from error

    def close(self) -> None:
        """Close all connections of this process."""
        self._own_engine().dispose()

    def _own_engine(self) -> Engine:
        """Return this process's engine; one made before a fork belongs to the parent."""
        if self._process != os.getpid():
            _inherited.append(self._engine)
            self._engine, self._process = self._database.make_engine(), os.getpid()
        return self._engine


class SqlStore:
    """A store in a SQLite file or on a PostgreSQL server; see `Store` for what it promises.

    Each method is one transaction. If the connection to a server breaks, it is retried for ``patience``
    seconds. Nothing is written twice: each writing call marks its rows with a unique token and looks for that
    token before it writes again.

    Parameters
    ----------
    url : str or Path
        See `open_store`.
    patience : float, default=30
        Seconds to wait for another writer, or for an unreachable server, before raising DataError.

    Notes
    -----
    ``events`` and ``append`` cost O(k) for k events, plus O(log N) for N in the store. ``create``, ``record``
    and the two cache methods cost O(size of the blob) and hold two or three copies of it in memory.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from datetime import UTC, datetime
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SqlStore(f"sqlite:///{folder.name}/study.db")
    >>> now, table = datetime.now(UTC), b"age,dose"
    >>> store.create(CampaignRecord("trial", now, {"seed": 7}, table, hashlib.sha256(table).hexdigest()))
    >>> store.append("trial", 0, [StoredEvent(1, now, "tell", "Ann", None, {"value": 0.1})])
    >>> [event.data["value"] for event in store.events("trial")]
    [0.1]
    >>> store.close()
    >>> folder.cleanup()
    """

    def __init__(self, url: str | Path, *, patience: float = PATIENCE) -> None:
        if not (math.isfinite(patience) and patience >= 0):
            raise ParameterError(f"patience must be a number of seconds, 0 or more; got {patience!r}.")
        self._database = _database(read_address(url), patience)
        self._transactions = Transactions(self._database)
        self._patience = 0.0  # while opening: an unreachable server is more likely a wrong address
        try:
            self._prepare()
        except BaseException:
            self._transactions.close()
            raise
        self._patience = patience

    def create(self, record: CampaignRecord) -> None:
        """Create a campaign; ConflictError if its name is taken. See `Store.create`."""
        token = uuid.uuid4().hex
        row = record_row(record, token)

        def write(connection: Connection) -> None:
            query = select(CAMPAIGN.c.token).where(CAMPAIGN.c.name == record.name)
            written = connection.execute(query).scalar_one_or_none()
            if written is None:
                connection.execute(insert(CAMPAIGN), row)
            elif written != token:
                raise _name_taken(record.name)

        try:
            self._write(write)
        except IntegrityError as error:  # two at once: the primary key lets only one through
            raise _name_taken(record.name) from error

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted by code point."""
        # Sort here, since a server sorts by its locale.
        return sorted(self._read(_names))

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record. See `Store.record`."""

        def read(connection: Connection) -> CampaignRecord:
            self._check_known(connection, name)
            row = connection.execute(select(CAMPAIGN).where(CAMPAIGN.c.name == name)).mappings().one()
            return record_from(dict(row))

        return self._read(read)

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order. See `Store.events`."""

        def read(connection: Connection) -> list[StoredEvent]:
            self._check_known(connection, name)
            wanted = (EVENT.c.campaign == name) & (EVENT.c.number > after)
            query = select(EVENT).where(wanted).order_by(EVENT.c.number).limit(most)
            rows = connection.execute(query).mappings()
            return [event_from(dict(row)) for row in rows]

        events = self._read(read)
        for expected, event in enumerate(events, start=max(after, 0) + 1):
            if event.number != expected:
                raise DataError(
                    f"Campaign {shorten(name)} in {self._database.place} is damaged: event {expected} is "
                    "missing. Restore the store from a backup."
                )
        return events

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events, all or none; ConflictError if somebody else wrote first. See `Store.append`."""
        token = uuid.uuid4().hex
        rows = event_rows(name, after, events, token)
        keys = [event.key for event in events if event.key is not None]

        def write(connection: Connection) -> None:
            # From here to the end of the transaction, nobody else can write to the campaign. After a lost
            # connection, this also waits until the server has committed or rolled back its transaction.
            self._check_known(connection, name, lock=True)
            mine = EVENT.c.campaign == name
            last = connection.execute(select(func.max(EVENT.c.number)).where(mine)).scalar_one() or 0
            if last == after:
                _check_keys(connection, name, keys)
                if rows:
                    connection.execute(insert(EVENT), rows)
            elif not _is_written(connection, name, after, token):
                raise _not_the_last(name, after, last)

        try:
            self._write(write)
        except IntegrityError as error:  # somebody wrote without the lock; the table's keys caught it
            raise ConflictError(
                f"Somebody else wrote to campaign {shorten(name)} first. Read the new events and try again."
            ) from error

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Keep other writers waiting while the block runs. See `Store.alone`."""
        with self._transactions.hold():
            self._write(lambda connection: self._check_known(connection, name, lock=True))
            yield

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Save a cache; only the newest for each campaign is kept. See `Store.save_cache`."""
        check_blob(blob, f"The cache of campaign {shorten(name)}")
        statement = text(
            "INSERT INTO cellworth_cache (campaign, number, content) VALUES (:campaign, :number, :content)"
            " ON CONFLICT (campaign) DO UPDATE SET number = excluded.number, content = excluded.content"
            " WHERE cellworth_cache.number <= excluded.number"
        )

        def write(connection: Connection) -> None:
            self._check_known(connection, name)
            connection.execute(statement, {"campaign": name, "number": number, "content": blob})

        self._write(write)

    def load_cache(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the saved cache with its number; None if it is absent or newer than ``at_most``."""

        def read(connection: Connection) -> tuple[int, bytes] | None:
            self._check_known(connection, name)
            wanted = (CACHE.c.campaign == name) & (CACHE.c.number <= at_most)
            row = connection.execute(select(CACHE.c.number, CACHE.c.content).where(wanted)).one_or_none()
            return None if row is None else (int(row.number), bytes(row.content))

        return self._read(read)

    def close(self) -> None:
        """Close files and connections; do not use the store afterwards."""
        self._transactions.close()

    def _prepare(self) -> None:
        steps, place = schema.STEPS, self._database.place
        version = self._read(schema.version_of)
        schema.check_version(version, place, len(steps))
        if version < len(steps):
            self._write(lambda connection: schema.upgrade(connection, place, steps))

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        return self._transactions.run(work, writing=False, patience=self._patience)

    def _write(self, work: Callable[[Connection], None]) -> None:
        self._transactions.run(work, writing=True, patience=self._patience)

    def _check_known(self, connection: Connection, name: str, *, lock: bool = False) -> None:
        """Raise DataError if the campaign does not exist; with ``lock``, block other writers to it."""
        query = select(CAMPAIGN.c.name).where(CAMPAIGN.c.name == name)
        if lock:  # not emitted for SQLite, where a writer is alone anyway
            query = query.with_for_update(key_share=True)
        if is_keepable(name) and connection.execute(query).one_or_none() is not None:
            return
        known = sorted(_names(connection))
        hint = did_you_mean(name, known)
        there = f"The campaigns are {listing(known, most=10)}." if known else "It has no campaigns yet."
        raise DataError(f"There is no campaign {shorten(name)} in {self._database.place}.{hint} {there}")


def _database(address: Address, patience: float) -> Database:
    if address.kind == "sqlite":
        from cellworth.campaign.stores.sqlite import SqliteDatabase

        return SqliteDatabase(address.rest, patience)
    from cellworth.campaign.stores.postgresql import PostgresDatabase

    return PostgresDatabase(address.rest, patience)


def _names(connection: Connection) -> list[str]:
    return list(connection.execute(select(CAMPAIGN.c.name)).scalars())


def _is_written(connection: Connection, name: str, after: int, token: str) -> bool:
    """Return whether an earlier attempt of the same call was committed; its events are all there or none."""
    first = (EVENT.c.campaign == name) & (EVENT.c.number == after + 1)
    return connection.execute(select(EVENT.c.token).where(first)).scalar_one_or_none() == token


def _check_keys(connection: Connection, name: str, keys: Sequence[str]) -> None:
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        some = keys[start : start + _KEYS_AT_ONCE]
        query = select(EVENT.c.key, EVENT.c.number).where((EVENT.c.campaign == name) & EVENT.c.key.in_(some))
        taken = connection.execute(query).first()
        if taken is not None:
            raise ConflictError(
                f"Event {taken.number} of campaign {shorten(name)} already has the key {shorten(taken.key)}: "
                "this was recorded before. Read the new events, and do not send it again."
            )


def _name_taken(name: str) -> ConflictError:
    return ConflictError(f"A campaign named {shorten(name)} already exists. Open it, or choose another name.")


def _not_the_last(name: str, after: int, last: int) -> ConflictError:
    return ConflictError(
        f"Expected the last event of campaign {shorten(name)} to be number {after}; got {last}. "
        "Somebody else wrote first: read the new events and try again."
    )
