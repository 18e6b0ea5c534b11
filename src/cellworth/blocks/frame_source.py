"""Row blocks of a Dask data frame: its partitions, with columns of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from cellworth.blocks.row_source import Block
from cellworth.errors import DataError
from cellworth.table.frames import read_frame
from cellworth.table.parse_values import label
from cellworth.table.raw_cells import Cells


@dataclass(frozen=True)
class FrameBlock:
    """Some rows of one partition of a Dask data frame, from ``first`` on.

    Attributes
    ----------
    partition : Dask data frame of one partition
        Computed where the block is read, in that thread.
    names : tuple of str
        Its columns as texts, by position.
    """

    partition: Any
    names: tuple[str, ...]
    first: int
    start: int
    stop: int

    def cells(self, names: Sequence[str]) -> list[Cells]:
        """Read the cells of some columns, as `Table.from_frame` reads those of a frame."""
        distinct = list(dict.fromkeys(names))
        own = [self.partition.columns[self.names.index(name)] for name in distinct]
        frame = self.partition[own].compute(scheduler="synchronous")
        frame = frame.iloc[self.first : self.first + self.stop - self.start].reset_index(drop=True)
        raw, _ = read_frame(frame)
        found = {name: column.cells for name, column in zip(distinct, raw, strict=True)}
        return [found[name] for name in names]


@dataclass(frozen=True)
class FrameTable:
    """A table in a Dask data frame, whose rows are those of its partitions, one after the other."""

    frame: Any
    rows: tuple[int, ...]  # of each partition
    columns: tuple[str, ...]
    names: tuple[str, ...]  # of all columns of the frame
    dtype: np.dtype[Any]
    named: bool = True
    target: None = None
    row_id: None = None

    @property
    def n_rows(self) -> int:
        """Total rows of all partitions."""
        return sum(self.rows)

    def blocks(self, most_rows: int) -> list[Block]:
        """Split the table into blocks of at most ``most_rows`` rows, none of two partitions."""
        found: list[Any] = []
        for number, (n, end) in enumerate(zip(self.rows, accumulate(self.rows), strict=True)):
            partition = self.frame.partitions[number]
            for first in range(0, n, most_rows):
                start = end - n + first
                found.append(FrameBlock(partition, self.names, first, start, min(start + most_rows, end)))
        return found

    def identity(self) -> dict[str, Any]:
        """Return data that identifies this table."""
        return {"table": type(self.frame).__name__, "rows": self.n_rows, "columns": list(self.columns)}


def is_dask_frame(given: Any) -> bool:
    """Return whether something is a Dask data frame."""
    return hasattr(given, "map_partitions") and hasattr(given, "columns") and hasattr(given, "npartitions")


def frame_table(frame: Any, columns: Sequence[str] | None) -> FrameTable:
    """Open a Dask data frame as a table; counts the rows of its partitions now.

    ``columns`` are those to use, by default all.
    """
    names = tuple(label(name) for name in frame.columns)
    for name in columns or ():
        if name not in names:
            raise DataError(f"the data frame: there is no column {name!r}; got {', '.join(names)}.")
    rows = tuple(map(int, frame.map_partitions(len).compute()))
    if not sum(rows):
        raise DataError("the data frame has no rows; expected at least one.")
    kinds = {str(kind).lower() for kind in frame.dtypes if getattr(kind, "kind", "O") in "fiu"}
    dtype = np.dtype(np.float32 if kinds == {"float32"} else np.float64)
    return FrameTable(frame, rows, tuple(columns or names), names, dtype)
