"""One column of a table: its name, its kind, and the values its cells may hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, get_args

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.errors import DataError, ParameterError
from cellworth.messages import did_you_mean, listing, shorten
from cellworth.setting_names import setting
from cellworth.shown_numbers import reworded
from cellworth.table.dates import (
    FIRST_DAY,
    LAST_MOMENT,
    format_day,
    is_iso,
    is_no_day,
    to_microsecond,
    write_in,
    written_days,
)
from cellworth.table.missing_marks import USUAL_MARKS
from cellworth.table.parse_values import (
    LARGEST_INTEGER,
    Reworded,
    is_comma_number,
    number_text,
    parse_value,
    unit_of,
)

Kind = Literal["number", "integer", "boolean", "ordered", "category", "date"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LABELLED: frozenset[Kind] = frozenset({"ordered", "category"})
"""Kinds whose values are texts from a list, stored as codes."""
NUMERIC: tuple[Kind, ...] = ("number", "integer")
"""Kinds whose values are numbers to the user."""
MEASURED: tuple[Kind, ...] = (*NUMERIC, "date")
"""Kinds whose values lie on a scale, which may have bounds."""
UNORDERED: tuple[Kind, ...] = ("boolean", "category")
"""Kinds whose values have no order, so that nothing lies between two of them."""

MOST_DECIMALS = 22
"""A column of numbers with more decimals than this is measured, not written, and guesses are not rounded.

