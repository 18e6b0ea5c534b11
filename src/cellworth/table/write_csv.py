"""Delimited text: lines of fields to CSV, replaced whole, and safe to open in a spreadsheet.

To a spreadsheet a text that begins with ``= + - @``, a tab or a carriage return is a formula, which may send
data away or start programs. `guard` puts an apostrophe before such a text; `unguard` takes it off again.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cellworth.errors import DataError
from cellworth.table.files import check_csv_name, replace_file

# Apostrophes of the text's own before such a character count too, so that taking one off always gives the
# text that was written.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def guard(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would take it for a formula.

    >>> guard("=1+1"), guard("-"), guard("red")
    ("'=1+1", "'-", 'red')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguard(text: str) -> str:
    """Return the text that `guard` was given."""
    return text[1:] if _GUARDED.match(text) else text


def csv_text(records: Iterable[Sequence[str]], separator: str = ",") -> str:
    r"""Return lines of fields as delimited text; fields are written as they are, so guard them first.

    >>> csv_text([["row", "note"], ["a", "1,5"]])
    'row,note\na,"1,5"\n'
    """
    lines = list(records)
    text = _written(lines, separator, csv.QUOTE_MINIMAL)
    # Some versions of the csv module leave a lone carriage return without quotes.
    return _written(lines, separator, csv.QUOTE_ALL) if "\r" in text else text


def write_lines(path: Path, records: Iterable[Sequence[str]]) -> None:
    """Write lines of fields, header first, to a .csv, .tsv or .txt file; all of the file or nothing.

    Fields are written as they are, so guard them first. Tabs separate them in a .tsv file, commas elsewhere.
    A file that ends in .gz is compressed.
    """
    check_place(path)
    write_text(path, csv_text(records, separator_of(path)))


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, compressed if the path ends in .gz; all of the file or nothing."""
    content = text.encode("utf-8")
    packed = gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content

    def write(part: Path) -> None:
        part.write_bytes(packed)

    replace_file(path, write)


def check_place(path: Path) -> None:
    """Raise DataError if no list can be written there: it must end in .csv, .tsv or .txt, perhaps .gz."""
    check_csv_name(path, "Lists of cells are kept in .csv files.")
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"{path}: expected a file in a folder that exists. Check the path.")


def separator_of(path: Path) -> str:
    """Return what separates the fields of a file with this name."""
    return "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else ","


def _written(records: Sequence[Sequence[str]], separator: str, quoting: int) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(records)  # type: ignore[arg-type]
    return text.getvalue()
