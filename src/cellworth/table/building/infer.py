"""Find the kind of a column from its texts, and refuse to guess where a guess would hide a mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from cellworth.errors import DataError
from cellworth.table.column import Kind
from cellworth.table.source import Floats, Rows, Source
from cellworth.table.values.dates import is_date, looks_like_date, parse_dates
from cellworth.table.values.text import are_whole, is_comma_number, is_number, parse_booleans, parse_numbers
from cellworth.wording import as_mark, shorten

MOST_DIFFERENT_TEXTS = 100
"""A column of more different texts than this, most of them met once, is taken for names, not categories."""


def find_kind(texts: Sequence[str], rows: Rows, column: str, source: Source) -> tuple[Kind, Floats | None]:
    """Find the kind of observed texts, and their numbers where the search came upon them.

    Tried in turn: whole numbers, numbers, true/false and yes/no, ISO dates; the rest are categories.
    O(m) for m texts.

    Parameters
    ----------
    texts : sequence of str of length m
        The observed cells, not empty.
    rows : ndarray of shape (m,)
        Their rows, for messages.
    column, source
        Their place, for messages.

    Returns
    -------
    kind : Kind
    values : ndarray of shape (m,) or None
        None for categories.

    Raises
    ------
    DataError
        If most texts but not all are numbers or dates, are numbers with a comma, or if nearly all differ.
    """
    numbers = parse_numbers(texts)
    if numbers is not None:
        return ("integer" if are_whole(texts) else "number"), numbers
    booleans = parse_booleans(texts, strict=True)
    if booleans is not None:
        return "boolean", booleans
    dates = parse_dates(texts)
    if dates is not None:
        return "date", dates
    _refuse_doubtful(texts, rows, column, source)
    return "category", None


def _refuse_doubtful(texts: Sequence[str], rows: Rows, column: str, source: Source) -> None:
    counts = Counter(texts)
    as_category = f"set kinds={{{column!r}: 'category'}} if the column holds text"

    def mostly(test: Callable[[str], bool]) -> bool:
        return 2 * sum(count for text, count in counts.items() if test(text)) >= len(texts)

    def refuse(problem: str, fits: Callable[[str], bool], remedy: str) -> DataError:
        bad = [place for place, text in enumerate(texts) if not fits(text)]
        return source.cell_error(column, problem, rows[bad], [texts[place] for place in bad[:3]], remedy)

    if mostly(is_number):
        mark = next(text for text in texts if not is_number(text))
        remedy = f"Add it to {as_mark(mark)} if it marks a hole, or {as_category}."
        raise refuse("text in a numeric column: expected numbers", is_number, remedy)
    if mostly(looks_like_date):
        remedy = f"Correct the dates, add the text to missing= if it marks a hole, or {as_category}."
        raise refuse("expected dates such as 2020-12-31", is_date, remedy)
    if mostly(is_comma_number):
        remedy = f"Write 1.5 for one and a half and 12000 for twelve thousand, or {as_category}."
        raise refuse("expected numbers without a comma", lambda text: not is_comma_number(text), remedy)
    if len(counts) > MOST_DIFFERENT_TEXTS and 2 * len(counts) > len(texts):
        raise DataError(
            f"{source.column(column)}: {len(counts)} different texts in {len(texts)} observed cells, such as "
            f"{shorten(texts[0])}, look like names and not like categories. Use row_id={column!r} if they "
            f"name the rows, leave the column out, or {as_category}."
        )
