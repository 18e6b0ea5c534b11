"""Small files that people open in spreadsheets: written so that no text runs, read with their lines.

A text that begins with ``= + - @``, a tab or a carriage return is a formula to a spreadsheet, which may send
data away or start programs. Such texts are written with an apostrophe before them; reading takes it off.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cellworth.errors import DataError
from cellworth.table import Column, Table
from cellworth.table.building.assemble import Parts
from cellworth.table.files import File, check_readable, format_of, read_bytes, replace_file
from cellworth.table.reading.cells import as_texts
from cellworth.table.reading.csv_file import read_csv
from cellworth.wording import did_you_mean, listing, shorten

# Apostrophes of the text's own before such a character count too, so that taking one off always gives the
# text that was written.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_SEPARATORS = (",", ";", "\t")  # of the spreadsheets of different countries


def guard(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would take it for a formula.

    >>> guard("=1+1"), guard("-"), guard("red")
    ("'=1+1", "'-", 'red')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguard(text: str) -> str:
    """Return the text that `guard` was given."""
    return text[1:] if _GUARDED.match(text) else text


def guard_table(table: Table) -> Table:
    """Return a table whose names, row ids and texts are guarded; for spreadsheets, not for reading back."""
    target = table.target
    if target is not None:
        classes = target.classes
        if classes is not None:
            classes = tuple(guard(each) if isinstance(each, str) else each for each in classes)
        column = _guard_column(target.column)
        target = replace(target, name=column.name, classes=classes, column=column)
    columns = tuple(map(_guard_column, table.columns))
    row_id = None if table.row_id is None else guard(table.row_id)
    return Table(Parts(columns, table.values, tuple(map(guard, table.row_ids)), target, row_id))


def check_place(path: Path) -> None:
    """Raise DataError if no list can be written there: it must end in .csv, .tsv or .txt, perhaps .gz."""
    _check_format(path)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"{path}: expected a file in a folder that exists. Check the path.")


def csv_text(records: Sequence[Sequence[str]], separator: str = ",") -> str:
    """Return lines of fields, which are guarded already, as text."""
    text = io.StringIO(newline="")
    # Some versions of the csv module leave a lone carriage return without quotes.
    has_return = any("\r" in field for record in records for field in record)
    writer = csv.writer(
        text,
        delimiter=separator,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL,
    )
    writer.writerows(records)
    return text.getvalue()


def write_lines(path: Path, records: Sequence[Sequence[str]]) -> None:
    """Write lines of fields, which are guarded already, the header first; all of the file or nothing."""
    check_place(path)
    content = csv_text(records, "\t" if ".tsv" in path.suffixes else ",").encode("utf-8")
    packed = gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content
    replace_file(path, lambda part: _write_bytes(part, packed))


def read_lines(
    path: File, fields: Sequence[str], encoding: str | None = None
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of each line, counted from 1, and these of its fields, stripped and unguarded.

    Fields are found by the header, in any case and order; further ones are passed over, and so are lines in
    which all of ``fields`` are blank. Separators are commas, semicolons or tabs, whichever the header has
    most of. The encoding is UTF-8 by default, or UTF-16 where the file begins with its mark. DataError if the
    file cannot be read, with its line where it is one that is at fault.
    """
    _check_format(path)
    check_readable(path)
    content = read_bytes(path)
    if encoding is None:
        marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if content.startswith(marks) else "utf-8"
    header = content.partition(b"\n")[0]
    separator = max(_SEPARATORS, key=lambda each: header.count(each.encode()))
    columns, source = read_csv(path, encoding, separator)
    names = [column.name.casefold() for column in columns]
    _check_header(path, names, fields)
    wanted = [as_texts(columns[names.index(field)].cells).texts for field in fields]
    for line, texts in zip(source.lines or (), zip(*wanted, strict=True), strict=True):
        if any(texts):
            yield line, tuple(map(unguard, texts))


def _guard_column(column: Column) -> Column:
    return replace(column, name=guard(column.name), categories=tuple(map(guard, column.categories)))


def _check_format(path: File) -> None:
    if format_of(path, "Lists of cells are kept in .csv files.") != "csv":
        raise DataError(f"{path}: expected a file that ends in .csv, got {shorten(path.name)}.")


def _check_header(path: File, names: Sequence[str], fields: Sequence[str]) -> None:
    for field in fields:
        if names.count(field) != 1:
            there = "is there more than once" if field in names else "is not there"
            hint = did_you_mean(field, [name for name in names if name not in fields])
            raise DataError(
                f"{path}, line 1: expected a header with {listing(fields)}; {field!r} {there}.{hint} The "
                f"header has {listing(names, most=10)}."
            )


def _write_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)
