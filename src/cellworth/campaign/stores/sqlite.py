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

_LARGEST_LOG = 10_000_000  # bytes that the log may keep for reuse; a large table makes it longer for a while
_PAUSE = 0.01  # seconds between two attempts at switching the journal


class SqliteDatabase:
    """A file, with a write-ahead log beside it while it is open.

    Readers do not wait for writers; writers wait for each other, at most ``patience`` seconds. A commit
    returns when the log is on the disk (``synchronous=FULL``).
    """

    def __init__(self, path: str, patience: float) -> None:
        self.place = path
        self.patience = patience
        self._path = Path(path)
        self._file: tuple[int, int] | None = None

    def make_engine(self) -> Engine:
        """Return an engine that keeps connections open: the last one to close would fold the log away."""
        return create_engine(
            "sqlite://", creator=self._connect, poolclass=QueuePool, hide_parameters=True, max_overflow=-1
        )

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writer takes its lock now, and not where it could only give up."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
        if writing and self._identity() != self._file:
            raise DataError(
                f"The file {self.place} was moved, removed or replaced while it was open; nothing was "
                "written, since it would be lost. Put the file back, and open the store again."
            )

    def is_away(self, error: DBAPIError) -> bool:
        """Return False: a file does not come back by itself."""
        return False

    def explain(self, error: DBAPIError) -> CellworthError:
        """Return the error in plain words, by SQLite's own name for it."""
        name = str(getattr(error.orig, "sqlite_errorname", ""))
        said = f"SQLite says: {error.orig}."
        if name == "SQLITE_FULL" or name == "SQLITE_IOERR_SHMSIZE":
            return DataError(
                f"The disk of {self.place} is full; nothing was written. Make room and try again. {said}"
            )
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return DataError(
                f"The store {self.place} cannot be written. Both the file and its folder must be writable, "
                f"since SQLite keeps its log beside the file: check their permissions. {said}"
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
        # Only the first connection may create the file: later, its absence is an accident.
        mode = "rwc" if self._file is None else "rw"
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self.patience,
            isolation_level=None,  # transactions are begun by name, above
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
                f"The path {self.place} may not be looked up: check the permissions of its folders."
            ) from error
        if not folder_is_there:
            raise DataError(
                f"The folder {folder} of the store {self._path.name} does not exist. Create it first."
            )
        if file_is_folder:
            raise DataError(f"Expected the path of a file; got the folder {self.place}. Add the file's name.")

    def _use_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        # SQLite does not wait here for another process that does the same, whatever its timeout.
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
