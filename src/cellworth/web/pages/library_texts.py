"""Sentences that the library makes, in the words and the language of the pages.

Each has a pattern, as the library writes it, and a text of the catalogue; both name their parts in braces.
Most parts are names and values of the user, and stay as they are. Those in `PHRASES` are made by the
library, too, and have patterns of their own. A message may be several sentences, and the first may begin
with a place: ``patients.csv, column 'age': ...``. What has no pattern is shown as it is; a test reads the
library's source and finds every message that has none.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from cellworth.web.pages import campaign_sentences, file_sentences, server_sentences, value_sentences
from cellworth.web.pages.language import catalogue, message, read_number, shown_value

_HOMES = (value_sentences, file_sentences, campaign_sentences, server_sentences)
SENTENCES: dict[str, str] = {
    **{each: each for home in _HOMES for each in home.SAME},
    **{pattern: words for home in _HOMES for pattern, words in home.SENTENCES.items()},
}
"""What the library writes, and what the pages say."""

_NAME = r"""(?:'[^']*'|"[^"]*")(?: \(\d+ characters\))?"""  # a long one is cut, and its length said
_ANY = f"(?:{_NAME}|(?![.:;] )[^'\"])+?"  # outside quotes not beyond a sentence or a place
_PHRASE = f"(?:{_NAME}|(?![.] )[^'\"])*?"
_ITEM = rf"(?:{_NAME}|[\w.+-]+)(?: in row (?:{_NAME})(?: \(line \d+\))?)?"
PHRASES = {
    **dict.fromkeys(("expected", "came", "so", "note", "guess", "luck", "thing", "problem", "what"), _PHRASE),
    **dict.fromkeys(("setting", "other", "another", "as_category", "kind", "other_kind"), _ANY),
    **dict.fromkeys(("hint", "bounds", "rest", "where", "no_day"), f"(?:|[ ;]{_PHRASE}[.?]?)"),
    "also": f"(?:|, {_PHRASE})",
}
"""Parts of sentences that are phrases of the library, too, and what they may look like."""
LISTS = ("names", "ids", "options", "cells")
"""Parts that list what the user has; the library may say where each is, and how many more there are."""
MAYBE = (*LISTS, "example", "old", "new")
"""Parts that are perhaps phrases, perhaps names and values of the user."""
NUMBERS = frozenset(
    [
        "off",
        "least_off",
        "most_off",
        "share",
        "low",
        "high",
        "much",
        "guessed",
        "times",
        "gain",
        "most",
        "money",
        "worth",
        "price",
        "left",
        "n",
        "total",
        "got",
        "known",
        "lines",
        "size",
        "spent",
        "reserved",
        "least",
        "old",
        "new",
        "lowest",
        "highest",
        "one",
        "two",
    ]
)
"""Parts that may be numbers, perhaps with a unit, which each language writes in its own way."""
SHAPES = {
    **dict.fromkeys(("row", "column", "label"), _NAME),
    "value": rf"(?:{_NAME}|\S+)",
    **dict.fromkeys(("old", "new"), rf"(?:{_NAME}|[^,'\"]+|[\d.,]+(?: [A-Z]+)?)"),
    **dict.fromkeys(("off", "least_off", "most_off"), r"[\d.,e+-]+"),
    **dict.fromkeys(("n", "k"), r"[\d.,]+"),
    **dict.fromkeys(("how", "quoted", "command", "detail"), ".+?"),
    **dict.fromkeys(LISTS, rf"{_ITEM}(?:, {_ITEM})*(?: and [\d,]+ more)?"),
    **dict.fromkeys(("one_example", "other_example"), r"[^\s']+"),
    "example": r"\S+(?: or \S+)?",
    "low": r"[+-]?\d\S*",
    "high": r"[+-]?\d\S*?",
    "line": r"\w+",
    "s": "s?",
    "of_unit": "(?:| [^.,:;]{1,30})",
    "error": r"(?:(?!\. [A-Z]).)+?",
}
"""What some other parts look like; by default anything up to the end of the sentence."""

