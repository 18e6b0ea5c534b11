"""Which cells are holes: blanks, NaN, and the marks that the user names with `missing=`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress, product

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.table.dates import is_date, parse_date
from cellworth.table.raw_cells import Cells, CodedCells, NumberCells, TextCells, labels
from cellworth.table.values import is_number, parse_numbers

_NAN = {sign + "".join(letters) for sign in ("", "+", "-") for letters in product("nN", "aA", "nN")}
BLANKS = frozenset({"", "NaT"} | _NAN)
"""Texts that are holes in every column: blanks, and the ways programs write "not a number"."""


@dataclass(frozen=True)
class MissingMarks:
    """The marks of holes in one column, as texts, numbers and days."""

    texts: frozenset[str] = BLANKS
    numbers: tuple[float, ...] = ()
    days: tuple[float, ...] = ()


def missing_marks(marks: Iterable[object]) -> MissingMarks:
    """Collect the user's marks; one that parses as a number or date also matches equal numbers or dates."""
    texts = set(labels(marks))
    return MissingMarks(
        texts=BLANKS | texts,
        numbers=tuple(float(text) for text in sorted(texts) if is_number(text)),
        days=tuple(parse_date(text) for text in sorted(texts) if is_date(text)),
    )


def open_holes(cells: Cells, marks: MissingMarks) -> Cells:
    """Turn cells that match a mark into holes; O(n)."""
    if isinstance(cells, TextCells):
        return _open_in_texts(cells, marks)
    if isinstance(cells, CodedCells):
        return _open_in_codes(cells, marks)
    known = {"date": marks.days, "boolean": ()}.get(cells.kind, marks.numbers)
    return NumberCells(_without(cells.values, known), cells.kind) if known else cells


def _open_in_texts(cells: TextCells, marks: MissingMarks) -> TextCells:
    texts = list(cells.texts)
    if not (marks.texts - {""}).isdisjoint(texts):
        texts = ["" if text in marks.texts else text for text in texts]
    if marks.numbers:  # the mark -9 also matches -9.0 in the file
        observed = [text != "" for text in texts]
        numbers = parse_numbers(list(compress(texts, observed)))
        if numbers is not None:
            places = np.flatnonzero(observed)[np.isin(numbers, marks.numbers)]
            for place in places:
                texts[place] = ""
    return TextCells(texts)


def _open_in_codes(cells: CodedCells, marks: MissingMarks) -> CodedCells:
    marked = [place for place, text in enumerate(cells.categories) if text in marks.texts]
    if not marked:
        return cells
    kept = [text for text in cells.categories if text not in marks.texts]
    place_in_kept = {text: float(place) for place, text in enumerate(kept)}
    new_codes = np.array([place_in_kept.get(text, np.nan) for text in cells.categories])
    codes = np.where(cells.holes, np.nan, new_codes[np.nan_to_num(cells.codes).astype(np.intp)])
    return CodedCells(codes, tuple(kept), cells.ordered)


def _without(values: Float64Array, marks: tuple[float, ...]) -> Float64Array:
    return np.where(np.isin(values, marks), np.nan, values)
