"""What a setting is called, for each door: a parameter, an option, a field of a page or a field of JSON.

This is the one catalogue of settings. A message that tells the user to change one names it with `setting`, or
with `named` if the setting is what is wrong, so that it speaks the language of the door that the user came
through. `by_door` is for advice that differs altogether. A door says which it is with `speaking`; Python is
the default. Where a door lacks a setting, messages refer to the command line, which has them all.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Literal, TypeVar

Door = Literal["python", "command line", "pages", "rest"]
Result = TypeVar("Result")

_DOOR: ContextVar[Door] = ContextVar("door", default="python")
_LISTS = frozenset({"missing"})
# Where a door's word is not the parameter's.
_PARAMETERS = {"order": "categories"}
_OPTIONS = {
    "kinds": "--kind",
    "units": "--unit",
    "descriptions": "--description",
    "reach": "--until-reach",
    "least_gain": "--until-gain",
    "insist": "--yes",
}
# What stands for a value by column: a parameter's, an option's.
_BLANKS = {
    "bounds": ("(lowest, highest)", "LOW,HIGH"),
    "categories": ("[...]", "TEXT,TEXT"),
    "order": ("[...]", "LOW,HIGH"),
}
FIELDS = {
    "budget": "Money, at most",
    "count": "Values, at most",
    "date_format": "Dates",
    "decimal": "Decimal mark",
    "delimiter": "Separator",
    "encoding": "Encoding",
    "lease": "Reserved for",
    "missing": "Marks of missing values, besides blanks",
    "prices": "Prices (optional)",
    "row_id": "Column that names the rows",
    "target": "Column to predict",
}
"""The labels of fields on the pages."""
COLUMN_FIELDS = {
    "bounds": "least and most",
    "categories": "categories",
    "descriptions": "description",
    "kinds": "kind",
    "order": "categories",
    "units": "unit",
}
"""The labels of those that a column of a new campaign has on the pages."""
JSON_FIELDS = frozenset(
    {
        "budget",
        "cells",
        "count",
        "insist",
        "lease",
        "least_gain",
        "point_worth",
        "price",
        "reach",
        "reason",
        "unsolicited",
    }
)
"""The fields of requests that are named like parameters."""


@contextmanager
def speaking(door: Door) -> Iterator[None]:
    """Name settings in the language of a door, in this thread and context."""
    token = _DOOR.set(door)
    try:
        yield
    finally:
        _DOOR.reset(token)


def spoken() -> Door:
    """Return the door whose language is spoken here."""
    return _DOOR.get()


def in_language(door: Door, work: Callable[..., Result], *arguments: Any, **keywords: Any) -> Result:
    """Call a function in the language of a door, as in another process."""
    with speaking(door):
        return work(*arguments, **keywords)


def in_this_language(work: Callable[..., Result]) -> Callable[..., Result]:
    """Return a function that speaks the language of here wherever it is called, as in another thread."""
    return partial(copy_context().run, work)


def setting(name: str, value: str | bool | None = None, *, column: str | None = None) -> str:
    """Name a setting by its parameter, with a value if there is one, for one column if it is by column.

    >>> setting("kinds", "category", column="age"), setting("missing")
    ("kinds={'age': 'category'}", 'missing=')
    >>> with speaking("command line"):
    ...     setting("kinds", "category", column="my age"), setting("missing", "?")
    ("--kind 'my age=category'", "--missing '?'")
    >>> with speaking("pages"):
    ...     setting("decimal", ","), setting("kinds", "date", column="age"), setting("seed", "1")
    ("',' in the field 'Decimal mark'", "'date' as the kind of 'age'", '--seed 1 on the command line')
    >>> with speaking("rest"):
    ...     setting("unsolicited", True)
    '"unsolicited": true'
    """
    door = _DOOR.get()
    if door == "pages" and name in FIELDS:
        return named(name) if value is None or value is True else f"{value!r} in {named(name)}"
    if door == "pages" and name in COLUMN_FIELDS and column is not None:
        field = f"the {COLUMN_FIELDS[name]} of {column!r}"
        return field if value is None or value is True else f"{value!r} as {field}"
    if door == "rest" and name in JSON_FIELDS:
        return named(name) if value is None else f"{named(name)}: {json.dumps(value)}"
    if door != "python":
        elsewhere = "" if door == "command line" else " on the command line"
        return _option_with(name, value, column) + elsewhere
    parameter = _PARAMETERS.get(name, name)
    if column is not None:
        said = _BLANKS.get(name, ("...", "VALUE"))[0] if value is None else repr(value)
        return f"{parameter}={{{column!r}: {said}}}"
    if value is None:
        return f"{parameter}="
    return f"{parameter}=[{value!r}]" if name in _LISTS else f"{parameter}={value!r}"


def named(name: str) -> str:
    """Name a setting alone, as the subject of a sentence.

    >>> named("date_format")
    'date_format'
    >>> with speaking("command line"):
    ...     named("date_format")
    '--date-format'
    """
    door = _DOOR.get()
    if door == "python":
        return _PARAMETERS.get(name, name)
    if door == "pages":
        other = COLUMN_FIELDS.get(name, name.replace("_", " "))
        return f"the field {FIELDS[name]!r}" if name in FIELDS else other
    return json.dumps(name) if door == "rest" else _option(name)


def by_door(*, python: str, command_line: str, pages: str | None = None, rest: str | None = None) -> str:
    """Return the words for the door; the pages' and REST's are those of the command line if not given."""
    words = {"python": python, "command line": command_line, "pages": pages, "rest": rest}
    found = words[_DOOR.get()]
    return command_line if found is None else found


def _option(name: str) -> str:
    return _OPTIONS.get(name) or "--" + name.replace("_", "-")


def _option_with(name: str, value: str | bool | None, column: str | None) -> str:
    said = "" if value is None or value is True else str(value)
    blank = _BLANKS.get(name, ("...", "VALUE"))[1]
    words = said if column is None else f"{column}={said or blank}"
    return f"{_option(name)} {shlex.quote(words)}" if words else _option(name)
