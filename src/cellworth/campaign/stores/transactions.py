"""Transactions on a SQLite or PostgreSQL database that survive a lost connection."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from cellworth.errors import CellworthError, DataError

Result = TypeVar("Result")
logger = logging.getLogger("cellworth.campaign")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two attempts to reach a server
_FIRST_LOOK, _LAST_LOOK = 0.002, 0.03  # seconds between two attempts to get a turn

# Engines inherited from the parent process by fork. They must be neither used nor closed here, so keep them
# from being garbage-collected.
_inherited: list[Engine] = []


class Database(Protocol):
    """A kind of database, at one address.

    Attributes
    ----------
    place : str
        The address to show, without a password.
    shared : bool
        Whether other programs may keep tables of their own in the same database.
    """

    place: str
    shared: bool

    def make_engine(self) -> Engine:
        """Return a new engine with its own connections."""
        ...

    def is_there(self) -> bool:
        """Return whether the database exists."""
        ...

    def make(self, fill: Callable[[Connection], None]) -> None:
        """Make the database with what ``fill`` writes into it, unless it is there."""
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

    def read_clock(self, connection: Connection) -> datetime | None:
        """Return the time by the database's own clock, in UTC; None if it has none."""
        ...

    def take_turn(self, engine: Engine, name: str) -> Callable[[], None] | None:
        """Take the turn at a campaign's rounds, and return how to end it; None if somebody has it.

        It ends by itself with this process, or with its connection to the server.
        """
        ...

    def close(self) -> None:
        """Remove what was needed only while the database was open."""
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
            except UnicodeError as error:
                raise DataError(
                    f"The store {self._database.place} is damaged: it holds text that is not UTF-8 "
                    f"({error}). Restore it from a backup."
                ) from error
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

    @contextmanager
    def turn(self, name: str, patience: float) -> Iterator[bool]:
        """Take the turn at a campaign's rounds for a block, and yield whether it was to be had in time."""
        end, pause = time.monotonic() + patience, _FIRST_LOOK
        release: Callable[[], None] | None = None
        try:
            try:
                while (release := self._database.take_turn(self._own_engine(), name)) is None:
                    if time.monotonic() + pause > end:
                        break
                    time.sleep(pause)
                    pause = min(1.5 * pause, _LAST_LOOK)
            except (OSError, DBAPIError) as error:  # turns only save time
                logger.info("no turns are taken at %s: %s", self._database.place, error)
            yield release is not None
        finally:
            if release is not None:
                with suppress(OSError, DBAPIError):  # a lost connection has ended it
                    release()

    def make(self, fill: Callable[[Connection], None]) -> None:
        """Make the database; errors are explained in plain words."""
        try:
            self._database.make(fill)
        except DBAPIError as error:
            raise self._database.explain(error) from error

    def close(self) -> None:
        """Close all connections of this process."""
        self._own_engine().dispose()
        self._database.close()

    def _own_engine(self) -> Engine:
        """Return this process's engine; one made before a fork belongs to the parent."""
        if self._process != os.getpid():
            _inherited.append(self._engine)
            self._engine, self._process = self._database.make_engine(), os.getpid()
        return self._engine
