"""The names of averages: those of their members, joined. It loads nothing, so that a status can show them."""

from __future__ import annotations

from collections.abc import Iterable

_PLUS = " + "


def joined(names: Iterable[str]) -> str:
    """Return the name of the average of some candidates."""
    return _PLUS.join(names)


def members(name: str) -> list[str]:
    """Return the names that a name is joined from; itself alone if it is not an average's."""
    return name.split(_PLUS)


def shown(name: str) -> str:
    """Return a name as people read it: that of an average of more than two says how many.

    >>> shown("a + b"), shown("a + b + c")
    ('a + b', 'average of 3 models')
    """
    parts = len(members(name))
    return name if parts <= 2 else f"average of {parts} models"
