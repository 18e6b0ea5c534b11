"""SQLite: a store in one file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cellworth.errors import CellworthError, DataError

if TYPE_CHECKING:  # imported where it is needed: reading is possible without
    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import DBAPIError

Release = Callable[[], None]
_LARGEST_LOG = 10_000_000  # bytes of the log kept for reuse; a large table may exceed this for a while
_PAUSE = 0.01  # seconds between attempts to switch the journal mode
_OWNER_ONLY = 0o600
_UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


class SqliteDatabase:
    """A SQLite file, with a write-ahead log next to it while it is open.

    Readers do not wait for writers; writers wait for each other, for at most ``patience`` seconds. A commit
    returns once the log is on disk (``synchronous=FULL``). The file is made by the first write, for its owner
    only. Where SQLite cannot keep its log next to the file, as in a read-only folder, the file can be read as
    it was when it was opened, and not written.
    """

    shared = False

    def __init__(self, path: str, patience: float) -> None:
        self.place = path
        self.patience = patience
        self._path = Path(path)
        self._file: tuple[int, int] | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._only_look = False

    def make_engine(self) -> Engine:
        """Return an engine that keeps connections open: closing the last one would checkpoint the log."""
        from sqlalchemy import create_engine
        from sqlalchemy.pool import QueuePool

        return create_engine(
            "sqlite://", creator=self.connect, poolclass=QueuePool, hide_parameters=True, max_overflow=-1
        )

    def is_there(self) -> bool:
        """Return whether there is a file; one that disappears while it is open still counts."""
        self._check_path()
        return self._file is not None or self._path.exists()

    def make(self, fill: Callable[[Connection], None]) -> None:
        """Make the file, with what ``fill`` writes into it; nobody ever sees it half-made.

        If somebody else makes it at the same moment, theirs is kept.
        """
        from sqlalchemy import create_engine

        draft = self._path.with_name(f".{self._path.name}.{uuid.uuid4().hex}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
            engine = create_engine("sqlite://", creator=lambda: self._open(draft, "rw"), hide_parameters=True)
            try:
                with engine.begin() as connection:
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                    fill(connection)
            finally:
                engine.dispose()
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            _put(draft, self._path)
        except OSError as error:
            raise self._explain_system(error) from error
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)

    def begin(self, connection: Connection, *, writing: bool) -> None:
        """Start a transaction; a writer takes its lock now, since it cannot wait for it later."""
        if writing:
            if self._only_look:
                raise self._unwritable("It can only be looked at.")
            if not connection.info.get("logs ahead"):
                self._use_write_ahead_log(connection)
                connection.info["logs ahead"] = True
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
        return self.explain_sqlite(error.orig)

    def explain_sqlite(self, error: BaseException | None) -> CellworthError:
        """Return an error of Python's driver in plain words."""
        name = str(getattr(error, "sqlite_errorname", ""))
        said = f"SQLite says: {error}."
        if name == "SQLITE_FULL" or name == "SQLITE_IOERR_SHMSIZE":
            return DataError(
                f"The disk of {self.place} is full; nothing was written. Free some space and try again. "
                f"{said}"
            )
        if name.startswith(_UNWRITABLE):
            return self._unwritable(said)
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

    def read_clock(self, connection: Connection) -> datetime | None:
        """Return None: a file has no clock of its own."""

    def take_turn(self, _: Engine, name: str) -> Callable[[], None] | None:
        """Lock a file next to this one, which whoever may write this one may lock, too."""
        which = hashlib.sha256(name.encode()).hexdigest()[:8]
        path = self._path.with_name(f"{self._path.name}-turn-{which}")
        return take_lock(path, stat.S_IMODE(os.stat(self._path).st_mode))

    def connect(self) -> sqlite3.Connection:
        """Open the file; one that cannot be written is opened to look at."""
        self._check_path()
        try:
            connection = self._open(self._path, "rw")
        except sqlite3.OperationalError as error:
            if not str(error.sqlite_errorname).startswith(_UNWRITABLE):
                raise
            connection = self._open_to_look()
        self._file = self._file or self._identity()
        return connection

    def close(self) -> None:
        """Remove the copy of a file that could only be looked at, if one was needed."""
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _open(self, path: Path, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self.patience,
            isolation_level=None,  # `begin` starts transactions explicitly
            check_same_thread=False,  # the pool hands a connection to one thread at a time
        )
        connection.text_factory = _as_text
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute(f"PRAGMA journal_size_limit={_LARGEST_LOG}")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()  # the first to read the file
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_look(self) -> sqlite3.Connection:
        """Open a file where SQLite cannot keep its log; a log left behind is read with a copy of both."""
        log = self._path.with_name(f"{self._path.name}-wal")
        path, mode = self._path, "ro&immutable=1"
        try:
            if log.exists() and log.stat().st_size > 0:
                if self._copy is None:
                    self._copy = tempfile.TemporaryDirectory(prefix="cellworth-")
                    for file in (self._path, log):
                        shutil.copyfile(file, Path(self._copy.name) / file.name)
                path, mode = Path(self._copy.name) / self._path.name, "rw"
        except OSError as error:
            raise self._explain_system(error) from error
        connection = self._open(path, mode)
        self._only_look = True
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

    def _use_write_ahead_log(self, connection: Connection) -> None:
        from sqlalchemy.exc import DBAPIError

        # Whatever its timeout, SQLite does not wait here for another process that does the same.
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            except DBAPIError as error:
                code = getattr(error.orig, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE)

    def _unwritable(self, said: str) -> DataError:
        return DataError(
            f"The store {self.place} cannot be written. Both the file and its folder must be writable, "
            f"since SQLite keeps its log next to the file. Check their permissions. {said}"
        )

    def _explain_system(self, error: OSError) -> DataError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return DataError(
                f"The disk of {self.place} is full; nothing was written. Free some space and try again."
            )
        return self._unwritable(f"The system says: {error.strerror or error}.")

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _put(draft: Path, path: Path) -> None:
    """Give a finished file its name, unless somebody else has taken it; the name outlasts a power cut."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            draft.rename(path)
    with contextlib.suppress(OSError):  # some systems cannot open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _as_text(stored: bytes) -> str:
    """Return a stored text; bytes that are not UTF-8 are kept, so that a checksum names the damaged event."""
    return stored.decode("utf-8", "surrogateescape")


def take_lock(path: Path, mode: int) -> Release | None:
    """Take the lock in a file and return how to let it go; None if another process has it.

    The file is made with the permission bits ``mode`` and removed by whoever held the lock last; one left
    behind by a killed process locks nobody out. Two threads of one process exclude each other, too. OSError
    if the file cannot be made, or the system has no such locks.
    """
    if sys.platform == "win32":
        raise OSError("this system has no locks that end with their process")
    import fcntl

    while True:
        # A file object: if an interrupt comes before the caller has it, it is closed with the last reference.
        file = open(path, "ab", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        with contextlib.suppress(OSError):  # of another owner, who has done so
            os.fchmod(file.fileno(), mode)  # whatever the umask
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        if _is_at(file, path):
            return partial(_release, file, path)
        file.close()  # its last holder removed it between the two calls: lock the next one


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _release(file: BinaryIO, path: Path) -> None:
    try:
        with contextlib.suppress(OSError):
            path.unlink()  # while it is locked, so that nobody removes another's
    finally:
        file.close()
