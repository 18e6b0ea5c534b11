"""Read and write Excel workbooks (.xlsx): the first sheet, with the names of the columns in its first row."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from cellworth.errors import DataError, ReadWarning
from cellworth.messages import listing, shorten
from cellworth.optional_packages import require
from cellworth.table.files import FileBytes, replace_file

Field = str | float | bool | date | None


def read_sheet(
    file: Path | FileBytes, content: bytes, decimal: str = "."
) -> tuple[list[list[str]], list[int]]:
    """Return the rows of the first sheet as text, and their numbers; rows without a value are skipped.

    Cells that are numbers are written with the decimal mark of the texts beside them: both are read the same
    way, by which 1.234 would be 1234 if the mark is a comma. Dates are as Python writes them. Rows are
    as wide as the widest. O(cells).
    """
    openpyxl = require("openpyxl")
    _check_size(file, content)
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs state wrong ones
        _warn_of_others(file, book)
        rows = [[_text(value, decimal) for value in row] for row in sheet.iter_rows(values_only=True)]
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, OSError, EOFError) as error:
        raise DataError(
            f"{file}: expected an Excel workbook, got a file that is not one ({error})."
        ) from None
    except Exception as error:  # its XML parser has errors of its own
        raise DataError(f"{file}: the Excel workbook cannot be read ({error}). Save it again.") from None
    numbered = [(number, row) for number, row in enumerate(rows, start=1) if any(row)]
    if numbered:
        _check_formulas(file, content, numbered)
    width = max((place + 1 for _, row in numbered for place, text in enumerate(row) if text), default=0)
    return [(row + [""] * width)[:width] for _, row in numbered], [number for number, _ in numbered]


def _warn_of_others(file: Path | FileBytes, book: Any) -> None:
    """Warn if other sheets have values, too: they are not read."""
    others = [each.title for each in book.worksheets[1:] if any(map(any, each.iter_rows(values_only=True)))]
    if others:
        warnings.warn(
            f"{file}: only its first sheet, {shorten(book.worksheets[0].title)}, was read, and not "
            f"{listing(others)}. If the table is on another one, move that to the front.",
            ReadWarning,
            stacklevel=2,
        )


def write_sheet(path: Path, rows: Iterable[Sequence[Field]]) -> None:
    """Write rows, header first, to a workbook with one sheet, atomically; None leaves a cell empty.

    Text stays text, even if it looks like a formula or a number.
    """
    openpyxl = require("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("cellworth")
    sheet.freeze_panes = "A2"
    for row in rows:
        sheet.append([_cell(openpyxl, sheet, field) for field in row])
    replace_file(path, book.save)


def _check_size(file: Path | FileBytes, content: bytes) -> None:
    """Refuse an upload that is too large once unpacked."""
    most = file.most if isinstance(file, FileBytes) else None
    if most is None:
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(part.file_size for part in packed.infolist())
    except zipfile.BadZipFile:
        return  # the reader says so
    if size > most:
        raise DataError(f"{file}: the file is larger than {most / 1e6:g} MB uncompressed. Split it.")


def _check_formulas(file: Path | FileBytes, content: bytes, rows: Sequence[tuple[int, list[str]]]) -> None:
    """Refuse a column of formulas that no program has computed yet: every cell of it would be a hole."""
    (number, names), *below = rows
    blank = [
        j for j, name in enumerate(names) if name and not any(row[j] for _, row in below if j < len(row))
    ]
    if not blank or not below:
        return
    sheet = require("openpyxl").load_workbook(io.BytesIO(content), read_only=True).worksheets[0]
    sheet.reset_dimensions()
    for row in sheet.iter_rows(min_row=number + 1):
        for j in blank:
            if j < len(row) and row[j].data_type == "f":
                raise DataError(
                    f"{file}, column {names[j]!r}: its formulas have no stored results. Open the workbook in "
                    "a spreadsheet program, save it, and try again."
                )


def _text(value: object, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return value.strip() if isinstance(value, str) else repr(value).replace(".", decimal)


def _cell(openpyxl: Any, sheet: Any, field: Field) -> Any:
    if not isinstance(field, str):
        return field
    if not field:
        return None
    cell = openpyxl.cell.WriteOnlyCell(sheet, value=openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("", field))
    cell.data_type = "s"  # or text that starts with = would be a formula
    return cell
