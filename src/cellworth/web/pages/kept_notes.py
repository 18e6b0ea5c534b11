"""What a page says after a form was handled, kept on the server under a key in the next page's address.

An address can therefore be reloaded, and nobody can put words into a page by writing an address.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

MOST = 5_000
SECONDS = 3600.0


@dataclass(frozen=True)
class Note:
    """What was done, or what was wrong.

    Attributes
    ----------
    text : str
        A text of the catalogue, with ``%(name)s`` for each of ``values``; an error is shown as it is.
    values : dict
    good : bool
        Whether it was done.
    typed : dict
        What was typed into the form, to be shown in it again.
    """

    text: str
    values: dict[str, Any] = field(default_factory=dict)
    good: bool = True
    typed: dict[str, Any] = field(default_factory=dict)


class KeptNotes:
    """Notes by key, each readable only by the browser it is for; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._notes: OrderedDict[str, tuple[float, str, Note]] = OrderedDict()

    def keep(self, browser: str, note: Note) -> str:
        """Keep a note for a browser, by the random text of its cookie, and return its key."""
        while len(self._notes) >= MOST:
            self._notes.popitem(last=False)
        key = secrets.token_urlsafe(9)
        self._notes[key] = time.monotonic() + SECONDS, browser, note
        return key

    def find(self, browser: str, key: str) -> Note | None:
        """Return a note that was kept for this browser; None if there is none, or it is too old."""
        until, owner, note = self._notes.get(key, (0.0, "", Note("")))
        return note if owner == browser and time.monotonic() < until else None
