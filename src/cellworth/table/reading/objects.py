"""Columns of Python objects: find which of the forms they have and put them into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from numbers import Integral, Real

import numpy as np

from cellworth.table.reading.cells import Cells, NumberCells, TextCells
from cellworth.table.source import Source
from cellworth.table.values.dates import day_number, days_from_stamps
from cellworth.table.values.text import label

_NULL_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def labels(values: Iterable[object]) -> list[str]:
    """Write values as the texts that stand for them, "" where there is none."""
    return ["" if _is_null(value) else label(value) for value in values]


def cells_from_objects(values: Sequence[object], column: str, source: Source) -> Cells:
    """Sort the values of one column by their types: all text, all numbers, all dates, or mixed (as text).

    Raises
    ------
    DataError
        If a value is complex, or of a type that no cell can have, such as a list.
    """
    nulls = np.fromiter(map(_is_null, values), dtype=np.bool_, count=len(values))
    observed = [value for value, null in zip(values, nulls, strict=True) if not null]
    types = set(map(type, observed))
    _refuse_unusable(types, values, column, source)
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
            numbers[rows] = [_as_float(values[row], column, source, row) for row in rows.tolist()]
            return NumberCells(numbers, kind)  # type: ignore[arg-type]
    return TextCells(labels(values))


def _has_bool(types: set[type]) -> bool:
    return bool in types or np.bool_ in types


def _is_null(value: object) -> bool:
    if type(value).__name__ in _NULL_TYPES:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _as_float(value: object, column: str, source: Source, row: int) -> float:
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
        raise source.cell_error(column, problem, np.array([row]), [value], remedy) from None


def _refuse_unusable(types: set[type], values: Sequence[object], column: str, source: Source) -> None:
    usable = (str, bool, np.bool_, Real, Decimal, date, np.datetime64)
    bad = {found for found in types if not issubclass(found, usable)}
    if not bad:
        return
    rows = np.array([row for row, value in enumerate(values) if type(value) in bad])
    remedy = "Turn the column into one of these, or leave it out."
    if any(issubclass(found, complex) for found in bad):
        remedy = "Complex numbers have no order: give their real and imaginary parts as two columns."
    raise source.cell_error(
        column,
        "a cell must be a number, text, a boolean or a date",
        rows,
        [values[row] for row in rows[:3]],
        remedy,
    )
