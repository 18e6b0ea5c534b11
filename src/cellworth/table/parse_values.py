"""Convert texts and single values to the numbers that represent them, and values to text.

`parse_numbers` and `parse_booleans` take the texts of one column, stripped and without holes, and return None
if any text does not fit: success takes one pass in C, and the caller finds the bad text. `parse_value` takes
a single value of any type.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from numbers import Real

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.table.dates import day_number, days_from_stamps, parse_formatted

TRUE_WORDS = frozenset({"true", "yes"})
FALSE_WORDS = frozenset({"false", "no"})
LARGEST_INTEGER = 2**53 - 1
"""Integers up to this one are exact as float64."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_DRESSED = re.compile(
    r"[<>\u2264\u2265~]?\s*[\u20ac$\u00a3]?\s*[+-]?\d{1,3}(?:[,.' ]?\d{3})*(?:[.,]\d+)?"
    r"(\s*[%\u20ac$\u00a3]|\s[^\W\d_][\w/%\u00b0\u00b7^]{0,9})?"
)
_DECIMALS = re.compile(r"[+-]?\d+(?:\.(\d{1,9}))?", re.ASCII)
_WORD_PAIRS = (frozenset({"true", "false"}), frozenset({"yes", "no"}))


class Reworded(str):
    """A value as Python writes it that remembers how it was typed, for messages.

    >>> Reworded("131.5", "131,5").typed
    '131,5'
    """

    typed: str

    def __new__(cls, text: str, typed: str) -> Reworded:
        """Return the text, with what was typed."""
        found = super().__new__(cls, text)
        found.typed = typed
        return found

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # of str, one text
        """Return what makes the same value, as in another process."""
        return str(self), self.typed


def parse_numbers(texts: Sequence[str]) -> Float64Array | None:
    """Convert texts to numbers, including NaN and infinities; None if any text is not a number."""
    joined = "\n".join(texts)
    if "_" in joined or not joined.isascii():  # float() accepts "1_000" and non-ASCII digits; users mean text
        return None
    try:
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None


def is_number(text: str) -> bool:
    """Return whether the text is a number; "nan" and "inf" are."""
    return parse_numbers([text]) is not None


def are_whole(texts: Sequence[str]) -> bool:
    """Return whether numeric texts are all written as integers: no point, exponent, "inf" or "nan"."""
    joined = "\n".join(texts)
    return not any(mark in joined for mark in ".eEnN")


def parse_booleans(texts: Sequence[str], *, strict: bool) -> Float64Array | None:
    """Convert true/false and yes/no, in any case, to 1 and 0; None if any text is something else.

    If strict, as when inferring kinds, all words must come from the same pair; if not, 1 and 0 are accepted
    too.
    """
    words = [text.casefold() for text in texts]
    distinct = set(words)
    if strict and not any(distinct <= pair for pair in _WORD_PAIRS):
        return None
    if not distinct <= TRUE_WORDS | FALSE_WORDS | {"1", "0", "1.0", "0.0"}:
        return None
    code = {word: float(is_true(word)) for word in distinct}
    return np.fromiter(map(code.__getitem__, words), dtype=np.float64, count=len(words))


def boolean_words(counts: Counter[str]) -> tuple[str, str]:
    """Return how texts that `parse_booleans` accepts write false and true: the commonest spelling of each.

    If only one of the two is there, the other is its counterpart.

    >>> boolean_words(Counter(["Yes", "No", "Yes"])), boolean_words(Counter(["TRUE"]))
    (('No', 'Yes'), ('FALSE', 'TRUE'))
    """
    texts = [text for text, _ in counts.most_common()]
    found = [next((text for text in texts if is_true(text) == truth), None) for truth in (False, True)]
    no, yes = found
    if no is None and yes is not None:
        no = _counterpart(yes)
    if yes is None and no is not None:
        yes = _counterpart(no)
    return no or "false", yes or "true"


def is_true(word: str) -> bool:
    """Return whether a word that `parse_booleans` accepts means true."""
    return word.casefold() in TRUE_WORDS or word.startswith("1")


