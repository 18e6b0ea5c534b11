"""What people type: the field for a cell's value, and numbers in text fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form
from pydantic import AfterValidator

from cellworth.errors import ParameterError
from cellworth.table import Column
from cellworth.table.column import LABELLED

Text = Annotated[str, Form()]
"""A required field of a form."""
Name = Annotated[str, Form(), AfterValidator(lambda text: text.replace("\r\n", "\n"))]
"""A name of the user's that a form brings back; browsers end lines in their own way."""
OptionalText = Annotated[str, Form()]
"""A field of a form that may be absent; give it a default of ""."""


@dataclass(frozen=True)
class ValueField:
    """How a browser asks for a value of a column.

    Attributes
    ----------
    control : {"number", "select", "date", "datetime-local"}
    step : str
        Of a number or a time; "any" for every number.
    low, high : str
        Bounds as the browser writes them; "" where open.
    options : tuple of (value, words)
        Of a select.
    unit : str
        "" without one.
    expected : str
        What may be typed, in words.
    """

    control: str
    step: str = ""
    low: str = ""
    high: str = ""
    options: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    expected: str = ""


def value_field(column: Column) -> ValueField:
    """Return the field for a value of a column.

    Examples
    --------
    >>> value_field(Column("age", "integer", bounds=(0, 120), unit="years"))
    ... # doctest: +NORMALIZE_WHITESPACE
    ValueField(control='number', step='1', low='0', high='120', options=(), unit='years',
               expected='a whole number from 0 to 120')
    """
    unit = column.unit or ""
    if column.kind == "boolean":
        options = (("true", "yes"), ("false", "no"))
        return ValueField("select", options=options, expected="yes or no")
    if column.kind in LABELLED:
        options_of = tuple((text, text) for text in column.categories)
        return ValueField("select", options=options_of, unit=unit, expected=column.expected)
    low, high = (_bound(column, bound) for bound in column.bounds)
    if column.kind == "date":
        control = "date" if column.whole_days else "datetime-local"
        return ValueField(control, "" if column.whole_days else "1", low, high, expected=column.expected)
    step = "1" if column.kind == "integer" else "any"
    return ValueField("number", step, low, high, unit=unit, expected=column.expected)


def amount(text: str, what: str) -> float | None:
    """Return an amount of money, None for a blank; ParameterError for anything else."""
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ParameterError(f"{what}: expected an amount of money such as 50 or 12.50, got {text[:40]!r}.")
    return number


def whole(text: str, what: str, least: int = 0) -> int | None:
    """Return a whole number, None for a blank; ParameterError for anything else."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or len(text) > 12 or int(text) < least:
        raise ParameterError(f"{what}: expected a whole number from {least} on, got {text[:40]!r}.")
    return int(text)


def page_number(text: str) -> int:
    """Return the number of a page, counted from 1; 1 for any other text."""
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1


def _bound(column: Column, bound: float) -> str:
    written = column.bound_as_written(bound)
    if written is None:
        return ""
    text = str(written)
    if column.kind == "date":
        if column.whole_days:
            return text[:10]
        return text if "T" in text else f"{text}T00:00"
    return text
