"""Peak resident memory of this process, without polling."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

STATUS = Path("/proc/self/status")


def reset_peak() -> int:
    """Return free memory to the system, reset the peak, and return the bytes resident now.

    Where the peak cannot be reset (outside Linux), returns the peak so far, so that a difference from it is
    a lower bound.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Return the peak resident bytes since the last `reset_peak`.

    Reads VmHWM, since ``ru_maxrss`` also includes the process this one was forked from.
    """
    if STATUS.exists():
        line = next(row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
