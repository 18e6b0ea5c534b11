"""The process that computes: it reads jobs from its standard input and writes their outcomes.

It is started by `cellworth.web.jobs`. Its input ends when its parent does, however that happens; then it ends
too, whatever it is doing.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from cellworth import errors

LENGTH = struct.Struct(">Q")
"""Before each message: how many bytes it has."""
NICENESS = 10
_KINDS = ("ConflictError", "DataError", "ParameterError", "MissingDependencyError")

Job = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""The name of a campaign, a function of a campaign, and its further arguments."""


def pack(message: object) -> bytes:
    """Return a message with its length."""
    content = pickle.dumps(message, protocol=5)
    return LENGTH.pack(len(content)) + content


def unpack(content: bytes) -> Any:
    """Return a message from its content, without the length; only ever of our own process."""
    return pickle.loads(content)


def main() -> None:
    """Do jobs until the input ends. The first message is the address of the store: it may hold a secret."""
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(NICENESS)
    # Whatever is printed by a job goes to the standard error: the pipe is for results alone.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    store: str = _receive(sys.stdin.buffer)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, jobs), daemon=True).start()
    campaigns = _Campaigns(store)
    while True:
        out.write(pack(_do(campaigns, jobs.get())))
        out.flush()


class _Campaigns:
    """The campaigns that jobs were about, kept open, with their rounds."""

    def __init__(self, store: str) -> None:
        self._url = store
        self._open: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        from cellworth.campaign import Campaign  # a failed import is reported to whoever waits

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
    """Pass jobs on; end the process, busy or not, when there can be no more."""
    with contextlib.suppress(EOFError):
        while True:
            jobs.put(_receive(source))
    os._exit(0)


def _receive(source: BinaryIO) -> Any:
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    return unpack(source.read(*LENGTH.unpack(head)))


if __name__ == "__main__":
    main()
