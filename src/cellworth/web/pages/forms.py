"""Form fields: the input for a cell's value, and numbers in text fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from fastapi import Form
from pydantic import AfterValidator

from cellworth.errors import CellworthError, DataError, ParameterError, QuestionedError
from cellworth.messages import shorten
from cellworth.table import Column
from cellworth.table.column import LABELLED, NUMERIC
from cellworth.table.parse_values import Reworded
from cellworth.table.target import ClassColumn
from cellworth.table.text_file import point_number
from cellworth.web.pages.language import message

Text = Annotated[str, Form()]
"""A required field of a form."""
Name = Annotated[str, Form(), AfterValidator(lambda text: text.replace("\r\n", "\n"))]
"""A user's name that a form sends back; undoes the line endings that browsers use."""
OptionalText = Annotated[str, Form()]
"""An optional field of a form; give it the default ""."""
_COMMA = re.compile(r"[+-]?\d*,\d+")
_UNCLEAR = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_THOUSANDS = re.compile(r"\d{1,3}(?:(?:\.\d{3})+(?:,\d{1,2})?|(?:,\d{3})+(?:\.\d{1,2})?)")


@dataclass(frozen=True)
class ValueField:
    """The input control for a value of a column.

    Attributes
    ----------
    control : {"text", "buttons", "select", "date", "datetime-local"}
        Numbers are texts, so that every browser takes a decimal comma.
    step : str
        Step of a time.
    low, high : str
        Bounds in the browser's format; "" if unbounded.
    options : tuple of (value, words)
        Options of a select.
    unit : str
        "" if there is none.
    description : str
        What the column holds; "" if nobody said.
    expected : str
        The accepted values, in words.
    mode : {"", "decimal", "numeric"}
        The keyboard that a telephone shows.
    is_yes_no : bool
        Whether the options are yes and no.
    column : Column or None
        To show what was typed.
    """

    control: str
    step: str = ""
    low: str = ""
    high: str = ""
    options: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    expected: str = ""
    mode: str = ""
    is_yes_no: bool = False
    description: str = ""
    column: Column | None = field(default=None, repr=False)


MOST_BUTTONS = 6
"""Columns with more categories have a list to choose from."""


@lru_cache(maxsize=1024)
def value_field(column: Column) -> ValueField:
    """Return the field for a value of a column.

    Examples
    --------
    >>> value_field(Column("age", "integer", bounds=(0, 120), unit="years"))
    ... # doctest: +NORMALIZE_WHITESPACE
    ValueField(control='text', step='', low='0', high='120', options=(), unit='years',
               expected='a whole number from 0 to 120', mode='numeric', is_yes_no=False,
               description='')
    """
    about: dict[str, Any] = {
        "unit": column.unit or "",
        "expected": column.expected,
        "description": column.description or "",
        "column": column,
    }
    if column.kind == "boolean":
        about |= {"unit": "", "expected": message("yes or no")}
        options = (("true", message("yes")), ("false", message("no")))
        return ValueField("buttons", options=options, is_yes_no=True, **about)
    if column.kind in LABELLED or isinstance(column, ClassColumn):
        texts = column.categories or tuple(
            str(column.format(each)) for each in getattr(column, "classes", ())
        )
        options_of = tuple((text, text) for text in texts)
        control = "buttons" if len(options_of) <= MOST_BUTTONS else "select"
        return ValueField(control, options=options_of, **about)
    low, high = (_bound(column, bound) for bound in column.bounds)
    if column.kind == "date":
        about["unit"] = ""
        control = "date" if column.whole_days else "datetime-local"
        if not (low or high):
            about["expected"] = message("a date")  # the control says how it is written
        return ValueField(control, "" if column.whole_days else "1", low, high, **about)
    mode = "numeric" if column.kind == "integer" and not column.bounds[0] < 0 else "decimal"
    return ValueField("text", "", low, high, mode=mode, **about)


def plain_number(text: str, column: Column, language: str = "en") -> str:
    """Return a number with a decimal point that was typed with a comma; any other text as it is.

    Raises DataError for one comma before three digits, such as 1,250, unless the language has decimal commas.

    >>> plain_number("1,5", Column("dose", "number")), plain_number("a,b", Column("hue", "category", ("a",)))
    ('1.5', 'a,b')
    """
    typed = text.strip()
    if column.kind not in NUMERIC:
        return text
    if "." in typed and "," in typed:  # 1.234,5 can be read in one way only
        grouped = point_number(typed)
        return text if grouped is None else Reworded(grouped, typed)
    if not _COMMA.fullmatch(typed):
        return text
    whole_part, _, decimals = typed.partition(",")
    if language == "en" and len(decimals) == 3 and whole_part.strip("+-0"):
        raise DataError(
            f"column {shorten(column.name)}: {typed} may be read in two ways. Type {whole_part}.{decimals} "
            f"or {whole_part}{decimals}."
        )
    return Reworded(f"{whole_part}.{decimals}", typed)


def amount(text: str, what: str) -> float | None:
    """Parse an amount of money, None if blank; raise ParameterError for anything else.

    The mark of the decimals may be a point or a comma, and thousands may have the other one. Three digits
    after a single mark, as in 1.500, may be either, and are not taken.

    >>> amount("1.234,50", "Budget"), amount("1,234,567", "Budget"), amount("12,5", "Budget")
    (1234.5, 1234567.0, 12.5)
    """
    typed = text.strip()
    if not typed:
        return None
    try:
        number = float(_with_point(typed))
    except ValueError:
        number = -1.0
    if _UNCLEAR.fullmatch(typed):
        whole_part, decimals = re.split("[.,]", typed)
        raise ParameterError(
            f"{what}: {typed} may be read in two ways. Type {whole_part}{decimals}, or "
            f"{whole_part}.{decimals[:2]} if you mean that."
        )
    if not 0 <= number < float("inf"):
        raise ParameterError(f"{what}: expected an amount of money such as 50 or 12.50, got {text[:40]!r}.")
    return number


def _with_point(text: str) -> str:
    """Return a number without marks of thousands, and with a decimal point."""
    if _THOUSANDS.fullmatch(text):
        point = text[-3] if text[-3] in ",." else text[-2] if text[-2] in ",." else ""
        whole_part, decimals = text.rsplit(point, 1) if point else (text, "")
        return re.sub("[.,]", "", whole_part) + (f".{decimals}" if decimals else "")
    return text.replace(",", ".") if _COMMA.fullmatch(text) else text


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
    return {"error": words, "doubted": value}