def _counterpart(word: str) -> str:
    pairs = {"yes": "no", "true": "false", "1": "0", "1.0": "0.0"}
    other = (pairs | {no: yes for yes, no in pairs.items()})[word.casefold()]
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def common_decimals(texts: Iterable[str]) -> int:
    """Return how many decimals each of some numbers is written with; 0 if they differ, or have many.

    -1 if some are written without a point.

    >>> common_decimals(["687.50", "-3.25"]), common_decimals(["687.5", "3.25"]), common_decimals(["1e5"])
    (2, 0, 0)
    >>> common_decimals(["2", "2.5"])
    -1
    """
    matches = list(map(_DECIMALS.fullmatch, texts))
    found = {-1 if match is None else len(match[1] or "") for match in matches}
    if 0 in found:
        return -1
    return found.pop() if len(found) == 1 and min(found) > 0 else 0


def number_text(value: float, decimals: int = 0) -> str:
    """Return a number as text that reads back exactly, with at least so many decimals; see `common_decimals`.

    >>> number_text(687.5, 2), number_text(0.125, 2), number_text(1e22, 2), number_text(2.0, -1)
    ('687.50', '0.125', '1e+22', '2')
    """
    text = repr(value)
    if not decimals or "e" in text or "n" in text:  # inf and nan have an n
        return text
    if decimals < 0:
        return text.removesuffix(".0")
    return text + "0" * (decimals - len(text.partition(".")[2]))


def is_comma_number(text: str) -> bool:
    """Return whether the text looks like a number with a comma in it, such as 1,5 or 12,000."""
    return _COMMA_NUMBER.fullmatch(text) is not None


def unit_of(text: str) -> str:
    """Return the unit that stands behind a number, as typed; empty if there is none, or no number.

    >>> unit_of("5.4 mmol/l"), unit_of("45%"), unit_of("3.2"), unit_of("two mg")
    ('mmol/l', '%', '', '')
    """
    found = _DRESSED.fullmatch(text)
    return (found[1] or "").strip() if found is not None else ""


def are_dressed_numbers(texts: Iterable[str]) -> bool:
    """Return whether several texts are numbers with a unit, per cent, currency or thousands mark beside them.

    >>> are_dressed_numbers(["45 %", "50%"]), are_dressed_numbers(["1.80 m", "2 m"])
    (True, True)
    >>> are_dressed_numbers(["<0.5", "1,250.00"]), are_dressed_numbers(["3a", "3b"])
    (True, False)
    """
    found = list(map(_DRESSED.fullmatch, texts))
    marks = {match[1].strip() for match in found if match is not None and match[1]}
    return len(found) > 1 and None not in found and len(marks) <= 1


def label(value: object) -> str:
    """Return the text that represents a value as a category, a row id or a missing mark.

    A whole float loses its ".0", because frames turn integers into floats as soon as one is missing.

    >>> label(3.0), label(2.5), label(True), label(" red ")
    ('3', '2.5', 'True', 'red')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        whole = number.is_integer() and abs(number) <= LARGEST_INTEGER
        return str(int(number)) if whole else repr(number)
    if isinstance(value, date):
        return value.isoformat()
    return str(value).strip()


def cannot_be_stored(text: str) -> bool:
    """Return whether the text would not survive a UTF-8 file: it has a NUL or a lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return "\0" in text


def parse_value(
    value: object, kind: str, categories: Sequence[str] = (), date_format: str | None = None
) -> float | None:
    """Convert a text or value to the number that represents it; None if it does not fit the kind.

    Checks the kind and the categories, not the bounds. A blank text fits no kind. Dates may be written in
    ISO 8601 or in the format.
    """
    if isinstance(value, str):
        value = value.strip()
    if kind in ("ordered", "category"):
        text = label(value)
        return float(categories.index(text)) if text in categories else None
    if kind == "boolean":
        codes = parse_booleans([label(value)], strict=False)
        return None if codes is None else float(codes[0])
    if kind == "date":
        return _parse_date(value, date_format)
    number = _parse_number(value)
    return number + 0.0 if number is not None and kind == "integer" else number  # -0.0 becomes 0.0


def _parse_number(value: object) -> float | None:
    if isinstance(value, str):
        number = float(value) if is_number(value) else math.nan
    elif isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except (OverflowError, ValueError):
            return None
    else:
        return None
    return number if math.isfinite(number) else None


def _parse_date(value: object, date_format: str | None) -> float | None:
    try:
        if isinstance(value, str):
            return parse_formatted(value, date_format)
        if isinstance(value, np.datetime64):
            days = float(days_from_stamps(np.array([value]))[0])
            return None if math.isnan(days) else days
        return day_number(value) if isinstance(value, date) else None
    except (ValueError, TypeError):  # pandas.NaT is a date, but arithmetic on it fails
        return None
