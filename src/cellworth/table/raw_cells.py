"""Cells as read, before they are interpreted, and where they come from, in the user's terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.errors import DataError
from cellworth.messages import shorten
from cellworth.table.dates import day_number, days_from_stamps, format_day, write_in
from cellworth.table.parse_values import label


@dataclass(frozen=True)
class Origin:
    """The file, frame or arrays that a table is read from, with a name for each row.

    Every message starts with `name`. `row_ids` are the user's (n,), taken from `ids_from`. `lines` are the
    lines on which rows begin, counted from 1; None if the source has no lines. `date_format` is that of
    `datetime.strptime`, if dates are not ISO.
    """

    name: str
    row_ids: Sequence[str] = ()
    lines: Sequence[int] | None = None
    ids_from: Literal["column", "index", "row_ids"] = "column"
    date_format: str | None = None

    @property
    def date_example(self) -> str:
        """A day as the source writes it, for messages."""
        return (
            "2020-12-31" if self.date_format is None else write_in(self.date_format, datetime(2020, 12, 31))
        )

    def row(self, index: int) -> str:
        """Name one row, as in "row 'p17' (line 18)"."""
        line = "" if self.lines is None else f" (line {self.lines[index]})"
        return f"row {shorten(self.row_ids[index])}{line}"

    def column(self, name: str) -> str:
        """Name one column, as in "patients.csv, column 'age'"."""
        return f"{self.name}, column {shorten(name)}"

    def cell_error(
        self, column: str, problem: str, rows: IntArray, values: Sequence[object], remedy: str
    ) -> DataError:
        """Build the error for bad cells in one column: the first three, how many more, and the remedy."""
        shown = [
            f"{shorten(value)} in {self.row(row)}" for row, value in zip(rows[:3], values[:3], strict=True)
        ]
        rest = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
        return DataError(f"{self.column(column)}: {problem}, got {', '.join(shown)}{rest}. {remedy}")


@dataclass(frozen=True)
class TextCounts:
    """The different texts of a column in the order in which they first appear, and which cell holds which.

    ``codes`` (n,) are places in ``distinct``, -1 for a hole. No text is blank. ``times`` (n,) says how many
    cells of a longer column each one stands for, if these are a summary of it.
    """

    distinct: tuple[str, ...]
    codes: IntArray
    times: IntArray | None = None

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text appears, in the order of ``distinct``."""
        known = self.codes >= 0
        weights = None if self.times is None else self.times[known]
        times = np.bincount(self.codes[known], weights, minlength=len(self.distinct)).astype(np.intp)
        return Counter(dict(zip(self.distinct, times.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """The number of observed cells."""
        return sum(self.counts.values())

    def spread(self, values: Float64Array) -> Float64Array:
        """Return a value for each cell (n,) from those of the distinct texts; NaN = hole."""
        spread: Float64Array = np.append(values, np.nan)[self.codes]
        return spread

    def rows_of(self, places: Sequence[int]) -> IntArray:
        """Return the rows that hold any of these texts, in order."""
        return np.flatnonzero(np.isin(self.codes, places))

    def texts(self) -> list[str]:
        """Return the text of each cell, "" = hole."""
        return list(map((*self.distinct, "").__getitem__, self.codes.tolist()))

    def renamed(self, texts: Sequence[str]) -> TextCounts:
        """Return the counts with another text for each of the distinct ones; equal ones merge, "" = hole."""
        if len(set(texts)) == len(texts) and "" not in texts:
            return TextCounts(tuple(texts), self.codes, self.times)
        kept = {text: place for place, text in enumerate(dict.fromkeys(filter(None, texts)))}
        codes = np.array([*(kept.get(text, -1) for text in texts), -1], dtype=np.intp)
        return TextCounts(tuple(kept), codes[self.codes], self.times)


def count_texts(texts: Sequence[str]) -> TextCounts:
    """Count texts, "" = hole; O(n)."""
    codes = {text: place for place, text in enumerate(dict.fromkeys(filter(None, texts)))}
    distinct = tuple(codes)
    codes[""] = -1
    return TextCounts(distinct, np.fromiter(map(codes.__getitem__, texts), dtype=np.intp, count=len(texts)))


class LazyTexts(Sequence[str]):
    """Texts that are read when first used."""

    def __init__(self, length: int, read: Callable[[], Sequence[str]]) -> None:
        self._length, self._read = length, read

    @cached_property
    def _texts(self) -> Sequence[str]:
        return self._read()

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __getitem__(self, place: Any) -> Any:
        return self._texts[place]


class NumberedRows(LazyTexts):
    """The ids "0", "1", ... of rows that have none of their own."""

    def __init__(self, length: int) -> None:
        super().__init__(length, partial(_count_up_to, length))


def _count_up_to(length: int) -> Sequence[str]:
    return tuple(map(str, range(length)))


@dataclass(frozen=True)
class Numbers:
    """Texts as numbers (n,), NaN = hole: all are integers, all numbers, or all days without a time.

    ``decimals`` is how many each number seems to be written with, by a sample; 0 if that differs.
    """

    values: Float64Array
    kind: Literal["integer", "number", "date"]
    decimals: int = 0


@dataclass(frozen=True)
class TextCells:
    """Texts without surrounding white space, "" = hole; their kind is not inferred yet.

    Parameters
    ----------
    texts : sequence of str of length n
    numbers : Numbers, optional
        The same cells, if the reader found that all of them are numbers, or all days, or marks of holes.
    """

    texts: Sequence[str]
    numbers: Numbers | None = None

    @classmethod
    def counted(cls, given: TextCounts) -> TextCells:
        """Return cells whose texts are counted already."""
        cells = cls(LazyTexts(len(given.codes), given.texts))
        cells.__dict__["text_counts"] = given  # where cached_property keeps it
        return cells

    @cached_property
    def text_counts(self) -> TextCounts:
        """The different texts and their cells; O(n) when first used."""
        return count_texts(self.texts)

    @property
    def holes(self) -> BoolArray:
        """(n,) bool, True where there is no value."""
        values = None if self.numbers is None else self.numbers.values
        holes: BoolArray = self.text_counts.codes < 0 if values is None else np.isnan(values)
        return holes


@dataclass(frozen=True)
class NumberCells:
    """Numbers, NaN = hole, with the kind given by the frame or array."""

    values: Float64Array
    kind: Literal["number", "integer", "boolean", "date"]

    @property
    def holes(self) -> BoolArray:
        """(n,) bool, True where there is no value."""
        return np.isnan(self.values)


@dataclass(frozen=True)
class CodedCells:
    """Indices into the frame's list of categories, NaN = hole."""

    codes: Float64Array
    categories: tuple[str, ...]
    ordered: bool

    @property
    def kind(self) -> Literal["ordered", "category"]:
        """The kind given by the frame."""
        return "ordered" if self.ordered else "category"

    @property
    def holes(self) -> BoolArray:
        """(n,) bool, True where there is no value."""
        return np.isnan(self.codes)


Cells = TextCells | NumberCells | CodedCells


@dataclass(frozen=True)
class RawColumn:
    """A column as read: its name, its cells, and whatever the file declares about it."""

    name: str
    cells: Cells
    declared: Mapping[str, Any] = field(default_factory=dict)


def id_column(row_ids: Sequence[str], name: str, taken: Container[str]) -> RawColumn:
    """Build a column of row ids, renamed if the name is taken."""
    while name in taken:
        name += "_"
    return RawColumn(name, TextCells(row_ids))


def coded_cells(codes: Float64Array, categories: Sequence[object], ordered: bool) -> CodedCells:
    """Build coded cells with categories as text; categories with equal texts are merged."""
    texts = [label(category) for category in categories]
    distinct = tuple(dict.fromkeys(texts))
    if len(distinct) < len(texts):
        place = np.array([distinct.index(text) for text in texts], dtype=np.float64)
        codes = np.where(np.isnan(codes), np.nan, place[np.nan_to_num(codes).astype(np.intp)])
    return CodedCells(codes, distinct, ordered)


def as_texts(cells: Cells) -> TextCells:
    """Convert any cells to text, "" = hole."""
    if isinstance(cells, TextCells):
        return cells
    if isinstance(cells, CodedCells):
        holes = cells.holes
        places = np.where(holes, 0, cells.codes).astype(np.intp)
        return TextCells(
            ["" if hole else cells.categories[place] for hole, place in zip(holes, places, strict=True)]
        )
    return TextCells(["" if value != value else _number_label(value, cells.kind) for value in cells.values])


def _number_label(value: float, kind: str) -> str:
    if kind == "boolean":
        return label(bool(value))
    if kind == "date":
        return format_day(value, float(value).is_integer()).isoformat()
    return label(value)


_NULL_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def labels(values: Iterable[object]) -> list[str]:
    """Return the values as text, "" for nulls."""
    return ["" if is_null(value) else label(value) for value in values]


def cells_from_objects(values: Sequence[object], column: str, origin: Origin) -> Cells:
    """Build cells from the values of one column: all text, numbers or dates; text if mixed.

    Raises
    ------
    DataError
        If a value is complex, or has a type that no cell can have, such as a list.
    """
    nulls = np.fromiter(map(is_null, values), dtype=np.bool_, count=len(values))
    observed = [value for value, null in zip(values, nulls, strict=True) if not null]
    types = set(map(type, observed))
    _refuse_unusable(types, values, column, origin)
    if not types or any(issubclass(kind, str) for kind in types):
        return TextCells(labels(values))
    for kind, bases in (
        ("boolean", (bool, np.bool_)),
        ("integer", (Integral,)),
        ("number", (Real, Decimal)),
        ("date", (date, np.datetime64)),
    ):
        if all(issubclass(found, bases) for found in types) and (kind == "boolean" or not _has_bool(types)):
            numbers = np.full(len(values), np.nan)
            rows = np.flatnonzero(~nulls)
            numbers[rows] = [_as_float(values[row], column, origin, row) for row in rows.tolist()]
            return NumberCells(numbers, kind)  # type: ignore[arg-type]
    return TextCells(labels(values))


def _has_bool(types: set[type]) -> bool:
    return bool in types or np.bool_ in types


def is_null(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or another library's null."""
    if type(value).__name__ in _NULL_TYPES:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _as_float(value: object, column: str, origin: Origin, row: int) -> float:
    try:
        if isinstance(value, np.datetime64):
            return float(days_from_stamps(np.array([value]))[0])
        if isinstance(value, date):
            return day_number(value)
        return float(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        remedy = "Correct the cell, or set it to None if the value is not known."
        problem = (
            "expected a date in the years 1 to 9999"
            if isinstance(value, date)
            else "expected a finite number"
        )
        raise origin.cell_error(column, problem, np.array([row]), [value], remedy) from None


def _refuse_unusable(types: set[type], values: Sequence[object], column: str, origin: Origin) -> None:
    usable = (str, bool, np.bool_, Real, Decimal, date, np.datetime64)
    bad = {found for found in types if not issubclass(found, usable)}
    if not bad:
        return
    rows = np.array([row for row, value in enumerate(values) if type(value) in bad])
    remedy = "Turn the column into one of these, or leave it out."
    if any(issubclass(found, complex) for found in bad):
        remedy = "Complex numbers have no order: give their real and imaginary parts as two columns."
    raise origin.cell_error(
        column,
        "a cell must be a number, text, a boolean or a date",
        rows,
        [values[row] for row in rows[:3]],
        remedy,
    )
