"""Whether the first line of a file holds the names of its columns, or a row of values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise

from cellworth.errors import ReadWarning
from cellworth.messages import listing
from cellworth.table.dates import is_date
from cellworth.table.parse_values import is_comma_number, is_number
from cellworth.table.text_file import likely_date_formats


def warn_of_values(names: Sequence[str], file: str) -> None:
    """Warn if some names of columns look like values."""
    found = values_among(names)
    if found:
        warnings.warn(
            f"{file}: the names of its columns, {listing(found)} among them, look like values. If the file "
            "begins with a row of values, put a line with the names of the columns above it.",
            ReadWarning,
            stacklevel=2,
        )


def values_among(names: Sequence[str]) -> list[str]:
    """Return the names that look like values: a single date, and numbers that do not rise.

    Years and places on a scale rise from column to column, and several dates may be those of visits.

    >>> values_among(["id", "2019", "2020"]), values_among(["P1", "61", "2.5", "2020-12-31"])
    ([], ['61', '2.5', '2020-12-31'])
    """
    dates = [name for name in names if is_date(name) or likely_date_formats([name])]
    numbers = [name for name in names if is_number(name) or is_comma_number(name)]
    amounts = [float(name.replace(",", ".")) for name in numbers]
    rising = all(one < other for one, other in pairwise(amounts))
    if rising and len(dates) != 1:
        return []
    return [name for name in names if name in {*dates, *numbers}]
