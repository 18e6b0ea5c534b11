"""SQLite: a store in one file."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from cellworth.errors import CellworthError, DataError

_LARGEST_LOG = 10_000_000  # bytes of the log kept for reuse; a large table may exceed this for a while
_PAUSE = 0.01  # seconds between attempts to switch the journal mode


class SqliteDatabase:
    """A SQLite file, with a write-ahead log next to it while it is open.

    Readers do not wait for writers; writers wait for each other, for at most ``patience`` seconds. A commit
    returns once the log is on disk (``synchronous=FULL``).
    """

    def __init__(self, path: str, patience: float) -> None:
        self.place = path
        self.patience = patience
        self._path = Path(path)
        self._file: tuple[int, int] | None = None

    def make_engine(self) -> Engine:
        """Return an engine that keeps connections open: closing the last one would checkpoint the log."""
        return create_engine(
            "sqlite://", creator=self._connect, poolclass=QueuePool, hide_parameters=True, max_overflow=-1
        )

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writer takes its lock now, since it cannot wait for it later."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
        if writing and self._identity() != self._file:
            raise DataError(
                f"The file {self.place} was moved, removed or replaced while it was open. Nothing was "
                "written, since it would be lost. Put the file back and open the store again."
            )

    def is_away(self, error: DBAPIError) -> bool:
        """Return False: waiting does not bring a file back."""
        return False

    def explain(self, error: DBAPIError) -> CellworthError:
        """Return the error in plain words, based on SQLite's name for it."""
        name = str(getattr(error.orig, "sqlite_errorname", ""))
        said = f"SQLite says: {error.orig}."
        if name == "SQLITE_FULL" or name == "SQLITE_IOERR_SHMSIZE":
            return DataError(
                f"The disk of {self.place} is full; nothing was written. Free some space and try again. "
                f"{said}"
            )
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return DataError(
                f"The store {self.place} cannot be written. Both the file and its folder must be writable, "
                f"since SQLite keeps its log next to the file. Check their permissions. {said}"
            )
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return DataError(
                f"Another program kept {self.place} locked for {self.patience:g} s; nothing was written. "
                f"Try again, or close the program that holds it. {said}"
            )
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return DataError(
                f"The file {self.place} is not a SQLite database, or is damaged. "
                f"Give another path, or restore the file from a backup. {said}"
            )
        return DataError(f"The store {self.place} could not be used; nothing was written. {said}")

    def _connect(self) -> sqlite3.Connection:
        self._check_path()
        # Only the first connection may create the file: if it is missing later, something went wrong.
        mode = "rwc" if self._file is None else "rw"
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self.patience,
            isolation_level=None,  # `begin` starts transactions explicitly
            check_same_thread=False,  # the pool hands a connection to one thread at a time
        )
        try:
            self._use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute(f"PRAGMA journal_size_limit={_LARGEST_LOG}")
        except BaseException:
            connection.close()
            raise
        self._file = self._file or self._identity()
        return connection

    def _check_path(self) -> None:
        folder = self._path.parent
        try:
            folder_is_there, file_is_folder = folder.is_dir(), self._path.is_dir()
        except PermissionError as error:
            raise DataError(
                f"The path {self.place} cannot be accessed. Check the permissions of its folders."
            ) from error
        if not folder_is_there:
            raise DataError(
                f"The folder {folder} for the store {self._path.name} does not exist. Create it first."
            )
        if file_is_folder:
            raise DataError(f"Expected the path of a file; got the folder {self.place}. Add the file's name.")

    def _use_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        # Whatever its timeout, SQLite does not wait here for another process that does the same.
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE)

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino
