"""Form fields: the input for a cell's value, and numbers in text fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form
from pydantic import AfterValidator

from cellworth.errors import CellworthError, ParameterError, QuestionedError
from cellworth.table import Column
from cellworth.table.column import LABELLED

Text = Annotated[str, Form()]
"""A required field of a form."""
Name = Annotated[str, Form(), AfterValidator(lambda text: text.replace("\r\n", "\n"))]
"""A user's name that a form sends back; undoes the line endings that browsers use."""
OptionalText = Annotated[str, Form()]
"""An optional field of a form; give it the default ""."""


@dataclass(frozen=True)
class ValueField:
    """The input control for a value of a column.

    Attributes
    ----------
    control : {"number", "select", "date", "datetime-local"}
    step : str
        Step of a number or time; "any" allows every number.
    low, high : str
        Bounds in the browser's format; "" if unbounded.
    options : tuple of (value, words)
        Options of a select.
    unit : str
        "" if there is none.
    expected : str
        The accepted values, in words.
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
    """Parse an amount of money, None if blank; raise ParameterError for anything else."""
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
    """Parse a whole number, None if blank; raise ParameterError for anything else."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or len(text) > 12 or int(text) < least:
        raise ParameterError(f"{what}: expected a whole number of at least {least}, got {text[:40]!r}.")
    return int(text)


def page_number(text: str) -> int:
    """Parse a page number, counted from 1; return 1 for anything else."""
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


def doubt(error: CellworthError, value: str) -> dict[str, str]:
    """Return what a form shows of an error; a questioned value is saved if it is sent once more."""
    if not isinstance(error, QuestionedError):
        return {"error": str(error)}
    [words] = error.cells.values()
    return {"error": f"{words} If it is right, save it again.", "doubted": value}
