"""Building blocks of error messages: truncated values and lists, and "Did you mean" hints."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from cellworth.setting_names import setting
from cellworth.shown_numbers import shown

LONGEST_SHOWN = 40
"""Messages truncate values longer than this many characters."""
LEAST_STEM = 3
"""The first letters of a name are enough for a suggestion, from this many on."""
_NUMBERS = re.compile(r"[0-9]+")
MOST_COMPARED = 5_000
"""Search at most this many names for the closest one: a comparison takes about 20 microseconds."""


def shorten(value: object) -> str:
    """Return a value as Python would write it, truncated to `LONGEST_SHOWN` characters.

    >>> shorten("short"), shorten("x" * 100)
    ("'short'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' (100 characters)")
    """
    text = str(value)  # also of a string of NumPy, which would write its type
    start = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
    quoted = repr(start) if isinstance(value, str) else start
    return quoted if start == text else f"{quoted} ({len(text)} characters)"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, pluralized if needed.

    >>> count(1, "cell"), count(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{shown(number, ',')} {noun}" + ("" if number == 1 else "s")


def short_number(value: float, digits: int = 2) -> str:
    """Return a number with few significant digits, as people write it: without an exponent up to a billion.

    >>> short_number(1590.0), short_number(0.0123), short_number(-4.891, 3), short_number(1e160)
    ('1,600', '0.012', '-4.89', '1e+160')
    """
    rounded = float(f"{value:.{digits}g}")
    plain = rounded == 0 or 1e-4 <= abs(rounded) < 1e9
    return shown(rounded, ",.10g") if plain else shown(value, f".{digits}g")


def as_mark(text: str) -> str:
    """Return the `missing=` keyword that adds this text, abbreviated if the text is too long to show.

    >>> as_mark("n.k."), as_mark("x" * 100)
    ("missing=['n.k.']", 'missing=')
    """
    return setting("missing", text) if len(text) <= LONGEST_SHOWN else setting("missing")


def listing(values: Sequence[object], most: int = 3, total: int | None = None) -> str:
    """List the first values and count the rest; ``total`` is how many there are if only some are given.

    >>> listing(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    first, total = values[:most], len(values) if total is None else total
    names = ", ".join(shorten(value) for value in first)
    return names if total <= len(first) else f"{names} and {total - len(first)} more"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the closest name, as a sentence with a leading space; "" if none is close.

    Names that differ in their number, such as p17 and p18, are different, not close.

    >>> did_you_mean("stagee", ["age", "stage"])
    " Did you mean 'stage'?"
    """
    known = {known.casefold(): known for known in islice(names, MOST_COMPARED)}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, known, n=3)
    if len(wanted) >= LEAST_STEM and not _NUMBERS.search(wanted):
        near = [*(each for each in known if each.startswith(wanted)), *near]
    found = next((each for each in near if _is_slip(wanted, each)), None)
    return "" if found is None else f" Did you mean {shorten(known[found])}?"


def _is_slip(wrong: str, right: str) -> bool:
    """Return whether a name may be a typing error for another: a few letters differ, not the number in it."""
    digits, others = _NUMBERS.findall(wrong), _NUMBERS.findall(right)
    same_numbers = list(map(int, digits)) == list(map(int, others))
    if _NUMBERS.sub("#", wrong) == _NUMBERS.sub("#", right):
        return same_numbers
    if digits and others and not same_numbers and "".join(digits) != "".join(others):
        return False
    if len(wrong) >= LEAST_STEM and (right.startswith(wrong) or wrong.startswith(right)):
        return True
    same = difflib.SequenceMatcher(None, wrong, right, autojunk=False).get_matching_blocks()
    longer = max(len(wrong), len(right))
    few = (longer + 1) // 3 if wrong[:1] == right[:1] else longer // 4
    return longer - sum(block.size for block in same) <= max(1, few)


def not_there(noun: str, name: object, names: Sequence[str], total: int | None = None) -> str:
    """Say that there is no such name, suggest the closest one, and list the known names.

    ``total`` is how many there are if only some are given.

    >>> not_there("column", "stagee", ["age", "stage"])
    "There is no column 'stagee'. Did you mean 'stage'? The columns are 'age', 'stage'."
    """
    hint = did_you_mean(str(name), names)
    return f"There is no {noun} {shorten(name)}.{hint} The {noun}s are {listing(names, 10, total)}."
