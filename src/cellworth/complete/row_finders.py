"""Some rows of a table of row blocks in one place: given by their number, or by that among labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import IntArray
from cellworth.blocks.engine_protocol import join
from cellworth.blocks.row_source import Part, Source
from cellworth.complete.labels import unlabelled_rows
from cellworth.complete.table_summary import TableSummary

RowFinder = Callable[[Part], IntArray]
"""Returns the places of rows in a block, increasing."""


@dataclass(frozen=True)
class RowsAt:
    """Finds rows by their numbers in the table, in increasing order."""

    numbers: IntArray

    def __call__(self, part: Part) -> IntArray:
        """Return the places of those in a block."""
        first, last = np.searchsorted(self.numbers, [part.start, part.start + len(part.X)])
        rows: IntArray = self.numbers[first:last] - part.start
        return rows


@dataclass(frozen=True)
class LabelledRows:
    """Finds rows of row blocks by their numbers among the labelled rows of the table, in increasing order.

    Attributes
    ----------
    wanted : (k,) int array
    before : dict of int to int
        How many labelled rows come before each block, by the number of its first row.
    labelled : bool
        False counts among the rows without a label instead.
    """

    wanted: IntArray
    before: dict[int, int]
    labelled: bool = True

    @classmethod
    def of(cls, summary: TableSummary, wanted: IntArray, *, labelled: bool = True) -> LabelledRows:
        """Find rows of the table that was summarised, in the same blocks."""
        starts = np.cumsum([0, *summary.rows])[:-1]
        before = np.cumsum([0, *summary.labelled])[:-1]
        if not labelled:
            before = starts - before
        return cls(wanted, dict(zip(starts.tolist(), before.tolist(), strict=True)), labelled)

    def __call__(self, part: Part) -> IntArray:
        """Return their places in a block."""
        first = self.before[part.start]
        counted = np.flatnonzero(unlabelled_rows(part) != self.labelled)
        return counted[
            self.wanted[slice(*np.searchsorted(self.wanted, [first, first + len(counted)]))] - first
        ]


def rows_found(source: Source, find: RowFinder) -> Part:
    """Return the rows that a function finds, in the order of the table; one pass."""
    parts: tuple[Part, ...] = source.reduce(_found, join, shared=(find,))
    return joined(parts)


def _found(part: Part, find: RowFinder) -> tuple[Part, ...]:
    """Return the rows found in a block; of the first one also if there are none, for its columns."""
    here = find(part)
    return (part.some(here),) if len(here) or not part.start else ()


def joined(parts: Sequence[Part]) -> Part:
    """Return the rows of several parts as one."""
    y, ids = (
        None if getattr(parts[0], name) is None else np.concatenate([getattr(part, name) for part in parts])
        for name in ("y", "row_ids")
    )
    return Part(np.concatenate([part.X for part in parts]), y, ids, 0)
