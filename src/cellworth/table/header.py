"""The first line of a file: the names of its columns, or a title, a row of values, or Excel's separator."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import pairwise

from cellworth.errors import DataError, ReadWarning
from cellworth.messages import listing, shorten
from cellworth.table.dates import is_date, likely_date_formats
from cellworth.table.parse_values import is_comma_number, is_number

_SEPARATOR_LINE = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([^"\r\n])"?[;,\t]*\r?\n', re.IGNORECASE)


def without_separator_line(content: bytes) -> tuple[bytes, str | None]:
    r"""Return a file with its first line blank if that tells Excel the separator, and the separator.

    >>> without_separator_line(b"sep=;\na;b\n")
    (b'\na;b\n', ';')
    """
    found = _SEPARATOR_LINE.match(content)
    return (content, None) if found is None else (b"\n" + content[found.end() :], found[1].decode())


def refuse_title(header: Sequence[str], below: Sequence[str], file: str, line_of_header: int) -> None:
    """Raise DataError if a line has a single field and the one below it several."""
    own, others = (sum(map(bool, map(str.strip, fields))) for fields in (header, below))
    if own == 1 and others > 1 and (len(header) == 1 or others > 2):
        raise DataError(
            f"{file}, line {line_of_header}: expected the names of {len(below)} columns, got only "
            f"{shorten(header[0])}. If that is a title, delete it: the first line must have the names."
        )


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
