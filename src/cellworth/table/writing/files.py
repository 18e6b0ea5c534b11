"""Tables to CSV and Parquet files, each complete or not there at all."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.optional import require
from cellworth.table.column import LABELLED, Column
from cellworth.table.files import format_of, replace_file
from cellworth.table.source import Floats
from cellworth.table.values.dates import stamps_from_days
from cellworth.table.writing.frames import OutColumn, to_frame


def write_table(path: Path, row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn]) -> None:
    """Write the table in the format of the path's suffix; O(n p)."""
    if format_of(path, "For other files use to_frame and write the frame.") == "parquet":
        parquet = require("pyarrow.parquet")
        frame = to_frame("pyarrow", row_id, row_ids, columns)
        replace_file(path, lambda part: parquet.write_table(frame, part))
    else:
        separator = "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else ","
        content = csv_text(row_id, row_ids, columns, separator).encode("utf-8")
        if path.suffix.lower() == ".gz":
            content = gzip.compress(content, mtime=0)
        replace_file(path, lambda part: _write_bytes(part, content))


def _write_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def csv_text(
    row_id: str | None, row_ids: Sequence[str], columns: Sequence[OutColumn], separator: str = ","
) -> str:
    """Return the table as CSV; O(n p)."""
    header = [out.column.name for out in columns]
    fields: list[Iterable[str]] = [_texts(out.column, out.values) for out in columns]
    if row_id is not None:
        header.insert(0, row_id)
        fields.insert(0, row_ids)
    file = io.StringIO(newline="")
    # Some versions of the csv module leave a lone carriage return without quotes.
    texts = [*header, *row_ids, *(text for out in columns for text in out.column.categories)]
    writer = csv.writer(
        file,
        delimiter=separator,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL,
    )
    writer.writerow(header)
    writer.writerows(zip(*fields, strict=True))
    return file.getvalue()


def _texts(column: Column, values: Floats) -> list[str]:
    """Write the cells of a column so that they read back exactly; a hole is blank."""
    holes = np.isnan(values)
    observed: Any
    if column.kind == "number":
        observed = list(map(repr, values.tolist()))
    elif column.kind == "date":
        stamps = stamps_from_days(values)
        observed = np.datetime_as_string(stamps, unit="D" if column.whole_days else "us").tolist()
    else:
        places = np.where(holes, 0, values).astype(np.int64).tolist()
        words = ("false", "true") if column.kind == "boolean" else column.categories
        is_labelled = column.kind in LABELLED or column.kind == "boolean"
        observed = [words[place] for place in places] if is_labelled else list(map(str, places))
    return ["" if hole else text for hole, text in zip(holes.tolist(), observed, strict=True)]
