"""Which cells are holes: blanks, NaN, usual marks such as NA, and those the user names with `missing=`."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.errors import MissingMarkWarning, ReadWarning
from cellworth.messages import listing, short_number
from cellworth.setting_names import by_door, setting
from cellworth.table.dates import is_date, parse_date
from cellworth.table.parse_values import is_number, parse_numbers
from cellworth.table.raw_cells import (
    Cells,
    CodedCells,
    LazyTexts,
    NumberCells,
    Numbers,
    Origin,
    TextCells,
    labels,
)

LEAST_OTHERS = 5
"""Other numbers that a column must have before one is said to be far outside them."""
_NAN = {sign + "".join(letters) for sign in ("", "+", "-") for letters in product("nN", "aA", "nN")}
BLANKS = frozenset({"", "NaT"} | _NAN)
"""Texts that are holes in every column: blanks, and the ways programs write "not a number"."""

USUAL_MARKS = BLANKS | {
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "None", "n/a", "null",
}  # fmt: skip
"""Texts that are holes unless the column's categories name them: those of ``pandas.read_csv``."""
LOOKALIKES = frozenset(
    {"?", "-", "--", "---", ".", "..", "*", "n.a.", "n. a.", "na", "none", "nil", "unknown", "unk", "missing",
     "not known", "not available", "not applicable", "not specified", "unspecified", "undefined", "nd",
     "n.d.", "tbd", "tba", "k.a.", "n.k.", "#null!", "#value!", "#ref!", "#div/0!", "-9", "-99", "-999"}
)  # fmt: skip
"""Texts, casefolded, that often mark a hole but may be categories: they cause a warning."""


@dataclass(frozen=True)
class MissingMarks:
    """The marks of holes in one column, as texts, numbers and days.

    ``texts`` apply to text in files and frames; ``stated``, without the usual marks, where a frame declares
    its categories.
    """

    texts: frozenset[str] = USUAL_MARKS
    stated: frozenset[str] = BLANKS
    numbers: tuple[float, ...] = ()
    days: tuple[float, ...] = ()


