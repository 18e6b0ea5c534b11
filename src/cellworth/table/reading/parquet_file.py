"""Parquet files to columns, by way of pyarrow."""

from __future__ import annotations

from cellworth.errors import DataError
from cellworth.optional import require
from cellworth.table.files import File, read_bytes
from cellworth.table.reading.cells import RawColumn
from cellworth.table.reading.frames import read_frame
from cellworth.table.source import Source


def read_parquet(path: File) -> tuple[list[RawColumn], Source]:
    """Read a Parquet file whole; pyarrow is imported here and nowhere earlier."""
    pyarrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    content = read_bytes(path)
    try:
        frame = parquet.ParquetFile(pyarrow.BufferReader(content)).read()
        frame.validate(full=True)  # a damaged file may hold texts that are none, found only on use
        _ = frame.column_names
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise DataError(
            f"{path}: expected a Parquet file, got one that cannot be read ({str(error).splitlines()[0]}). "
            "Check that it is complete, or export it as .csv."
        ) from None
    return read_frame(frame, str(path))