10**22 is the largest power of ten that a float holds exactly."""

UserValue = float | int | bool | str | date
"""A cell as the user writes it."""


@dataclass(frozen=True)
class Column:
    """One column of a table, as the user knows it, and the float64 values that represent its cells.

    ========  =================================  ==========================================
    kind      the user's value                   the value in the table
    ========  =================================  ==========================================
    number    float                              itself
    integer   int, at most 2**53 - 1 in size     itself
    boolean   bool                               0 or 1
    ordered   str, one of `categories`           its place in `categories`: 0, 1, ...
    category  str, one of `categories`           its place in `categories`: 0, 1, ...
    date      date, or datetime without a zone   days since 1970-01-01, the time as fraction
    ========  =================================  ==========================================

    A time with a zone is converted to UTC; one without is used as is. Times are kept to the microsecond (to
    about 40 microseconds by the year 9999).

    Parameters
    ----------
    name : str
        The user's name for the column.
    kind : {"number", "integer", "boolean", "ordered", "category", "date"}
        What its cells hold.
    categories : tuple of str
        The labels of an ordered column, from low to high, or of a category column; empty for other kinds.
    bounds : (float, float)
        Smallest and largest value allowed, in the units of the table; infinite where open.
    unit : str, optional
        The unit of the values, for display.
    description : str, optional
        What the column holds or how it is measured, in words for those who collect the values.
    whole_days : bool
        Whether the values of a date column are dates without a time.
    words : (str, str)
        How the user writes false and true in a boolean column, such as ("no", "yes").
    date_format : str, optional
        How the user writes dates, such as "%d.%m.%Y" or "%Y-%m-%d %H:%M"; by default as in ISO 8601, with a
        "T" and microseconds.
    decimals : int
        How many decimals the user writes in every number at least, as 2 in 687.50; -1 if whole numbers have
        no point. It changes no value, and columns that differ in it only are equal.

    Examples
    --------
    >>> stage = Column("stage", "ordered", categories=("I", "II", "III"))
    >>> stage.parse("II"), stage.format(2.0)
    (1.0, 'III')
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    bounds: tuple[float, float] = (-math.inf, math.inf)
    unit: str | None = None
    whole_days: bool = False
    words: tuple[str, str] = ("false", "true")
    date_format: str | None = None
    description: str | None = None
    decimals: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _check_kind(self)
        _check_bounds(self)

    def parse(self, value: object) -> float:
        """Convert a text or value from the user to the number that represents it.

        Raises
        ------
        DataError
            If the value is blank, of another kind, outside the bounds, or not among the categories.

        Examples
        --------
        >>> Column("age", "integer", bounds=(0, 120)).parse("42")
        42.0
        """
        number = parse_value(value, self.kind, self.categories, self.date_format)
        if number is None or bool(self.invalid(np.array([number]))[0]):
            hint = did_you_mean(str(value), self.categories) if self.categories else ""
            if self.kind in NUMERIC and is_comma_number(str(value).strip()):
                hint = " Write a decimal point, not a comma, and nothing between thousands."
            elif self.kind in NUMERIC and (unit := unit_of(str(value).strip())):
                hint = f" Write the number without {unit!r}."
            if self.kind == "date" and is_no_day(str(value).strip()):
                hint = " There is no such day."
            if str(value).strip() in USUAL_MARKS:
                hint = " Leave it out if it is not known."
            typed = value.typed if isinstance(value, Reworded) else value
            raise DataError(
                f"column {shorten(self.name)}: expected {self.expected}, got {shorten(typed)}.{hint}"
            )
        return number

    def format(self, number: float) -> UserValue | None:
        """Convert a number in the table to the user's value; NaN (a hole) to None.

        A boolean written as yes or no, say, comes back as the user's word, one written as true or false as a
        bool.

        Examples
        --------
        >>> Column("visit", "date", whole_days=True).format(18262.0)
        datetime.date(2020, 1, 1)
        """
        if math.isnan(number):
            return None
        if self.kind == "number":
            return float(number)
        if self.kind == "date":
            return format_day(number, self.whole_days)
        if self.kind == "boolean":
            word = self.words[int(number)]
            return word if word.casefold() in ("no", "yes") else bool(number)
        return int(number) if self.kind == "integer" else self.categories[int(number)]

    def texts(self, values: Float64Array) -> list[str]:
        """Return cells (n,) as the user writes them, in text that reads back exactly; a hole is blank.

        Examples
        --------
        >>> Column("ill", "boolean", words=("no", "yes")).texts(np.array([1.0, np.nan]))
        ['yes', '']
        >>> Column("income", "number", decimals=2).texts(np.array([687.5, 0.125]))
        ['687.50', '0.125']
        """
        holes = np.isnan(values)
        if self.kind == "number":
            observed = [number_text(value, self.decimals) for value in values.tolist()]
        elif self.kind == "date":
            observed = written_days(values, self.date_format, self.whole_days)
        else:
            places = np.where(holes, 0, values).astype(np.int64).tolist()
            words = self.words if self.kind == "boolean" else self.categories
            observed = [words[place] for place in places] if words else list(map(str, places))
        return ["" if hole else text for hole, text in zip(holes.tolist(), observed, strict=True)]

    def shown(self, *values: float) -> list[str]:
        """Return cells as sentences and tables show them: as the user writes them, also the decimal mark.

        Examples
        --------
        >>> from cellworth.shown_numbers import people_write
        >>> with people_write(","):
        ...     Column("dose", "number").shown(0.5, 12.25)
        ['0,5', '12,25']
        """
        texts = self.texts(np.array(values))
        return [reworded(text) for text in texts] if self.kind == "number" else texts

    def text_of(self, value: object) -> str:
        """Return a value of the user as sentences show it; one that no cell of this kind holds as it is.

        Examples
        --------
        >>> Column("seen", "date", date_format="%d.%m.%Y", whole_days=True).text_of("2020-08-26")
        '26.08.2020'
        """
        number = parse_value(value, self.kind, self.categories, self.date_format)
        return str(value) if number is None else self.shown(number)[0]

    def invalid(self, values: Float64Array) -> BoolArray:
        """Mark the values that a cell of this column may not hold; NaN (a hole) is allowed.

        Parameters
        ----------
        values : ndarray of shape (n,)

        Returns
        -------
        ndarray of bool of shape (n,)
        """
        low, high = self.limits
        wrong: BoolArray = (values < low) | (values > high) | np.isinf(values)
        if self._is_whole:
            wrong |= values != np.rint(values)
        return wrong & ~np.isnan(values)

    def nearest(self, values: Float64Array) -> Float64Array:
        """Replace each value with the closest one that a cell of this column may hold.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Finite numbers.

        Returns
        -------
        ndarray of shape (n,)
        """
        low, high = self.limits
        if self._is_whole:
            values = np.rint(values)
        values = np.clip(values, low, high) + 0.0  # + 0.0 turns -0.0 into 0.0
        return to_microsecond(values) if self.kind == "date" else values

    def rounded_like(self, values: Float64Array, observed: Float64Array) -> Float64Array:
        """Round values to the digits of observed ones: as many decimals as any of them has, or as fine times.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Values that a cell may hold, such as guesses.
        observed : ndarray of shape (m,)
            Known values, without NaN. Numbers with more than `MOST_DECIMALS` decimals count as unrounded.

        Returns
        -------
        ndarray of shape (n,)
            Values that a cell may hold. O(n + m).

        Examples
        --------
        >>> Column("weight", "number").rounded_like(np.array([99.00698317576969]), np.array([88.8, 70.0]))
        array([99.])
        """
        return self.rounded(values, self.fineness(observed))

    def fineness(self, observed: Float64Array) -> int | None:
        """Return how finely known values (m,) are written: the number of the coarsest step that all keep.

        For numbers that is their decimals; for times 0 is minutes and 1 seconds. None if they are finer than
        that, and -1 without values or if the kind is whole. The largest of two parts, where None is the
        largest, is that of both together. O(m).
        """
        if self._is_whole or not len(observed):
            return -1
        for number, step in enumerate(self._steps):
            if self._keeps(observed[:1000], step) and self._keeps(observed, step):
                return number
        return None

    def rounded(self, values: Float64Array, fineness: int | None) -> Float64Array:
        """Round values (n,) that a cell may hold as finely as `fineness` says; O(n)."""
        if fineness is None or fineness < 0:
            return values
        step = self._steps[fineness]
        return self.nearest(np.rint(values * step) / step)

    @property
    def _steps(self) -> list[float]:
        if self.kind == "date":
            return [1440.0, 86_400.0]  # minutes and seconds of a day
        return [10.0**digits for digits in range(MOST_DECIMALS + 1)]

    def _keeps(self, observed: Float64Array, step: float) -> bool:
        with np.errstate(over="ignore"):
            near = np.rint(observed * step) / step
        return np.array_equal(to_microsecond(near) if self.kind == "date" else near, observed)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and largest values that a cell may hold, whole if the kind is."""
        if self.kind == "boolean":
            return 0.0, 1.0
        if self.kind in LABELLED:
            return 0.0, float(len(self.categories) - 1)
        low, high = self.bounds
        if self.kind == "integer":
            low, high = max(low, -LARGEST_INTEGER), min(high, LARGEST_INTEGER)
        if self.kind == "date":
            low, high = max(low, FIRST_DAY), min(high, LAST_MOMENT)
        return (float(np.ceil(low)), float(np.floor(high))) if self._is_whole else (low, high)

    @property
    def expected(self) -> str:
        """What a cell may hold, in words, as in "a whole number from 0 to 120"."""
        if self.kind in LABELLED:
            return f"one of {listing(self.categories, most=10)}"
        if self.kind == "boolean":
            return "true or false (yes or no, 1 or 0)"
        noun = {"number": "a number", "integer": "a whole number", "date": "a date"}[self.kind]
        if self.kind == "date":
            noun += f" such as {self._example()}"
            noun += " without a time" if self.whole_days else ""
        return noun + self._bounds_in_words()

    def _example(self) -> str:
        if self.date_format is not None and not is_iso(self.date_format):
            return write_in(self.date_format, datetime(2020, 12, 31, 23, 59, 59))
        return "2020-12-31" if self.whole_days else "2020-12-31 or 2020-12-31T23:59:59"

    @property
    def _is_whole(self) -> bool:
        return self.whole_days if self.kind == "date" else self.kind != "number"

    def _bounds_in_words(self) -> str:
        words = ""
        for word, bound in zip((" from", " to"), self.bounds, strict=True):
            if math.isfinite(bound):
                said = str(self.bound_as_written(bound))
                words += f"{word} {said if self.kind == 'date' else reworded(said)}"
        return words

    def bound_as_written(self, bound: float) -> float | int | str | None:
        """Return a bound as the user writes it: a number, an ISO date, or None if it is open."""
        if not math.isfinite(bound):
            return None
        if self.kind == "date":
            return format_day(bound, float(bound).is_integer()).isoformat()
        return int(bound) if float(bound).is_integer() and abs(bound) <= LARGEST_INTEGER else float(bound)


def check_kind_name(kind: object, place: str) -> Kind:
    """Return the kind if it is valid; otherwise raise ParameterError with the list of kinds."""
    if kind in KINDS:
        return kind
    raise ParameterError(f"{place}: the kind must be one of {listing(KINDS, most=9)}, got {shorten(kind)}.")


def _check_kind(column: Column) -> None:
    place = f"column {shorten(column.name)}"
    check_kind_name(column.kind, place)
    categories: Sequence[str] = column.categories
    if (column.kind in LABELLED) != bool(categories):
        raise ParameterError(
            f"{place}: 'ordered' and 'category' columns must have categories, and other kinds must not; "
            f"got {len(categories)} categories for the kind {column.kind!r}."
        )
    if len(set(categories)) < len(categories):
        twice = [text for text in dict.fromkeys(categories) if list(categories).count(text) > 1]
        raise ParameterError(f"{place}: each category must be given once, got {listing(twice)} twice.")


def _check_bounds(column: Column) -> None:
    low, high = column.bounds
    if column.bounds == (-math.inf, math.inf):
        return
    place = f"column {shorten(column.name)}"
    if column.kind not in MEASURED:
        raise ParameterError(
            f"{place}: only 'number', 'integer' and 'date' columns have bounds; this one is {column.kind!r}. "
            "Leave its bounds out; its kind and categories determine what it may hold."
        )
    if math.isnan(low) or math.isnan(high) or column.limits[0] > column.limits[1]:
        raise ParameterError(
            f"{place}: no value of the kind {column.kind!r} is within the bounds ({low}, {high}). "
            f"Give {setting('bounds', column=column.name)}, lowest first."
        )
