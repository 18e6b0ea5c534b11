"""Write a table in row blocks as one file, a part at a time: what people take away and open elsewhere."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from cellworth.blocks.block_table import BlockTable
from cellworth.errors import DataError
from cellworth.optional_packages import require
from cellworth.table import Table
from cellworth.table.excel import Field, write_sheet
from cellworth.table.files import format_of, replace_file
from cellworth.table.write_csv import separator_of
from cellworth.table.write_table import guard_table, out_columns, sheet_rows, table_as_csv

PART_CELLS = 1_000_000
"""Cells in memory at a time, about."""
SHEET_ROWS = 1_048_576
"""Rows of a sheet of a workbook, with that of the names."""
MARK = "\ufeff"
"""The byte order mark, without which Excel misreads other characters than ASCII."""


def csv_parts(
    table: BlockTable, *, guarded: bool = False, delimiter: str = ",", decimal: str = "."
) -> Iterator[str]:
    """Yield the table as delimited text, names first; one pass, memory is that of a part."""
    for place, part in enumerate(_parts(table)):
        written = guard_table(part) if guarded else part
        about = written.row_id, written.row_ids, out_columns(written), delimiter, decimal
        yield table_as_csv(*about, names=place == 0)


def write_whole(
    table: BlockTable,
    path: Path,
    *,
    guarded: bool = False,
    delimiter: str | None = None,
    decimal: str = ".",
) -> None:
    """Write the table to one .csv, .tsv, .xlsx or .parquet file, which appears once it is complete.

    One pass, memory is that of a part. With ``guarded``, a text file is for Excel and the like, as that of
    `write_for_spreadsheet`: text that would be a formula is escaped, and a mark precedes other characters
    than ASCII.
    """
    ending = format_of(path, "")
    if ending == "parquet":
        replace_file(path, lambda part: _write_parquet(table, part))
    elif ending == "xlsx":
        if table.n_rows >= SHEET_ROWS:
            raise DataError(
                f"{path.name}: a sheet of a workbook has {SHEET_ROWS:,} rows, and the table has more. "
                "Write a .csv or .parquet file."
            )
        write_sheet(path, _sheet_rows(table))
    else:
        texts = csv_parts(table, guarded=guarded, delimiter=separator_of(path, delimiter), decimal=decimal)
        packed = path.suffix.lower() == ".gz"
        replace_file(path, lambda part: _write_texts(texts, part, marked=guarded, packed=packed))


def _parts(table: BlockTable) -> Iterator[Table]:
    return table.parts(max(1, PART_CELLS // max(1, len(table.columns))))


def _write_texts(texts: Iterator[str], path: Path, *, marked: bool, packed: bool) -> None:
    plain, opened = True, gzip.open if packed else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        for text in texts:
            plain = plain and text.isascii()
            file.write(text)
    if marked and not plain:
        _put_first(path, MARK, packed=packed)


def _put_first(path: Path, text: str, *, packed: bool) -> None:
    """Put a text before those of a file, which is copied; packed texts can be put one after the other."""
    other = path.with_name(path.name + ".marked")
    start = text.encode("utf-8")
    with path.open("rb") as source, other.open("wb") as out:
        out.write(gzip.compress(start, mtime=0) if packed else start)
        shutil.copyfileobj(source, out)
    other.replace(path)


def _write_parquet(table: BlockTable, path: Path) -> None:
    parquet = require("pyarrow.parquet")
    parts = (part.to_frame("pyarrow") for part in _parts(table))
    first = next(parts)
    with parquet.ParquetWriter(path, first.schema) as writer:
        for frame in chain([first], parts):
            writer.write_table(frame)


def _sheet_rows(table: BlockTable) -> Iterator[Sequence[Field]]:
    for place, part in enumerate(_parts(table)):
        rows = sheet_rows(part.row_id, part.row_ids, out_columns(part))
        names = next(rows)
        if place == 0:
            yield names
        yield from rows
