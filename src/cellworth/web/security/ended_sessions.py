"""Sessions that were ended and links that were used, kept beside the token file.

The file is a list of JSON lines that only grows while servers run, so that each change is one small append;
what has expired is left out when it is next read from the start. Without a file, all of it is in memory.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from cellworth.errors import DataError


class EndedSessions:
    """Knows which sessions and links are no longer valid, although their signatures are.

    Parameters
    ----------
    path : Path, optional
        The file; made when something is ended for the first time, readable only by its owner.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._ended: dict[str, float] = {}  # until when to remember it
        self._before: dict[str, float] = {}  # of a token: sessions begun before are ended
        self._read_to = 0

    def end(self, name: str, until: float) -> None:
        """End a session, or mark a link as used, by its name; remember it until it would expire anyway."""
        self._note({"ended": name, "until": until})

    def end_all(self, token: str) -> None:
        """End all sessions of a token that have begun by now."""
        self._note({"token": token, "before": time.time()})

    def is_ended(self, name: str) -> bool:
        """Return whether a session was ended, or a link used; reads what other processes have noted."""
        self._catch_up()
        return name in self._ended

    def began_too_early(self, token: str, began: float) -> bool:
        """Return whether a session was ended together with all others of its token."""
        self._catch_up()
        return began <= self._before.get(token, -1.0)

    def _note(self, line: dict[str, object]) -> None:
        self._catch_up()
        if self._path is None:
            self._take(line)
            return
        try:
            place = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with os.fdopen(place, "ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise DataError(f"{self._path}: the file cannot be written ({error.strerror}).") from None
        self._catch_up()

    def _catch_up(self) -> None:
        """Read the lines that are new; a line that is not complete yet is read next time."""
        if self._path is None:
            return
        try:
            if self._path.stat().st_size == self._read_to:
                return
            with self._path.open("rb") as file:
                file.seek(self._read_to)
                content = file.read()
        except OSError:  # nothing was ended yet
            return
        whole = content[: content.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for text in whole.splitlines():
            self._take(json.loads(text))

    def _take(self, line: dict[str, object]) -> None:
        if "ended" in line:
            until = float(str(line["until"]))
            if until > time.time():
                self._ended[str(line["ended"])] = until
        else:
            token, before = str(line["token"]), float(str(line["before"]))
            self._before[token] = max(before, self._before.get(token, before))
