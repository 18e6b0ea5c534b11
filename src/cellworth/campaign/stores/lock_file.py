"""A lock in a file: held by one process at a time, and let go by the system however that process ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

Release = Callable[[], None]


def take_lock(path: Path, mode: int) -> Release | None:
    """Take the lock at a path and return how to let it go; None if somebody has it.

    The file is made with the permission bits ``mode`` and removed by whoever held the lock last; one left
    behind by a killed process locks nobody out. Two threads of one process exclude each other, too. OSError
    if the file cannot be made, or the system has no such locks.
    """
    if sys.platform == "win32":
        raise OSError("this system has no locks that end with their process")
    import fcntl

    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            with contextlib.suppress(OSError):  # of another owner, who has done so
                os.fchmod(file, mode)  # whatever the umask
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return lambda: _release(file, path)
        except BlockingIOError:
            os.close(file)
            return None
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # its last holder removed it between the two calls: lock the next one


def _is_at(file: int, path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _release(file: int, path: Path) -> None:
    try:
        with contextlib.suppress(OSError):
            path.unlink()  # while it is locked, so that nobody removes another's
    finally:
        os.close(file)