DAYS = message(" days")
"""The unit of the error of dates."""
# 1,234.5 but not 30.12.2020, which is a date as a table may write it.
_NUMBER = re.compile(r"([±+-]?)(\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)(%?)((?: .*)?)", re.DOTALL)
_FILE = re.compile(r"\S+|.*\.\w{1,8}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+)?")
_CUT = re.compile(r"\.\.\.(['\"]) \(\d+ characters\)")
_BETWEEN = re.compile(r"(?<=[.?!]) (?=\S)")


@lru_cache(maxsize=10_000)
def said(text: str, language: str) -> str:
    """Return a message of the library as the pages say it in a language; any other text as it is.

    >>> said("column 'age': expected a whole number from 0 to 120, got 'x'.", "de")
    "'age': erwartet wird eine ganze Zahl von 0 bis 120, nicht 'x'."
    """
    found = said_or_none(text, language)
    return text if found is None else found


@lru_cache(maxsize=10_000)
def said_or_none(text: str, language: str) -> str | None:
    """Return a message as the pages say it; None if it is none of the library's.

    >>> said_or_none("a.csv, line 3: expected text, got a NUL character. Split it.", "de")
    'a.csv, Zeile 3: Die Datei enthält etwas, das kein Text ist. Teilen Sie sie auf.'
    """
    for pattern, words in _patterns():
        found = pattern.fullmatch(text)
        if found is not None:
            parts = {name: _part(name, part, language) for name, part in found.groupdict(default="").items()}
            if None not in parts.values():
                return _CUT.sub(r"…\1", catalogue(language).gettext(words).format(**parts))
    for mark in re.finditer(": ", text):
        place, rest = text[: mark.start()], said_or_none(text[mark.end() :], language)
        where = said_or_none(place, language) or (place if _FILE.fullmatch(place) else None)
        if where is not None and rest is not None:
            return f"{where}: {rest}"
    for mark in _BETWEEN.finditer(text):
        sentence = said_or_none(text[: mark.start()], language)
        rest = said_or_none(text[mark.end() :], language)
        if sentence is not None and rest is not None:
            return f"{sentence} {rest}"
    return None


def _part(name: str, part: str, language: str) -> str | None:
    """Return a part of a sentence; None if it should be a phrase of the library and is none."""
    if name in PHRASES and part:
        words = part.lstrip(" ")
        found = said_or_none(words, language)
        return None if found is None else part.replace(words, found)
    if name in MAYBE:
        found = said_or_none(part, language)
        if found is not None:
            return found
    if name in LISTS:
        return ", ".join(said(each, language) for each in part.split(", "))
    if name == "label":
        return f"'{catalogue(language).gettext(part[1:-1])}'"
    if _DATE.fullmatch(part):
        return shown_value(part, "date", language)
    number = _NUMBER.fullmatch(part) if name in NUMBERS else None
    if number is not None:
        sign, digits, percent, unit = number.groups()
        return f"{sign}{read_number(digits, language)}{' %' if percent else ''}{unit}"
    return catalogue(language).gettext(DAYS) if name == "of_unit" and part == DAYS else part


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns, those with the most words of their own first."""
    by_words = sorted(
        SENTENCES, key=lambda each: (-len(re.sub(r"\{\w+\}", "", each)), "{setting}" not in each)
    )
    return [(_pattern(sentence), SENTENCES[sentence]) for sentence in by_words]


def _pattern(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", sentence)
    for place in range(1, len(parts), 2):
        name = parts[place]
        parts[place] = f"(?P<{name}>{PHRASES.get(name) or SHAPES.get(name, _ANY)})"
    for place in range(0, len(parts), 2):
        parts[place] = re.escape(parts[place])
    return re.compile("".join(parts), re.DOTALL)
