"""Cells of any form to the values of a wanted kind; every cell that does not fit is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np

from cellworth.errors import ParameterError
from cellworth.table.building.holes import BLANKS
from cellworth.table.column import Kind
from cellworth.table.reading.cells import Cells, CodedCells, NumberCells, as_texts
from cellworth.table.source import Floats, Rows, Source
from cellworth.table.values.dates import is_date, parse_dates
from cellworth.table.values.text import is_number, parse_booleans, parse_numbers
from cellworth.wording import as_mark, did_you_mean, listing, shorten


def to_values(cells: Cells, kind: Kind, column: str, source: Source) -> Floats:
    """Turn cells into the values (n,) of a kind without categories, NaN = hole; O(n)."""
    if isinstance(cells, NumberCells) and _fits(cells, kind):
        return cells.values
    texts = as_texts(cells).texts
    rows = np.flatnonzero(np.fromiter(map(bool, texts), dtype=np.bool_, count=len(texts)))
    observed = parse_observed(list(filter(None, texts)), rows, kind, column, source)
    return scatter(len(texts), rows, observed)


def scatter(length: int, rows: Rows, observed: Floats) -> Floats:
    """Put the observed values back into a column of that length, NaN elsewhere."""
    values = np.full(length, np.nan)
    values[rows] = observed
    return values


def parse_observed(texts: Sequence[str], rows: Rows, kind: Kind, column: str, source: Source) -> Floats:
    """Turn observed texts into values of the wanted kind; DataError names those that do not fit."""
    parse, fits, expected = _PARSERS[kind]
    values = parse(texts)
    if values is not None:
        return values
    bad = [place for place, text in enumerate(texts) if not fits(text)]
    raise source.cell_error(
        column,
        f"expected {expected}",
        rows[bad],
        [texts[place] for place in bad[:3]],
        f"Correct it, add it to {as_mark(texts[bad[0]])} if it marks a hole, "
        f"or set kinds={{{column!r}: 'category'}} if the column holds text.",
    )


def to_codes(
    cells: Cells, categories: tuple[str, ...] | None, column: str, source: Source
) -> tuple[Floats, tuple[str, ...]]:
    """Turn cells into places (n,) in the categories, NaN = hole; found and sorted if they are not given."""
    if isinstance(cells, CodedCells) and categories in (None, cells.categories):
        return cells.codes, cells.categories
    texts = as_texts(cells).texts
    observed = np.fromiter(map(bool, texts), dtype=np.bool_, count=len(texts))
    known = tuple(compress(texts, observed))
    if categories is None:
        categories = tuple(sorted(set(known)))
    _check_labels(categories, column)
    code = {text: float(place) for place, text in enumerate(categories)}
    rows = np.flatnonzero(observed)
    unknown = set(known) - code.keys()
    if unknown:
        bad = [place for place, text in enumerate(known) if text in unknown]
        raise source.cell_error(
            column,
            f"expected one of {listing(categories, most=10)}",
            rows[bad],
            [known[place] for place in bad[:3]],
            f"Add it to categories={{{column!r}: [...]}}, or to missing= if it marks a hole."
            + did_you_mean(known[bad[0]], categories),
        )
    codes = np.fromiter(map(code.__getitem__, known), dtype=np.float64, count=len(known))
    return scatter(len(texts), rows, codes), categories


def refuse_infinities(values: Floats, column: str, source: Source) -> None:
    """Raise DataError if a value is infinite."""
    rows = np.flatnonzero(np.isinf(values))
    if rows.size:
        raise source.cell_error(
            column,
            "expected finite numbers",
            rows,
            [str(value) for value in values[rows[:3]]],
            "Correct the cell, or add it to missing=['inf', '-inf'] if it marks a hole.",
        )


def _fits(cells: NumberCells, kind: Kind) -> bool:
    if kind in ("number", "integer"):
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


_PARSERS: dict[Kind, tuple[Callable[[Sequence[str]], Floats | None], Callable[[str], bool], str]] = {
    "number": (parse_numbers, is_number, "numbers"),
    "integer": (parse_numbers, is_number, "whole numbers"),
    "boolean": (
        lambda texts: parse_booleans(texts, strict=False),
        _is_boolean,
        "true or false (yes or no, 1 or 0)",
    ),
    "date": (parse_dates, is_date, "dates such as 2020-12-31 or 2020-12-31T23:59:59"),
}
