"""Cells as Arrow keeps them: columns of numbers, and a bit for each that says whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cellworth.arrays import AnyArray, FloatArray

ROWS_IN_CACHE = 8192  # of a few dozen columns


class ColumnChunk(NamedTuple):
    """Adjacent cells of a column.

    Attributes
    ----------
    first : int
        Row of the first.
    values : (m,) array
        Anything in the holes.
    known : array of uint8 or None
        A bit for each cell, 0 in the holes; None if there are none.
    first_bit : int
        That of the first cell.
    """

    first: int
    values: FloatArray
    known: AnyArray | None
    first_bit: int

    def between(self, start: int, stop: int) -> ColumnChunk:
        """Return the cells of the rows ``start`` to ``stop`` of the table, which must be here."""
        begin = start - self.first
        values = self.values[begin : stop - self.first]
        return ColumnChunk(start, values, self.known, self.first_bit + begin)

    def masks(self, word: np.dtype[Any]) -> AnyArray:
        """Return a word for each cell: all ones, or 0 if it is a hole."""
        assert self.known is not None
        lo, hi = self.first_bit, self.first_bit + len(self.values)
        masks = np.take(_masks_of_bytes(word), self.known[lo // 8 : -(-hi // 8)], axis=0, mode="clip")
        found: AnyArray = masks.reshape(-1)[lo % 8 :][: hi - lo]
        return found


@dataclass(frozen=True)
class CellColumns:
    """The cells of n rows and d columns, in chunks of columns; nothing is copied.

    Attributes
    ----------
    shape : (n, d)
    dtype : float32 or float64
    columns : d tuples of chunks
        Those of a column follow each other; each has a row.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    columns: tuple[tuple[ColumnChunk, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[Any], n_rows: int, dtype: np.dtype[Any]) -> CellColumns:
        """Take pyarrow columns (n_rows,) of floats of this type."""
        return cls((n_rows, len(columns)), dtype, tuple(tuple(_chunks(column, dtype)) for column in columns))

    def rows(self) -> FloatArray:
        """Return the cells as an array (n, d), NaN in the holes; O(n d).

        Some rows at a time, while they are in cache, and without the copy of a column that pyarrow would
        make. A null is put in by its bits, without a branch: where nulls are many and irregular, these cost
        most.
        """
        word = np.dtype(f"u{self.dtype.itemsize}")
        nothing = np.array(np.nan, dtype=self.dtype).view(word)[()]
        out = np.empty(self.shape, dtype=self.dtype)
        rows, work = out.view(word), np.empty(ROWS_IN_CACHE, dtype=word)
        chunks = [(j, chunk) for j, column in enumerate(self.columns) for chunk in column]
        for start in range(0, len(out), ROWS_IN_CACHE):
            stop = min(start + ROWS_IN_CACHE, len(out))
            for j, chunk in chunks:
                lo, hi = max(start, chunk.first), min(stop, chunk.first + len(chunk.values))
                if lo >= hi:
                    continue
                some = chunk.between(lo, hi)
                cells = some.values.view(word)
                if some.known is None:
                    rows[lo:hi, j] = cells
                    continue
                changed = np.bitwise_xor(cells, nothing, out=work[: hi - lo])
                changed &= some.masks(word)
                np.bitwise_xor(changed, nothing, out=rows[lo:hi, j])
        return out

    def runs(self) -> Iterator[tuple[ColumnChunk, ...]]:
        """Yield runs of rows in which no column changes from one chunk to the next: d chunks each."""
        starts = sorted({chunk.first for column in self.columns for chunk in column})
        at = [0] * len(self.columns)
        for start, stop in pairwise([*starts, self.shape[0]]):
            for j, column in enumerate(self.columns):
                at[j] += column[at[j]].first + len(column[at[j]].values) <= start
            yield tuple(
                column[now].between(start, stop) for column, now in zip(self.columns, at, strict=True)
            )


@cache
def _masks_of_bytes(word: np.dtype[Any]) -> AnyArray:
    """Return for each byte the words (256, 8) of its bits: all ones, or 0."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return bits.astype(word) * np.iinfo(word).max


def _chunks(column: Any, dtype: np.dtype[Any]) -> Iterator[ColumnChunk]:
    """Yield the chunks of a pyarrow column that have a row."""
    first = 0
    for chunk in column.chunks:
        if not len(chunk):
            continue
        bits, data = chunk.buffers()
        begin, end = chunk.offset, chunk.offset + len(chunk)
        some_null = bits is not None and chunk.null_count
        known = np.frombuffer(bits, dtype=np.uint8) if some_null else None
        yield ColumnChunk(first, np.frombuffer(data, dtype=dtype)[begin:end], known, begin)
        first += len(chunk)
