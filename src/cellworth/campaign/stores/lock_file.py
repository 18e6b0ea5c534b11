"""A lock in a file: held by one process at a time, and let go by the system however that process ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

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
