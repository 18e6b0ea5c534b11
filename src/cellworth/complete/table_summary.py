"""The first pass over a table of row blocks: what must be known before its blocks can be processed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from cellworth.arrays import Float64Array, FloatArray, IntArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.encoded_table import LearnedRows
from cellworth.blocks.row_source import Part, Source
from cellworth.complete.labels import LabelSummary, is_missing
from cellworth.complete.scaling import Scaling
from cellworth.errors import DataError, ParameterError


@dataclass(frozen=True)
class TableSummary:
    """Summary of some rows; summaries of adjacent rows can be merged.

    Attributes
    ----------
    sums : ColumnSums
    low, high : (d,) arrays
        Extremes of the observed cells; infinite if there are none.
    first : (d,) int array
        The number of the first row where the column is observed; the largest integer if there is none.
    infinite : tuple of (row, column) or None
        The first infinite cell.
    labels : LabelSummary or None
    labelled : tuple of int
        Number of labelled rows in each block, in order.
    rows : tuple of int
        Number of rows in each block, in order.
    known : tuple of (d,) arrays
        Number of observed cells in each block, in order.
    """

    sums: ColumnSums
    low: FloatArray
    high: FloatArray
    first: IntArray
    infinite: tuple[int, int] | None
    labels: LabelSummary | None
    labelled: tuple[int, ...]
    rows: tuple[int, ...]
    known: tuple[Float64Array, ...]

    @property
    def counts(self) -> IntArray:
        """Number of observed cells in each column, (d,)."""
        return self.sums.count.astype(np.intp)

    @property
    def rows_before(self) -> list[tuple[int, int]]:
        """Number of labelled and unlabelled rows before each block."""
        labelled = np.cumsum([0, *self.labelled])
        rows = np.cumsum([0, *self.rows])
        return list(zip(labelled[:-1].tolist(), (rows - labelled)[:-1].tolist(), strict=True))

    def scaling(self, how: str | None, dtype: Any) -> Scaling:
        """Return the scaling that `Scaling.of` would learn from the whole table."""
        if how == "minmax":
            return Scaling.of_range(self.low, self.high, dtype)
        if how == "standard":
            return Scaling.of_sums(self.sums, dtype)
        if how is not None:
            raise ParameterError(f"scale must be 'minmax', 'standard' or None; got {how!r}")
        return Scaling(np.zeros(len(self.low)), np.ones(len(self.low)))

    def with_cells(self, learned: LearnedRows) -> TableSummary:
        """Return the summary with some holes filled."""
        if not len(learned.rows):
            return self
        X, observed = learned.X, ~np.isnan(learned.X)
        new = np.where(observed.any(axis=0), learned.rows[observed.argmax(axis=0)], self.first)
        ends = np.cumsum([0, *self.rows])
        blocks = np.searchsorted(ends, learned.rows, side="right") - 1
        known, labels, labelled = list(self.known), self.labels, np.array(self.labelled)
        for block in np.unique(blocks).tolist():
            known[block] = known[block] + observed[blocks == block].sum(axis=0)
        if labels is not None and learned.y is not None:
            labels = labels.merged(LabelSummary.of(learned.y))
            labelled += np.bincount(blocks[~is_missing(learned.y)], minlength=len(labelled))
        infinite = np.argwhere(np.isinf(X))
        return replace(
            self,
            sums=self.sums.merged(ColumnSums.of(X)),
            low=np.fmin(self.low, np.fmin.reduce(X, axis=0, initial=np.inf)),
            high=np.fmax(self.high, np.fmax.reduce(X, axis=0, initial=-np.inf)),
            first=np.minimum(self.first, new),
            infinite=(int(learned.rows[infinite[0][0]]), int(infinite[0][1]))
            if len(infinite)
            else self.infinite,
            known=tuple(known),
            labels=labels,
            labelled=tuple(labelled.tolist()),
        )


def summarise(source: Source) -> TableSummary:
    """Make the first pass, or recall it; raise DataError if the table cannot be completed."""
    found = source.recall("summary", _in_a_pass)
    summary = _in_a_pass(source) if found is None else found[0].with_cells(found[1])
    if summary.infinite is not None:
        row, column = summary.infinite
        raise DataError(
            f"the table contains infinity: column {source.columns[column]!r}, row number {row} (counted from "
            "0); expected finite numbers, or NaN for a hole."
        )
    _check_columns(summary, source.columns)
    return summary


def _in_a_pass(source: Source) -> TableSummary:
    summary: TableSummary = source.reduce(_of_part, _merge)
    return summary


def _check_columns(summary: TableSummary, names: Sequence[str]) -> None:
    empty = [name for name, count in zip(names, summary.counts, strict=True) if not count]
    if empty:
        shown = ", ".join(map(repr, empty[:5])) + (f" and {len(empty) - 5} more" if len(empty) > 5 else "")
        raise DataError(
            f"no row has a value of {shown}, so nothing can be learned about it; expected at least one in "
            "each column. Leave the column out, or get a value for it."
        )


def _of_part(part: Part) -> TableSummary:
    if issparse(part.X):
        return _of_sparse(part.X, part.start)
    X, observed = part.X, ~np.isnan(part.X)
    infinite = np.argwhere(np.isinf(X))
    first = np.where(observed.any(axis=0), part.start + observed.argmax(axis=0), np.iinfo(np.intp).max)
    sums = ColumnSums.of(np.where(np.isinf(X), np.nan, X) if len(infinite) else X)
    return TableSummary(
        sums,
        np.fmin.reduce(X, axis=0, initial=np.inf),
        np.fmax.reduce(X, axis=0, initial=-np.inf),
        first,
        (part.start + int(infinite[0][0]), int(infinite[0][1])) if len(infinite) else None,
        None if part.y is None else LabelSummary.of(part.y),
        (0 if part.y is None else int((~is_missing(part.y)).sum()),),
        (len(X),),
        (sums.count,),
    )


def _of_sparse(X: Any, start: int) -> TableSummary:
    """Summarise the stored cells of a sparse matrix."""
    d, column, value = X.shape[1], X.indices, X.data.astype(np.float64)
    row = start + np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    bad = np.flatnonzero(~np.isfinite(value))
    count = np.bincount(column, minlength=d).astype(np.float64)
    mean = np.bincount(column, value, minlength=d) / np.maximum(count, 1)
    squares = np.asarray(np.bincount(column, (value - mean[column]) ** 2, minlength=d), dtype=np.float64)
    low, high, first = np.full(d, np.inf), np.full(d, -np.inf), np.full(d, np.iinfo(np.intp).max)
    np.minimum.at(low, column, value)
    np.maximum.at(high, column, value)
    np.minimum.at(first, column, row)
    infinite = (int(row[bad[0]]), int(column[bad[0]])) if len(bad) else None
    sums = ColumnSums(count, mean, squares)
    return TableSummary(sums, low, high, first, infinite, None, (0,), (X.shape[0],), (count,))


def _merge(a: TableSummary, b: TableSummary) -> TableSummary:
    return TableSummary(
        a.sums.merged(b.sums),
        np.minimum(a.low, b.low),
        np.maximum(a.high, b.high),
        np.minimum(a.first, b.first),
        b.infinite if a.infinite is None else a.infinite,
        None if a.labels is None or b.labels is None else a.labels.merged(b.labels),
        a.labelled + b.labelled,
        a.rows + b.rows,
        a.known + b.known,
    )
