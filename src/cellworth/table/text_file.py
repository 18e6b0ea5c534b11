"""How people write text files: which encoding, separator, decimal mark and order of day, month and year.

And what their first line is: the names of the columns, or a title, a row of values, or Excel's separator.
"""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.messages import listing, shorten
from cellworth.setting_names import named, setting
from cellworth.table.dates import (
    as_written,
    date_reader,
    is_date,
    likely_date_formats,
    strptime_format,
    write_in,
)
from cellworth.table.files import File, FileBytes, place_of
from cellworth.table.parse_values import Reworded, is_comma_number, is_number
from cellworth.table.raw_cells import LazyTexts, RawColumn, TextCells, TextCounts, as_texts

# 1.234,5 or 1 234,5 or 1'234,5 or 1234,5; the space may be a narrow or a no-break space.
_COMMA_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:([.' \u00a0\u202f])\d{3})(?:\1\d{3})*|\d+)(?:,\d+)?(?:[eE][+-]?\d+)?"
)
_GROUPING = re.compile(r"[.' \u00a0\u202f]")
_SEPARATOR_LINE = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([^"\r\n])"?[;,\t]*\r?\n', re.IGNORECASE)


@dataclass(frozen=True)
class TextFile:
    r"""A file, and how its text is written; accepted wherever a path is.

    Parameters
    ----------
    file : Path or FileBytes
    encoding : str, optional
        By default UTF-8; UTF-16 if the file starts with its byte order mark; Windows-1252, which includes
        Latin-1, if the text is not UTF-8, with a `ReadWarning`.
    delimiter : str, optional
        The field separator.
    decimal : {".", ","}
        With a comma, 1.234,5 is 1234.5.
    date_format : str, optional
        How dates are written, such as "DD.MM.YYYY" or "%d.%m.%Y". ISO dates are always understood.

    Examples
    --------
    >>> from cellworth import Table
    >>> content = b"size;seen\n1,5;26.08.2020\n;04.07.2020\n"
    >>> file = TextFile(FileBytes("sizes.csv", content), delimiter=";", decimal=",", date_format="DD.MM.YYYY")
    >>> table = Table.read(file)
    >>> table.columns[1].format(table.values[0, 1])
    datetime.date(2020, 8, 26)
    >>> print(table.to_csv())
    size,seen
    1.5,26.08.2020
    ,04.07.2020
    <BLANKLINE>
    """

    file: Path | FileBytes
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ParameterError(
                f"{named('decimal')} must be a point or a comma; got {shorten(self.decimal)}."
            )
        if self.date_format is not None:
            strptime_format(self.date_format)

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.file.name

    @property
    def suffixes(self) -> list[str]:
        """All suffixes of the name, as for a path."""
        return self.file.suffixes

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return self.file.suffix

    def __str__(self) -> str:
        return str(self.file)

    def standard(self, columns: Sequence[RawColumn], as_is: Collection[str | None] = ()) -> list[RawColumn]:
        """Return columns with numbers and dates as Python writes them; O(cells).

        Columns named in ``as_is``, such as the row ids, stay as they are.
        """
        found = list(columns)
        if self.date_format is not None:
            found = with_dates(found, self.date_format, as_is)
        if self.decimal == ",":
            found = [column if column.name in as_is else _changed(column, point_number) for column in found]
        return found

    def value(self, text: str) -> str:
        """Return one value as Python writes it, if it is a number or a date as this file writes them.

        >>> TextFile(Path("sizes.csv"), decimal=",").value("1.234,5")
        '1234.5'
        """
        found = None if self.date_pattern is None else date_reader(self.date_pattern)(text)
        if found is None and self.decimal == ",":
            found = point_number(text)
        return text if found is None else Reworded(found, text)

    @property
    def date_pattern(self) -> str | None:
        """The format of dates for `datetime.strptime`; None if they are ISO dates."""
        return None if self.date_format is None else strptime_format(self.date_format)

    @property
    def dates_are_numbers(self) -> bool:
        """Whether a date in the format can be taken for a number, such as 31122020."""
        if self.date_pattern is None:
            return False
        example = write_in(self.date_pattern, datetime(2001, 12, 31, 23, 58, 59))
        return is_number(example) or (self.decimal == "," and point_number(example) is not None)


def written_as(
    file: File, encoding: str | None, delimiter: str | None, decimal: str | None, date_format: str | None
) -> File:
    """Return a file with how its text is written; what is None is left as it is."""
    if decimal is None and date_format is None:
        return file
    said: dict[str, Any] = {
        "encoding": encoding,
        "delimiter": delimiter,
        "decimal": decimal,
        "date_format": date_format,
    }
    text = file if isinstance(file, TextFile) else TextFile(place_of(file))
    return replace(text, **{name: each for name, each in said.items() if each is not None})


def with_dates(
    columns: Sequence[RawColumn], date_format: str, as_is: Collection[str | None] = ()
) -> list[RawColumn]:
    """Return text columns with dates of a format as ISO dates, and the format declared where it is used."""
    pattern = strptime_format(date_format)
    read = date_reader(pattern)
    found = []
    for column in columns:
        if isinstance(column.cells, TextCells) and column.cells.numbers is None and column.name not in as_is:
            dates = {text for text in column.cells.text_counts.distinct if read(text) is not None}
            found.append(_changed(column, read, {"date_format": as_written(pattern, dates)}))
        else:
            found.append(column)
    return found


def decoded(content: bytes, encoding: str | None, name: str) -> str:
    """Return the text of a file; DataError names the line that is not in the encoding."""
    if encoding is None:
        return _guess(content, name)
    try:
        codec = codecs.lookup(encoding).name
        text = content.decode("utf-8-sig" if codec == "utf-8" else encoding)
    except LookupError:
        raise ParameterError(
            f"{named('encoding')} must be one that Python knows, such as 'utf-8', got {shorten(encoding)}."
        ) from None
    except UnicodeError as error:
        raise DataError(_decoding_problem(content, error, encoding, name)) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(
            f"{name}, line {line}: expected text, got a NUL character. The file may be damaged or not a text "
            f"file; if it is UTF-16, pass {setting('encoding', 'utf-16')}."
        )
    return text


def _guess(content: bytes, name: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(content, "utf-16", name)
    if content.isascii():
        return decoded(content, "utf-8", name)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        # A file that has other characters in UTF-8 is damaged UTF-8, not Windows-1252.
        if not content.decode("utf-8", errors="ignore").isascii():
            return decoded(content, "utf-8", name)
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            return decoded(content, "utf-8", name)
        if not text.isprintable() and any(ord(letter) < 32 and letter not in "\t\r\n\f" for letter in text):
            return decoded(content, "utf-8", name)
        line = content.count(b"\n", 0, error.start) + 1
        warnings.warn(
            f"{name} is not UTF-8; it was read as Windows-1252 (Latin-1), with "
            f"{_word_at(text, error.start)} on line {line}. If that is wrong, give {setting('encoding')}.",
            ReadWarning,
            stacklevel=2,
        )
        return text
    return decoded(content, "utf-8", name)


def _word_at(text: str, place: int) -> str:
    """Return the word around a character."""
    start, end = place, place + 1
    while start and place - start < 20 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and end - place < 20 and text[end].isalnum():
        end += 1
    return repr(text[start:end])


def _decoding_problem(content: bytes, error: UnicodeError, encoding: str, name: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{name}: expected {encoding} text, got UTF-16. Pass {setting('encoding', 'utf-16')}."
    start = error.start if isinstance(error, UnicodeDecodeError) else 0
    line = content.count(b"\n", 0, start) + 1
    got = f"the byte 0x{content[start]:02x}" if start < len(content) else "an incomplete character"
    other = "latin-1" if encoding != "latin-1" else "utf-8"
    return (
        f"{name}, line {line} (byte offset {start}): expected {encoding} text, got {got}. "
        f"If the file uses another encoding, pass it, for example {setting('encoding', other)}."
    )


def _changed(
    column: RawColumn, way: Callable[[str], str | None], declared: Mapping[str, Any] | None = None
) -> RawColumn:
    """Return a column with the texts that a reader can parse replaced; unchanged if it can parse none."""
    cells = as_texts(column.cells)
    if cells.numbers is not None:  # the reader knows how they are written
        texts = LazyTexts(len(cells.texts), lambda: _read_by(way, cells.text_counts).texts())
        return replace(column, cells=TextCells(texts, cells.numbers))
    counts = cells.text_counts
    found = _read_by(way, counts)
    if found is counts:
        return column
    return RawColumn(column.name, TextCells.counted(found), {**column.declared, **(declared or {})})


def _read_by(way: Callable[[str], str | None], counts: TextCounts) -> TextCounts:
    read = list(map(way, counts.distinct))
    if not any(read):
        return counts
    return counts.renamed([other or text for text, other in zip(counts.distinct, read, strict=True)])


def point_number(text: str) -> str | None:
    """Return a number with a decimal comma as Python writes it; None for other text."""
    if _COMMA_NUMBER.fullmatch(text) is None:
        return None
    return _GROUPING.sub("", text).replace(",", ".")


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
