"""Cell values as plain data that people can read in a log, and back, exactly."""

from __future__ import annotations

import hashlib
import json
from datetime import date

from cellworth.table.column import LABELLED, Column

Plain = float | int | bool | str


def to_plain(column: Column, number: float) -> Plain:
    """Return a known value of the table as the user writes it; dates and times as ISO text.

    >>> to_plain(Column("stage", "ordered", categories=("I", "II")), 1.0)
    'II'
    """
    value = column.format(number)
    if value is None:
        raise ValueError("a hole has no value")
    return value.isoformat() if isinstance(value, date) else value


def from_plain(column: Column, plain: Plain) -> float:
    """Return the number of the table that `to_plain` wrote; it is not checked again."""
    if column.kind in LABELLED:
        return float(column.categories.index(str(plain)))
    return column.parse(plain) if column.kind == "date" else float(plain)


def fingerprint(plain: object) -> str:
    """Return a short text that differs for different plain data."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
