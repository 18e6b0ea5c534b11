"""The worker process: reads jobs from standard input and writes their outcomes to standard output.

`cellworth.web.jobs` starts it. Its input ends when its parent does, for whatever reason; then it exits too,
even if busy.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from cellworth import errors
from cellworth.progress import heard_by

LENGTH = struct.Struct(">Q")
"""The length prefix of each message, in bytes."""
NICENESS = 10
PROGRESS = "progress"
"""The first word of a message that says how much of a job is done; others are outcomes."""
SHARE_SECONDS = 0.3
"""Least time between two of them."""
_KINDS = ("ConflictError", "DataError", "ParameterError", "MissingDependencyError")

Job = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""The name of a campaign, a function of a campaign, and its other arguments."""


def pack(message: object) -> bytes:
    """Serialise a message with its length prefix."""
    content = pickle.dumps(message, protocol=5)
    return LENGTH.pack(len(content)) + content


def unpack(content: bytes) -> Any:
    """Deserialise a message without its length prefix; only for messages between our own processes."""
    return pickle.loads(content)


def main() -> None:
    """Run jobs until the input ends. The store's address is the first message: it may contain a secret."""
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(NICENESS)
    # Anything a job prints goes to standard error: the pipe is for results only.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    store: str = _receive(sys.stdin.buffer)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, jobs), daemon=True).start()
    campaigns = _Campaigns(store)

    def send(message: tuple[str, Any, int]) -> None:
        out.write(pack(message))
        out.flush()

    while True:
        job = jobs.get()
        with heard_by(_SomeShares(send)):
            outcome = _do(campaigns, job)
        send(outcome)


class _SomeShares:
    """Sends how much of a job is done, first when it begins, and not all the time."""

    def __init__(self, send: Callable[[tuple[str, Any, int]], None]) -> None:
        self._send = send
        self._due = 0.0
        self(0.0)

    def __call__(self, share: float) -> None:
        """Send a share, unless another was sent a moment ago."""
        if time.monotonic() >= self._due:
            self._send((PROGRESS, share, 0))
            self._due = time.monotonic() + SHARE_SECONDS


class _Campaigns:
    """The campaigns used by jobs so far, kept open along with their rounds."""

    def __init__(self, store: str) -> None:
        self._url = store
        self._open: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        from cellworth.campaign import Campaign  # here, so that a failed import is reported to the caller

        if name not in self._open:
            self._open[name] = Campaign.open(self._url, name)
        return self._open[name]


def _do(campaigns: _Campaigns, job: Job) -> tuple[str, Any, int]:
    """Return "done" and the result, or the kind of error and its message; and the campaign's last event."""
    name, function, arguments, keywords = job
    number = 0
    try:
        campaign = campaigns[name]
        number = campaign.number
        result = function(campaign, *arguments, **keywords)
        return "done", result, max(number, campaign.last_read)
    except errors.CellworthError as error:
        kind = next((kind for kind in _KINDS if isinstance(error, getattr(errors, kind))), "CellworthError")
        return kind, str(error), number
    except Exception:
        return "failed", traceback.format_exc(), number


def _read(source: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    """Queue incoming jobs; exit the process, busy or not, when the input ends or makes no sense."""
    try:
        while True:
            jobs.put(_receive(source))
    except EOFError:
        os._exit(0)
    except Exception:  # nobody would answer those who wait for this job, or for any later one
        traceback.print_exc()
        os._exit(1)


def _receive(source: BinaryIO) -> Any:
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    return unpack(source.read(*LENGTH.unpack(head)))


if __name__ == "__main__":
    main()
