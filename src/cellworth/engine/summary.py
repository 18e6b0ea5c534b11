"""The first pass over a table: all that must be known of it as a whole before its blocks can be worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.protocol import Blocks, Engine
from cellworth.blocks.source import Block, Source
from cellworth.complete.labels import is_missing
from cellworth.complete.scaling import SCALES, Scaling
from cellworth.engine.labels import LabelSummary
from cellworth.errors import DataError, ParameterError

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Summary:
    """Of some rows; summaries of neighbouring rows can be merged.

    Attributes
    ----------
    moments : ColumnSums
    low, high : (d,) arrays
        Of the observed cells; infinite where there is none.
    first : (d,) int array
        The number of the first row that has the column observed; the number of rows if none has.
    infinite : tuple of (row, column) or None
        The first cell that is infinite.
    labels : LabelSummary or None
    labelled : tuple of int
        Labelled rows of each block, in order.
    rows : tuple of int
        Rows of each block, in order.
    """

    moments: ColumnSums
    low: Array
    high: Array
    first: NDArray[np.intp]
    infinite: tuple[int, int] | None
    labels: LabelSummary | None
    labelled: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def counts(self) -> NDArray[np.intp]:
        """Observed cells of each column, (d,)."""
        return self.moments.count.astype(np.intp)

    @property
    def starts(self) -> list[tuple[int, int]]:
        """For each block, the labelled rows and the other rows before it."""
        labelled = np.cumsum([0, *self.labelled])
        rows = np.cumsum([0, *self.rows])
        return list(zip(labelled[:-1].tolist(), (rows - labelled)[:-1].tolist(), strict=True))

    def scaling(self, how: str | None, dtype: np.dtype[np.floating]) -> Scaling:
        """Return the scaling that `Scaling.of` learns from the whole table."""
        if how not in SCALES:
            raise ParameterError(f"scale must be 'minmax', 'standard' or None; got {how!r}")
        d = len(self.low)
        offset: Array
        width: Array
        if how is None:
            offset, width = np.zeros(d), np.ones(d)
        elif how == "minmax":
            offset, width = self.low.astype(np.float64), self.high - self.low.astype(np.float64)
        else:
            offset, width = self.moments.mean, self.moments.deviation()
        smallest = np.finfo(dtype).eps * np.maximum(np.abs(offset), np.finfo(np.float64).tiny)
        return Scaling(offset, np.where(np.isfinite(width) & (width > smallest), width, 1.0))


def summarise(engine: Engine, blocks: Blocks, source: Source) -> Summary:
    """Make the first pass, and refuse a table that cannot be completed."""
    summary: Summary = engine.reduce(_of_block, _merge, blocks)
    if summary.infinite is not None:
        row, column = summary.infinite
        raise DataError(
            f"the table contains infinity: column {source.columns[column]!r}, row number {row} (counted from "
            "0); expected finite numbers, or NaN for a hole."
        )
    _check_columns(summary, source.columns)
    return summary


def _check_columns(summary: Summary, names: Sequence[str]) -> None:
    empty = [name for name, count in zip(names, summary.counts, strict=True) if not count]
    if empty:
        shown = ", ".join(map(repr, empty[:5])) + (f" and {len(empty) - 5} more" if len(empty) > 5 else "")
        raise DataError(
            f"no row has a value of {shown}, so nothing can be learned about it; expected at least one in "
            "each column. Leave the column out, or get a value for it."
        )


def _of_block(block: Block) -> Summary:
    part = block.read()
    X, observed = part.X, ~np.isnan(part.X)
    infinite = np.argwhere(np.isinf(X))
    first = np.where(observed.any(axis=0), part.start + observed.argmax(axis=0), np.iinfo(np.intp).max)
    return Summary(
        ColumnSums.of(np.where(np.isinf(X), np.nan, X) if len(infinite) else X),
        np.fmin.reduce(X, axis=0, initial=np.inf),
        np.fmax.reduce(X, axis=0, initial=-np.inf),
        first,
        (part.start + int(infinite[0][0]), int(infinite[0][1])) if len(infinite) else None,
        None if part.y is None else LabelSummary.of(part.y),
        (0 if part.y is None else int((~is_missing(part.y)).sum()),),
        (len(X),),
    )


def _merge(a: Summary, b: Summary) -> Summary:
    return Summary(
        a.moments.merged(b.moments),
        np.minimum(a.low, b.low),
        np.maximum(a.high, b.high),
        np.minimum(a.first, b.first),
        b.infinite if a.infinite is None else a.infinite,
        None if a.labels is None or b.labels is None else a.labels.merged(b.labels),
        a.labelled + b.labelled,
        a.rows + b.rows,
    )
