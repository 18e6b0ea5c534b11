"""Campaigns in a SQLite or PostgreSQL database."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, TableClause, delete, func, insert, literal, select, text, update
from sqlalchemy.exc import IntegrityError

from cellworth.campaign.stores import schema
from cellworth.campaign.stores.address import PATIENCE, Address, database_at, read_address
from cellworth.campaign.stores.checksums import Stated, chained, damaged_event, missing_event
from cellworth.campaign.stores.read_campaigns import CampaignReader, check_version, not_ours, nothing_at
from cellworth.campaign.stores.schema import CACHE, CAMPAIGN, EVENT, HEAD, SNAPSHOT
from cellworth.campaign.stores.store_protocol import (
    CampaignRecord,
    StoredEvent,
    check_blob,
    check_new_name,
    event_rows,
    is_keepable,
    name_taken,
    record_row,
)
from cellworth.campaign.stores.transactions import Result, Transactions
from cellworth.errors import ConflictError
from cellworth.messages import shorten

_CLOCK_SECONDS = 60.0  # between two readings of a server's clock
_AT_ONCE = 500  # events in one statement; databases accept tens of thousands of values
_VERSION = "version of the store's tables"  # in the info of a connection, as this transaction sees it
_PARTS = (EVENT, HEAD, CACHE, SNAPSHOT)  # tables with rows of a campaign, besides its record


class SqlStore:
    """A store in a SQLite file or on a PostgreSQL server; see `Store` for what it promises.

    Each method is one transaction. If the connection to a server breaks, it is retried for ``patience``
    seconds. Nothing is written twice: each writing call marks its rows with a unique token and looks for that
    token before it writes again.

    Parameters
    ----------
    url : str, Path or Address
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

    def __init__(self, url: str | Path | Address, *, patience: float = PATIENCE) -> None:
        self._database = database_at(read_address(url), patience)
        self._transactions = Transactions(self._database)
        self._patience = 0.0  # while opening: an unreachable server is more likely a wrong address
        self._version = 0
        self._clock: tuple[float, datetime | None] | None = None
        try:
            self._read(lambda _: None)
        except BaseException:
            self._transactions.close()
            raise
        self._patience = patience

    def create(self, record: CampaignRecord, events: Iterable[StoredEvent] = ()) -> None:
        """Create a campaign; ConflictError if its name is taken. See `Store.create`."""
        token = uuid.uuid4().hex
        row = record_row(record, token)

        def write(connection: Connection) -> None:
            written = token_of(connection, record.name)
            if written == token:
                return
            if written is not None:
                raise name_taken(record.name)
            connection.execute(insert(CAMPAIGN), row)
            number, chain, left = 0, row["seal"], iter(events)
            while some := list(itertools.islice(left, _AT_ONCE)):
                rows = event_rows(record.name, number, some, token)
                chain = chained(rows, chain)
                connection.execute(insert(EVENT), rows)
                number += len(rows)
            connection.execute(insert(HEAD).values(campaign=record.name, number=number, chain=chain))

        try:
            self._write(write)
        except IntegrityError as error:  # two at once: the primary key lets only one through
            raise name_taken(record.name) from error

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted by code point."""
        return self._read(CampaignReader.names)

    def rename(self, name: str, new: str) -> None:
        """Give a campaign a new name; ConflictError if it is taken. See `Store.rename`."""
        token = uuid.uuid4().hex
        check_new_name(new)

        def write(connection: Connection) -> None:
            written = token_of(connection, new)
            if written == token:  # before the connection was lost
                return
            self._known(connection, name, lock=True)
            if written is not None:
                raise name_taken(new)
            rename_campaign(connection, name, new, token)

        try:
            self._write(write)
        except IntegrityError as error:  # two at once: the primary key lets only one through
            raise name_taken(new) from error

    def delete(self, name: str) -> None:
        """Delete a campaign with all its events, for good."""
        attempts = itertools.count()

        def write(connection: Connection) -> None:
            if next(attempts) and token_of(connection, name) is None:
                return  # it was deleted before the connection was lost
            self._known(connection, name, lock=True)
            delete_campaign(connection, name)

        self._write(write)

    def record(self, name: str) -> CampaignRecord:
        """Return a campaign's record. See `Store.record`."""
        return self._read(lambda reader: reader.record(name))

    def events(self, name: str, after: int = 0, most: int | None = None) -> list[StoredEvent]:
        """Return the events numbered above ``after``, in order, each checked. See `Store.events`."""
        return self._read(lambda reader: reader.events(name, after, most))

    def number_of(self, name: str, key: str) -> int | None:
        """Return the number of the event with a key; None if there is none. O(log N)."""
        return self._read(lambda reader: reader.number_of(name, key))

    def append(self, name: str, after: int, events: Sequence[StoredEvent]) -> None:
        """Append events, all or none; ConflictError if somebody else wrote first. See `Store.append`."""
        token = uuid.uuid4().hex
        rows = event_rows(name, after, events, token)
        keys = [event.key for event in events if event.key is not None]

        def write(connection: Connection) -> None:
            # From here to the end of the transaction, nobody else can write to the campaign. After a lost
            # connection, this also waits until the server has committed or rolled back its transaction.
            known = self._known(connection, name, lock=True)
            mine = EVENT.c.campaign == name
            last = connection.execute(select(func.max(EVENT.c.number)).where(mine)).scalar_one() or 0
            if last < known.number:
                raise missing_event(name, last + 1)
            if last > known.number:
                raise damaged_event(name, last, f"the last event is stated to be number {known.number}")
            if last == after:
                check_keys(connection, name, keys)
                if rows:
                    chain = chained(rows, known.chain)
                    connection.execute(insert(EVENT), rows)
                    here = HEAD.c.campaign == name
                    connection.execute(update(HEAD).where(here).values(number=after + len(rows), chain=chain))
            elif not is_written(connection, name, after, token):
                raise ConflictError(
                    f"Expected the last event of campaign {shorten(name)} to be number {after}; got {last}. "
                    "Somebody else wrote first: read the new events and try again."
                )

        try:
            self._write(write)
        except IntegrityError as error:  # somebody wrote without the lock; the table's keys caught it
            raise ConflictError(
                f"Somebody else wrote to campaign {shorten(name)} first. Read the new events and try again."
            ) from error

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Keep other writers waiting while the block runs. See `Store.alone`."""
        version = self._version
        try:
            with self._transactions.hold():
                self._write(lambda connection: self._known(connection, name, lock=True))
                yield
        except BaseException:
            self._version = version  # an upgrade was rolled back, too
            raise

    def turn(self, name: str, patience: float) -> AbstractContextManager[bool]:
        """Take the turn at a campaign's rounds. See `Store.turn`."""
        return self._transactions.turn(name, patience)

    def save_cache(self, name: str, number: int, blob: bytes) -> None:
        """Save a cache; only the newest for each campaign is kept. See `Store.save_cache`."""
        self._save_blob(CACHE, name, number, blob)

    def load_cache(self, name: str, at_most: int, first: int | None = None) -> tuple[int, bytes] | None:
        """Return the saved cache with its number; None if it is absent or newer than ``at_most``."""
        return self._read(lambda reader: reader.blob(CACHE.name, name, at_most, first))

    def save_snapshot(self, name: str, number: int, blob: bytes) -> None:
        """Save a snapshot; only the newest for each campaign is kept. See `Store.save_snapshot`."""
        self._save_blob(SNAPSHOT, name, number, blob)

    def load_snapshot(self, name: str, at_most: int) -> tuple[int, bytes] | None:
        """Return the saved snapshot with its number; None if it is absent or newer than ``at_most``."""
        return self._read(lambda reader: reader.blob(SNAPSHOT.name, name, at_most))

    def now(self) -> datetime:
        """Return the time in UTC, by the server's clock; read once a minute, and counted on in between."""
        if self._clock is None or time.monotonic() - self._clock[0] > _CLOCK_SECONDS:
            read = self._transact(self._database.read_clock) if self._database.shared else None
            self._clock = time.monotonic(), read
        at, read = self._clock
        return datetime.now(UTC) if read is None else read + timedelta(seconds=time.monotonic() - at)

    def close(self) -> None:
        """Close files and connections; do not use the store afterwards."""
        self._transactions.close()

    def _read(self, work: Callable[[CampaignReader], Result]) -> Result:
        if not self._database.is_there():  # reading makes nothing
            return work(nothing_at(self._database.place))
        return self._transact(lambda connection: work(self._reader(connection)))

    def _transact(self, work: Callable[[Connection], Result]) -> Result:
        def read(connection: Connection) -> Result:
            if self._version < len(schema.STEPS):  # somebody may have made or upgraded it since
                self._look(connection)
            connection.info[_VERSION] = self._version
            return work(connection)

        return self._transactions.run(read, writing=False, patience=self._patience)

    def _write(self, work: Callable[[Connection], object]) -> None:
        steps, place = schema.STEPS, self._database.place

        def write(connection: Connection) -> None:
            if self._version == len(steps):
                schema.lock_version(connection)
                check_version(schema.stated_version(connection, place), place, len(steps))
            else:
                self._look(connection)
                schema.upgrade(connection, place, steps)
            connection.info[_VERSION] = len(steps)
            work(connection)

        if not self._database.is_there():
            self._transactions.make(lambda connection: schema.upgrade(connection, place, steps))
        self._transactions.run(write, writing=True, patience=self._patience)
        self._version = len(steps)

    def _save_blob(self, table: TableClause, name: str, number: int, blob: bytes) -> None:
        check_blob(blob, f"The {table.name.removeprefix('cellworth_')} of campaign {shorten(name)}")

        def write(connection: Connection) -> None:
            self._known(connection, name)
            save_blob(connection, table, name, number, blob)

        self._write(write)

    def _look(self, connection: Connection) -> None:
        """Note the version of the tables; DataError if they are not ours, or newer than this program."""
        place = self._database.place
        version = schema.version_of(connection, place)
        if version == 0 and not self._database.shared:
            raise not_ours(place)
        check_version(version, place, len(schema.STEPS))
        self._version = version

    def _known(self, connection: Connection, name: str, *, lock: bool = False) -> Stated:
        """Return what is stated about a campaign; DataError if it does not exist.

        With ``lock``, block other writers to it.
        """
        reader = self._reader(connection)
        alone = not self._database.shared  # in SQLite, a writer is
        if lock and not alone and reader.version > 0 and is_keepable(name):
            named = select(CAMPAIGN.c.name).where(CAMPAIGN.c.name == name)
            connection.execute(named.with_for_update(key_share=True)).all()
        return reader.stated(name)

    def _reader(self, connection: Connection) -> CampaignReader:
        version = int(connection.info.get(_VERSION, 0))
        return CampaignReader(schema.fetching(connection), version, self._database.place)