def missing_marks(marks: Iterable[object], categories: Collection[str] = ()) -> MissingMarks:
    """Collect the user's marks; one that parses as a number or date also matches equal numbers or dates.

    The usual marks are added, without those that are named as ``categories``.
    """
    texts = set(labels(marks))
    return MissingMarks(
        texts=BLANKS | (USUAL_MARKS - set(categories)) | texts,
        stated=BLANKS | texts,
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
    if cells.numbers is not None:
        opened = _open_in_numbers(cells.numbers, marks)
        if opened is not None:
            plain = TextCells(cells.texts)
            return TextCells(LazyTexts(len(cells.texts), lambda: _open_in_texts(plain, marks).texts), opened)
    distinct = cells.text_counts.distinct
    marked = marks.texts.intersection(distinct)
    if marks.numbers:  # the mark -9 also matches -9.0 in the file
        others = [text for text in distinct if text not in marked]
        numbers = parse_numbers(others)
        if numbers is not None:
            marked |= set(compress(others, np.isin(numbers, marks.numbers)))
    if not marked:
        return cells
    return TextCells.counted(cells.text_counts.renamed(["" if text in marked else text for text in distinct]))


def _open_in_numbers(numbers: Numbers, marks: MissingMarks) -> Numbers | None:
    """Return the numbers without the marked ones; None if only the texts tell whether the rest are whole."""
    marked = marks.days if numbers.kind == "date" else marks.numbers
    if not marked or not np.isin(numbers.values, marked).any():
        return numbers
    values = _without(numbers.values, marked)
    has_fraction = bool(np.any(~np.isnan(values) & (values != np.rint(values))))
    return replace(numbers, values=values) if numbers.kind != "number" or has_fraction else None


def _open_in_codes(cells: CodedCells, marks: MissingMarks) -> CodedCells:
    marked = [place for place, text in enumerate(cells.categories) if text in marks.stated]
    if not marked:
        return cells
    kept = [text for text in cells.categories if text not in marks.stated]
    place_in_kept = {text: float(place) for place, text in enumerate(kept)}
    new_codes = np.array([place_in_kept.get(text, np.nan) for text in cells.categories])
    codes = np.where(cells.holes, np.nan, new_codes[np.nan_to_num(cells.codes).astype(np.intp)])
    return CodedCells(codes, tuple(kept), cells.ordered)


def _without(values: Float64Array, marks: tuple[float, ...]) -> Float64Array:
    return np.where(np.isin(values, marks), np.nan, values)


def _words(found: Sequence[str]) -> str:
    if len(found) == 1:
        return f"{listing(found)} is read as a category like any other."
    return f"{listing(found)} are read as categories like any others."


def warn_of_lookalikes(categories: Collection[str], name: str, where: str) -> None:
    """Warn if some categories look like marks of holes."""
    found = sorted(text for text in categories if text.casefold() in LOOKALIKES)
    if found and len(found) < len(categories):
        each = [setting("missing", text) for text in found]
        typed = setting("missing", " ".join(found))  # the field of the pages takes several
        said = by_door(python=f"missing={found}", command_line=" ".join(each), pages=typed)
        warnings.warn(
            f"{where}: {_words(found)} If {'it marks' if len(found) == 1 else 'they mark'} a hole, say "
            f"{said}; to keep "
            f"{'it' if len(found) == 1 else 'them'} and silence this, name all categories in "
            f"{setting('categories', column=name)}.",
            MissingMarkWarning,
            stacklevel=2,
        )


def warn_of_far_marks(values: Float64Array, name: str, origin: Origin) -> None:
    """Warn if the lowest or highest of some numbers (n,) is like -999 and far outside all others; O(n).

    Far is further from the next than all others are from each other, or the only one below zero.
    """
    low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    for mark in (low, high):
        if set(f"{abs(mark):.0f}") != {"9"} or mark == 9 or not mark.is_integer():
            continue
        marked = values == mark
        others = values[~marked & ~np.isnan(values)]
        if len(others) < LEAST_OTHERS:
            continue
        gap, spread = max(others.min() - mark, mark - others.max()), np.ptp(others)
        alone_below_zero = mark < 0 <= others.min()
        if spread == 0 or (gap <= spread and not alone_below_zero):
            continue
        text, first = short_number(mark, 6), int(np.flatnonzero(marked)[0])
        more = f" and {marked.sum() - 1} more" if marked.sum() > 1 else ""
        said = by_door(
            python=f"missing=[{text}]", command_line=setting("missing", text), pages=setting("missing", text)
        )
        warnings.warn(
            f"{origin.column(name)}: {text}, in {origin.row(first)}{more}, is far outside the other numbers, "
            f"{short_number(float(others.min()), 4)} to {short_number(float(others.max()), 4)}. If it marks "
            f"a hole, say {said}; to keep it and silence this, state the range of the column in "
            f"{setting('bounds', column=name)}.",
            MissingMarkWarning,
            stacklevel=2,
        )


def warn_of_blank_end(values: Float64Array, labels: Float64Array | None, origin: Origin) -> None:
    """Warn if the last lines of a file have separators only, as spreadsheets leave behind; cells (n, p)."""
    n = len(values)
    if origin.lines is None or n == 0:
        return
    first = n
    while first > 0 and np.isnan(values[first - 1]).all() and (labels is None or np.isnan(labels[first - 1])):
        first -= 1
    if first == n:
        return
    which, said, them = f"line {origin.lines[first]}", "has no value and is read as a row", "it"
    if first < n - 1:
        which = f"lines {origin.lines[first]} to {origin.lines[n - 1]}"
        said, them = "have no values and are read as rows", "them"
    warnings.warn(
        f"{origin.name}: {which} at the end {said} of holes. Delete {them} if nothing belongs there.",
        ReadWarning,
        stacklevel=2,
    )
