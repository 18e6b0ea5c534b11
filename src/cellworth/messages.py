"""Building blocks of error messages: truncated values and lists, and "Did you mean" hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

from cellworth.settings_language import setting

LONGEST_SHOWN = 40
"""Messages truncate values longer than this many characters."""
MOST_COMPARED = 5_000
"""Search at most this many names for the closest one: a comparison takes about 20 microseconds."""


def shorten(value: object) -> str:
    """Return a value as Python would write it, truncated to `LONGEST_SHOWN` characters.

    >>> shorten("short"), shorten("x" * 100)
    ("'short'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' (100 characters)")
    """
    text = value if isinstance(value, str) else str(value)
    shown = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
    quoted = repr(shown) if isinstance(value, str) else shown
    return quoted if shown == text else f"{quoted} ({len(text)} characters)"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, pluralized if needed.

    >>> count(1, "cell"), count(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def as_mark(text: str) -> str:
    """Return the `missing=` keyword that adds this text, abbreviated if the text is too long to show.

    >>> as_mark("n.k."), as_mark("x" * 100)
    ("missing=['n.k.']", 'missing=')
    """
    return setting("missing", text) if len(text) <= LONGEST_SHOWN else setting("missing")


def listing(values: Sequence[object], most: int = 3) -> str:
    """List the first values and count the rest.

    >>> listing(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    shown = ", ".join(shorten(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the closest name, as a sentence with a leading space; "" if none is close.

    >>> did_you_mean("stagee", ["age", "stage"])
    " Did you mean 'stage'?"
    """
    known = {known.casefold(): known for known in islice(names, MOST_COMPARED)}
    found = difflib.get_close_matches(name.casefold(), known, n=1)
    return f" Did you mean {shorten(known[found[0]])}?" if found else ""


def not_there(noun: str, name: object, names: Sequence[str]) -> str:
    """Say that there is no such name, suggest the closest one, and list the known names.

    >>> not_there("column", "stagee", ["age", "stage"])
    "There is no column 'stagee'. Did you mean 'stage'? The columns are 'age', 'stage'."
    """
    hint = did_you_mean(str(name), names)
    return f"There is no {noun} {shorten(name)}.{hint} The {noun}s are {listing(names, most=10)}."
