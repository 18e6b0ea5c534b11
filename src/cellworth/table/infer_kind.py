"""Infer the kind of a column, convert its cells to values of that kind, and report cells that do not fit."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.messages import as_mark, did_you_mean, listing, shorten
from cellworth.setting_names import setting
from cellworth.table.column import NUMERIC, Kind
from cellworth.table.dates import is_date, is_no_day, likely_date_formats, looks_like_date, parse_dates
from cellworth.table.missing_marks import BLANKS
from cellworth.table.parse_values import (
    are_dressed_numbers,
    are_whole,
    is_comma_number,
    is_number,
    parse_booleans,
    parse_numbers,
)
from cellworth.table.raw_cells import Cells, CodedCells, NumberCells, Origin, TextCounts, as_texts

MOST_DIFFERENT_TEXTS = 100
"""More distinct texts than this, most of them unique, look like names rather than categories."""
MOST_LEVELS = 10
"""Up to this many texts such as 5 mg may be meant as categories, and up to this many may all differ."""
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")


def find_kind(cells: TextCounts, column: str, origin: Origin) -> tuple[Kind, Float64Array | None]:
    """Infer the kind of texts, and return their values if inference had to parse them.

    Tried in turn: integers, numbers, true/false and yes/no, ISO dates; anything else is a category. O(m) for
    m distinct texts.

    Parameters
    ----------
    cells : TextCounts
        At least one cell is observed.
    column, origin
        Where they come from, for messages.

    Returns
    -------
    kind : Kind
    values : ndarray of shape (m,) or None
        The values of the distinct texts; None for categories.

    Raises
    ------
    DataError
        If most but not all texts are numbers or dates, if most are numbers with a comma, or if most of more
        than `MOST_DIFFERENT_TEXTS` texts differ. A `ReadWarning` if all of more than `MOST_LEVELS` do, or
        if all cells that are known have the same text.
    """
    texts = cells.distinct
    numbers = parse_numbers(texts)
    if numbers is not None:
        return ("integer" if are_whole(texts) else "number"), numbers
    booleans = parse_booleans(texts, strict=True)
    if booleans is not None:
        return "boolean", booleans
    dates = parse_dates(texts)
    if dates is not None:
        return "date", dates
    _refuse_doubtful(cells, column, origin)
    return "category", None


def _refuse_doubtful(cells: TextCounts, column: str, origin: Origin) -> None:
    counts, texts, total = cells.counts, cells.distinct, cells.total
    as_category = _as_category(column)

    def mostly(test: Callable[[str], bool]) -> bool:
        return 2 * sum(count for text, count in counts.items() if test(text)) >= total

    def refuse(problem: str, fits: Callable[[str], bool], remedy: str) -> DataError:
        return _error(cells, fits, problem, remedy, column, origin)

    if mostly(is_number):
        remedy = _correct_or_declare(next(text for text in texts if not is_number(text)), column)
        raise refuse("text in a numeric column: expected numbers", is_number, remedy)
    if mostly(looks_like_date):
        remedy = (
            f"Correct the dates, add the text to {setting('missing')} if it marks a hole, or {as_category}."
        )
        raise refuse(f"expected dates such as {origin.date_example}{_no_day(texts)}", is_date, remedy)
    formats = likely_date_formats([text for text in texts if not is_no_day(text)])
    if formats:
        if any(map(is_no_day, texts)):
            remedy = f"Correct the dates, or {as_category}."
            raise refuse("expected days that exist", lambda text: not is_no_day(text), remedy)
        raise DataError(
            f"{origin.column(column)}: {shorten(texts[0])} looks like a date. Say how dates are written with "
            f"{' or '.join(setting('date_format', each) for each in formats)}, or {as_category}."
        )
    if mostly(is_comma_number):
        remedy = (
            f"Say so with {setting('decimal', ',')} if commas are decimal marks, write 12000 for twelve "
            "thousand, or "
            f"{as_category}."
        )
        raise refuse("expected numbers without a comma", lambda text: not is_comma_number(text), remedy)
    if are_dressed_numbers(texts):
        said = (
            f"{origin.column(column)}: {shorten(texts[0])} looks like a number with something beside it. "
            f"Write the digits alone, and the unit in {setting('units', column=column)}, or {as_category}."
        )
        if len(texts) > MOST_LEVELS:
            raise DataError(said)
        warnings.warn(said, ReadWarning, stacklevel=2)
    if len(texts) == 1 and total < len(cells.codes):
        said = (
            f"{origin.column(column)}: the only text is {shorten(texts[0])}, so guesses and answers "
            f"can be no other yet. Name all that it may have in {setting('categories', column=column)}, or "
            "leave the column out."
        )
        warnings.warn(said, ReadWarning, stacklevel=2)
    too_many = len(counts) > MOST_DIFFERENT_TEXTS and 2 * len(counts) > total
    if too_many or len(counts) == total > MOST_LEVELS:
        said = (
            f"{origin.column(column)}: {len(counts)} different texts in {total} observed cells, such as "
            f"{shorten(texts[0])}, look like names and not like categories. Use "
            f"{setting('row_id', column)} if they "
            f"name the rows, leave the column out, or {as_category}."
        )
        if too_many:
            raise DataError(said)
        warnings.warn(said, ReadWarning, stacklevel=2)


def warn_of_spellings(categories: Sequence[str], column: str, origin: Origin) -> None:
    """Warn if two categories differ only in capitals, spaces or kinds of dashes: slips, as a rule; O(m)."""
    by_letters: dict[str, list[str]] = {}
    for text in categories:
        letters = " ".join(unicodedata.normalize("NFKC", text).translate(_DASHES).casefold().split())
        by_letters.setdefault(letters, []).append(text)
    alike = [text for texts in by_letters.values() if len(texts) > 1 for text in texts]
    if alike:
        warnings.warn(
            f"{origin.column(column)}: {listing(alike, most=4)} differ only in capitals, spaces or dashes, "
            "and count as different categories. Write them alike if they mean the same; to keep them and "
            f"silence this, name all categories in {setting('categories', column=column)}.",
            ReadWarning,
            stacklevel=2,
        )


def to_values(cells: Cells, kind: Kind, column: str, origin: Origin) -> Float64Array:
    """Convert cells to values (n,) of a kind without categories, NaN = hole; O(n)."""
    if isinstance(cells, NumberCells) and _fits(cells, kind):
        return cells.values
    counted = as_texts(cells).text_counts
    parse, fits, expected = _PARSERS[kind]
    values = parse(counted.distinct) if counted.distinct else np.zeros(0)
    if values is not None:
        return counted.spread(values)
    bad = next(text for text in counted.distinct if not fits(text))
    remedy = _correct_or_declare(bad, column)
    if kind == "date" and origin.date_format is not None:
        expected = f"dates such as {origin.date_example}"
    no_day = _no_day(counted.distinct) if kind == "date" else ""
    raise _error(counted, fits, f"expected {expected}{no_day}", remedy, column, origin)


def _as_category(column: str) -> str:
    return f"set {setting('kinds', 'category', column=column)} if the column holds text"


def _correct_or_declare(text: str, column: str) -> str:
    """Return what to do about a text among values of another kind."""
    return f"Correct it, add it to {as_mark(text)} if it marks a hole, or {_as_category(column)}."


def _no_day(texts: Iterable[str]) -> str:
    """Return what is added to a message if one of the texts is a date that does not exist."""
    return next((f" ({shorten(text)} is a day that does not exist)" for text in texts if is_no_day(text)), "")


def _error(
    cells: TextCounts, fits: Callable[[str], bool], problem: str, remedy: str, column: str, origin: Origin
) -> DataError:
    """Return the error for the cells whose texts do not fit."""
    rows = cells.rows_of([place for place, text in enumerate(cells.distinct) if not fits(text)])
    shown = [cells.distinct[cells.codes[row]] for row in rows[:3]]
    return origin.cell_error(column, problem, rows, shown, remedy)


def to_codes(
    cells: Cells, categories: tuple[str, ...] | None, column: str, origin: Origin, *, ordered: bool = False
) -> tuple[Float64Array, tuple[str, ...]]:
    """Convert cells to indices (n,) into the categories, by default all texts, sorted; NaN = hole.

    ``ordered`` is for messages: the command line has an option of its own for the order of a column.
    """
    if isinstance(cells, CodedCells) and categories in (None, cells.categories):
        return cells.codes, cells.categories
    counted = as_texts(cells).text_counts
    if categories is None:
        categories = tuple(sorted(counted.distinct))
    _check_labels(categories, column)
    code = {text: float(place) for place, text in enumerate(categories)}
    unknown = [text for text in counted.distinct if text not in code]
    if unknown:
        remedy = (
            f"Add it to {setting('order' if ordered else 'categories', column=column)}, or to "
            f"{setting('missing')} if it marks a hole." + did_you_mean(unknown[0], categories)
        )
        problem = f"expected one of {listing(categories, most=10)}"
        raise _error(counted, code.__contains__, problem, remedy, column, origin)
    return counted.spread(np.array([code[text] for text in counted.distinct], dtype=np.float64)), categories


def refuse_infinities(values: Float64Array, column: str, origin: Origin) -> None:
    """Raise DataError if a value is infinite."""
    rows = np.flatnonzero(np.isinf(values))
    if rows.size:
        raise origin.cell_error(
            column,
            "expected finite numbers",
            rows,
            [str(value) for value in values[rows[:3]]],
            f"Correct the cell, or say {setting('missing', 'inf')} if it marks a hole.",
        )


def _fits(cells: NumberCells, kind: Kind) -> bool:
    if kind in NUMERIC:
        return cells.kind in ("number", "integer", "boolean")
    if kind == "boolean":
        return bool(np.all(np.isin(cells.values, (0, 1)) | cells.holes)) and cells.kind != "date"
    return cells.kind == kind


def _check_labels(categories: tuple[str, ...], column: str) -> None:
    blank = [text for text in categories if text in BLANKS]
    if blank:
        raise ParameterError(
            f"categories, column {shorten(column)}: {listing(blank)} is read as a hole, not as a category. "
            "Give the category another text."
        )


def _is_boolean(text: str) -> bool:
    return parse_booleans([text], strict=False) is not None


_PARSERS: dict[Kind, tuple[Callable[[Sequence[str]], Float64Array | None], Callable[[str], bool], str]] = {
    "number": (parse_numbers, is_number, "numbers"),
    "integer": (parse_numbers, is_number, "whole numbers"),
    "boolean": (
        lambda texts: parse_booleans(texts, strict=False),
        _is_boolean,
        "true or false (yes or no, 1 or 0)",
    ),
    "date": (parse_dates, is_date, "dates such as 2020-12-31 or 2020-12-31T23:59:59"),
}
