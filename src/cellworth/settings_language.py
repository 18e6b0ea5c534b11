"""What a setting is called: a parameter in Python, an option on the command line.

A message that tells the user to change a setting names it with `setting`, so that it speaks the language of
the door that the user came through. A door says which that is with `speaking`; Python is the default.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Door = Literal["python", "command line"]
_DOOR: ContextVar[Door] = ContextVar("door", default="python")
# Options with other names than their parameters.
_OPTIONS = {"kinds": "--kind", "categories": "--order", "insist": "--yes"}
_LISTS = frozenset({"missing"})


@contextmanager
def speaking(door: Door) -> Iterator[None]:
    """Name settings in the language of a door, in this thread and context."""
    token = _DOOR.set(door)
    try:
        yield
    finally:
        _DOOR.reset(token)


def setting(name: str, value: str | bool | None = None, *, column: str | None = None) -> str:
    """Name a setting by its parameter, with a value if there is one, for one column if it is by column.

    >>> setting("kinds", "category", column="age"), setting("missing")
    ("kinds={'age': 'category'}", 'missing=')
    >>> with speaking("command line"):
    ...     setting("kinds", "category", column="my age"), setting("missing", "?")
    ("--kind 'my age=category'", "--missing '?'")
    """
    if _DOOR.get() == "command line":
        option = _OPTIONS.get(name) or "--" + name.replace("_", "-")
        said = "" if value is None or value is True else str(value)
        words = said if column is None else f"{column}={said or '...'}"
        return f"{option} {shlex.quote(words)}" if words else option
    if column is not None:
        return f"{name}={{{column!r}: {'[...]' if value is None else repr(value)}}}"
    if value is None:
        return f"{name}="
    return f"{name}=[{value!r}]" if name in _LISTS else f"{name}={value!r}"