def token_of(connection: Connection, name: str) -> str | None:
    """Return the mark of the call that wrote a campaign's record; None if there is no such campaign."""
    found = connection.execute(select(CAMPAIGN.c.token).where(CAMPAIGN.c.name == name))
    return found.scalar_one_or_none()


def rename_campaign(connection: Connection, name: str, new: str, token: str) -> None:
    """Give a campaign a new name that is free; its checksums do not depend on it. O(events)."""
    changed = {"name": literal(new), "token": literal(token)}
    columns = [changed.get(column.name, column) for column in CAMPAIGN.c]
    copy = select(*columns).where(CAMPAIGN.c.name == name)
    connection.execute(insert(CAMPAIGN).from_select([column.name for column in CAMPAIGN.c], copy))
    for part in _PARTS:
        connection.execute(update(part).where(part.c.campaign == name).values(campaign=new))
    connection.execute(delete(CAMPAIGN).where(CAMPAIGN.c.name == name))


def delete_campaign(connection: Connection, name: str) -> None:
    """Delete a campaign with its events, cache and snapshot; O(events)."""
    for part in _PARTS:
        connection.execute(delete(part).where(part.c.campaign == name))
    connection.execute(delete(CAMPAIGN).where(CAMPAIGN.c.name == name))


def save_blob(connection: Connection, table: TableClause, name: str, number: int, blob: bytes) -> None:
    """Save a blob in place of the one that is there, unless that one is of a later event; O(its size)."""
    statement = text(
        f"INSERT INTO {table.name} (campaign, number, content) VALUES (:campaign, :number, :content)"
        " ON CONFLICT (campaign) DO UPDATE SET number = excluded.number, content = excluded.content"
        f" WHERE {table.name}.number <= excluded.number"
    )
    connection.execute(statement, {"campaign": name, "number": number, "content": blob})


def is_written(connection: Connection, name: str, after: int, token: str) -> bool:
    """Return whether an earlier attempt of the same call was committed; its events are all there or none."""
    first = (EVENT.c.campaign == name) & (EVENT.c.number == after + 1)
    return connection.execute(select(EVENT.c.token).where(first)).scalar_one_or_none() == token


def check_keys(connection: Connection, name: str, keys: Sequence[str]) -> None:
    """Raise ConflictError if a key is used by an event of the campaign."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        query = select(EVENT.c.key, EVENT.c.number).where((EVENT.c.campaign == name) & EVENT.c.key.in_(some))
        taken = connection.execute(query).first()
        if taken is not None:
            raise ConflictError(
                f"Event {taken.number} of campaign {shorten(name)} already has the key {shorten(taken.key)}: "
                "this was recorded before. Read the new events, and do not send it again."
            )
