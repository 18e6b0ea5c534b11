"""One value that a user gives, as the number that stands for it in the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from numbers import Real

import numpy as np

from cellworth.table.values.dates import day_number, days_from_stamps, parse_date
from cellworth.table.values.text import is_number, label, parse_booleans


def parse_value(value: object, kind: str, categories: Sequence[str] = ()) -> float | None:
    """Turn a text or value into the number that stands for it; None if it does not fit the kind.

    Only the kind and the categories are looked at, not the bounds. A blank text fits no kind.
    """
    if isinstance(value, str):
        value = value.strip()
    if kind in ("ordered", "category"):
        text = label(value)
        return float(categories.index(text)) if text in categories else None
    if kind == "boolean":
        codes = parse_booleans([label(value)], strict=False)
        return None if codes is None else float(codes[0])
    if kind == "date":
        return _parse_date(value)
    number = _parse_number(value)
    return number + 0.0 if number is not None and kind == "integer" else number  # -0.0 becomes 0.0


def _parse_number(value: object) -> float | None:
    if isinstance(value, str):
        number = float(value) if is_number(value) else math.nan
    elif isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except (OverflowError, ValueError):
            return None
    else:
        return None
    return number if math.isfinite(number) else None


def _parse_date(value: object) -> float | None:
    try:
        if isinstance(value, str):
            return parse_date(value)
        if isinstance(value, np.datetime64):
            days = float(days_from_stamps(np.array([value]))[0])
            return None if math.isnan(days) else days
        return day_number(value) if isinstance(value, date) else None
    except (ValueError, TypeError):  # pandas.NaT is a date that no arithmetic works on
        return None
