"""Write delimited text, atomically, and make it safe to open in a spreadsheet.

A spreadsheet treats text that starts with ``= + - @``, a tab or a carriage return as a formula, which may
leak data or run programs. `guard` prefixes such text with an apostrophe; `unguard` removes it.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cellworth.errors import DataError
from cellworth.table.excel import Field, write_sheet
from cellworth.table.files import check_csv_name, format_of, replace_file

# Text that already has apostrophes before such a character gets one more, so that removing one always
# restores the original.
NUMBERS = ("price", "price_after_first", "worth")
"""Fields of lists and price files that hold numbers."""
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def guard(text: str) -> str:
    """Prefix the text with an apostrophe if a spreadsheet would treat it as a formula.

    >>> guard("=1+1"), guard("-"), guard("red")
    ("'=1+1", "'-", 'red')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguard(text: str) -> str:
    """Undo `guard`."""
    return text[1:] if text[:1] == "'" and _GUARDED.match(text) else text


def csv_text(records: Iterable[Sequence[str]], separator: str = ",") -> str:
    r"""Return lines of fields as delimited text; fields are written as is, so guard them first.

    >>> csv_text([["row", "note"], ["a", "1,5"]])
    'row,note\na,"1,5"\n'
    """
    lines = list(records)
    text = _written(lines, separator, csv.QUOTE_MINIMAL)
    # Some versions of the csv module do not quote a lone carriage return.
    return _written(lines, separator, csv.QUOTE_ALL) if "\r" in text else text


def write_lines(
    path: Path, records: Iterable[Sequence[str]], *, delimiter: str | None = None, decimal: str = "."
) -> None:
    """Write lines of fields, header first, to a .csv, .tsv, .txt or .xlsx file, atomically.

    Fields are written as is, so guard them first. They are separated by tabs in a .tsv file, elsewhere by the
    delimiter or commas; prices and worths get the decimal mark. A file whose name ends in .gz is compressed.
    In a workbook prices are numbers, and text needs no guard. Text other than ASCII gets a byte order mark,
    without which Excel misreads it.
    """
    check_place(path)
    if format_of(path, "") == "xlsx":
        header, *lines = records
        write_sheet(path, [header, *(_typed(header, line) for line in lines)])
    else:
        header, *lines = records
        if decimal != ".":
            lines = [with_decimal(header, line, decimal) for line in lines]
        write_text(path, with_mark(csv_text([header, *lines], separator_of(path, delimiter))))


def with_decimal(header: Sequence[str], line: Sequence[str], decimal: str) -> list[str]:
    """Return the fields of a line with the decimal mark in `NUMBERS`."""
    return [
        text.replace(".", decimal) if name in NUMBERS else text
        for name, text in zip(header, line, strict=True)
    ]


def with_mark(text: str) -> str:
    """Prefix a byte order mark if the text has other characters than ASCII, so that Excel reads them."""
    return text if text.isascii() else f"\ufeff{text}"


def _typed(header: Sequence[str], line: Sequence[str]) -> list[Field]:
    return [
        float(text) if name in NUMBERS and text else unguard(text)
        for name, text in zip(header, line, strict=True)
    ]


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, atomically, compressed if the path ends in .gz."""
    content = text.encode("utf-8")
    packed = gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content

    def write(part: Path) -> None:
        part.write_bytes(packed)

    replace_file(path, write)


def check_place(path: Path) -> None:
    """Raise DataError unless the path ends in .csv, .tsv or .txt, optionally .gz, in an existing folder."""
    check_csv_name(path, "Lists of cells are kept in .csv files.")
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"{path}: expected a file in a folder that exists. Check the path.")


def separator_of(path: Path, delimiter: str | None = None) -> str:
    """Return the field separator for a file with this name: a tab in a .tsv file, else the delimiter."""
    return "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else delimiter or ","


def _written(records: Sequence[Sequence[str]], separator: str, quoting: int) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(records)  # type: ignore[arg-type]
    return text.getvalue()
