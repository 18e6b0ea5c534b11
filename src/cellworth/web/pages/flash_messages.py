"""Flash messages: what a page says after a form was handled.

They are kept on the server, under a key in the next page's address. An address can therefore be
reloaded, and nobody can put words into a page by writing an address.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from cellworth.web.pages.language import message
from cellworth.web.security.sessions import CSRF

MOST = 5_000
SECONDS = 3600.0
MESSAGES = {
    "asked": message("Asked for %(count)s values. They are in the queue."),
    "asked-one": message("Asked for one value. It is in the queue."),
    "stopped": message("A forecast says that it is not worth spending more. Nothing was asked for."),
    "nothing": message("Nothing can be bought for this money. Nothing was asked for."),
    "none-left": message("No value is left to ask for. Nothing was asked for."),
    "saved": message("Saved: %(cell)s."),
    "saved-many": message("Saved %(count)s values."),
    "saved-many-one": message("Saved one value."),
    "known": message("%(cell)s already has this value. Nothing was recorded."),
    "refused": message("Recorded that %(cell)s is not available."),
    "taken": message("%(count)s values are reserved for you."),
    "taken-one": message("One value is reserved for you."),
    "none-free": message("None of these values is free to take. Ask for more, or see who has them."),
    "given-back": message("Given back: %(cell)s."),
    "cancelled": message("Withdrawn: %(cell)s is no longer asked for."),
    "cancelled-many": message("Withdrawn: %(count)s values are no longer asked for."),
    "cancelled-many-one": message("Withdrawn: one value is no longer asked for."),
    "released": message("Freed: %(count)s values can be taken by others."),
    "released-one": message("Freed: one value can be taken by others."),
    "corrected": message("Corrected: %(cell)s. The old value stays in the history."),
    "uploaded": message("Saved %(count)s answers."),
    "uploaded-one": message("Saved one answer."),
    "extended": message("Added %(count)s rows."),
    "extended-one": message("Added one row."),
    "budget": message("The budget is changed."),
    "category": message("The column has a new category."),
    "prices": message("The prices are changed, for what is asked for from now on."),
    "open": message("The campaign is open again."),
    "renamed": message("The campaign has its new name."),
    "token-ends": message("The token of %(who)s has another last day."),
    "token-removed": message("The token of %(who)s is revoked, and its sessions have ended."),
    "signed-out": message("%(who)s is signed out everywhere."),
    "same": message("Nothing was changed: it was so already."),
    "expired": message("Your session had ended, so what you sent was not saved. Sign in and send it again."),
}
"""What a page says of what was done, by its keyword; with ``-one`` if it was one thing."""


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


class FlashMessages:
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


def back(request: Request, path: str, done: str = "", query: str = "", **values: object) -> Response:
    """Redirect to a page after a form was handled; ``done`` is a key of `MESSAGES`, ``values`` its values."""
    one = f"{done}-one" if values.get("count") == 1 else ""
    note = Note(MESSAGES.get(one) or MESSAGES[done], dict(values)) if done else None
    return redirect_with(request, path, query, note)


def rejected(request: Request, path: str, error: str, query: str = "", **typed: Any) -> Response:
    """Redirect to the page of a form that was rejected; it shows the error, and what was typed again."""
    return redirect_with(request, path, query, Note(error, good=False, typed=typed))


def typed_in(request: Request) -> dict[str, Any]:
    """Return what was typed into the form whose rejection the page shows; empty without one."""
    note = note_of(request)
    return {} if note is None else note.typed


def redirect_with(request: Request, path: str, query: str, note: Note | None) -> Response:
    """Redirect to a page that shows a note."""
    fields = [query] if query else []
    if note is not None:
        fields.append(urlencode({"note": _kept(request).keep(request.cookies.get(CSRF, ""), note)}))
    return RedirectResponse(f"{path}?{'&'.join(fields)}" if fields else path, 303)


def note_of(request: Request) -> Note | None:
    """Return the note that the page is to show; None without one."""
    key = request.query_params.get("note", "")
    return _kept(request).find(request.cookies.get(CSRF, ""), key) if key else None


def _kept(request: Request) -> FlashMessages:
    state = request.app.state
    if not hasattr(state, "flash_messages"):
        state.flash_messages = FlashMessages()
    notes: FlashMessages = state.flash_messages
    return notes
