"""Transactions on a database of whatever kind, which outlive a broken line to its server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from cellworth.errors import CellworthError

Result = TypeVar("Result")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two attempts to reach a server

# Engines that a process got from its parent by fork. They must neither be used nor closed here, so they are
# kept from being collected.
_inherited: list[Engine] = []


class Database(Protocol):
    """A kind of database, at one address.

    Attributes
    ----------
    place : str
        The address as people may see it, without a password.
    """

    place: str

    def make_engine(self) -> Engine:
        """Return a new engine with its own connections."""
        ...

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction on a connection; what it commits is on the disk."""
        ...

    def is_away(self, error: DBAPIError) -> bool:
        """Tell whether the database cannot be reached, so that waiting may help."""
        ...

    def explain(self, error: DBAPIError) -> CellworthError:
        """Say in plain words what went wrong and what to do."""
        ...


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

    def run(self, work: Callable[[Connection], Result], *, writing: bool, patience: float) -> Result:
        """Run ``work`` and commit, and do so again, for ``patience`` seconds, while the server is away.

        ``work`` must bear to be run again although an earlier run was committed: if the line breaks while the
        server commits, nobody here knows. An IntegrityError passes, and every other error of the database
        becomes one in plain words.
        """
        deadline = time.monotonic() + patience
        pause = _FIRST_PAUSE
        while True:
            try:
                with self._own_engine().begin() as connection:
                    self._database.begin(connection, writing=writing)
                    return work(connection)
            except IntegrityError:
                raise
            except DBAPIError as error:
                if not self._database.is_away(error) or time.monotonic() + pause > deadline:
                    raise self._database.explain(error) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        """Close all connections of this process."""
        self._own_engine().dispose()

    def _own_engine(self) -> Engine:
        """Return the engine of this process; one made before a fork belongs to the parent."""
        if self._process != os.getpid():
            _inherited.append(self._engine)
            self._engine, self._process = self._database.make_engine(), os.getpid()
        return self._engine
