"""Peak resident memory of this process, without polling."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

STATUS = Path("/proc/self/status")


def reset_peak() -> int:
    """Give free memory back to the system, restart the record of the peak, return bytes resident now.

    Where the system cannot restart the record (not Linux) the peak so far is returned, so that a
    difference to it is a lower bound.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Return the most bytes that were resident since the last `reset_peak`.

    From VmHWM: ``ru_maxrss`` also remembers the process that this one was forked from.
    """
    if STATUS.exists():
        line = next(row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
