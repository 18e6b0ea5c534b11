"""How well each column's holes are filled, measured by hiding known cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete.hold_out import deal_cells, sample_rows
from cellworth.progress import portion
from cellworth.table import Column, Table
from cellworth.table.column import MEASURED, UNORDERED

LEVEL = 0.9
PARTS = 10  # known cells are split into this many parts, hidden one at a time
CELLS = 200_000  # about this many cells are filled in total, so small tables use more parts
MOST_ROWS = 10_000
LEAST_CELLS = 10  # known cells a column needs to be measured


@dataclass(frozen=True)
class FillError:
    """How well the hidden cells of a column were filled.

    Attributes
    ----------
    hidden : int
        Number of hidden cells.
    error, spread : float
        The error and its standard error: root mean square in the column's units (days for a date), or the
        share of wrong values for booleans, ordered columns and categories.
    guess : float
        The same error for the best single value: the mean, or the most common value.
    covered : int or None
        Number of hidden cells inside their interval; None if there are no intervals.
    """

    hidden: int
    error: float
    spread: float
    guess: float
    covered: int | None


def fill_errors(table: Table, completer: Any) -> list[FillError | None]:
    """Hide known cells, a tenth at a time, fill them, and compare; None for a column with too few.

    Costs one to ten completions, fewer for larger tables. Long tables are sampled to 10,000 rows.
    """
    from cellworth.complete import fill  # here: a server that starts needs no scikit-learn

    rng = np.random.default_rng(0)
    table = _some_rows(table, rng)
    part = deal_cells(~table.holes, PARTS, rng, least=LEAST_CELLS)
    times = int(np.clip(CELLS // max(1, table.values.size), 1, PARTS))
    filled, within = np.full(table.shape, np.nan), np.zeros(table.shape, dtype=bool)
    has_intervals = False
    for k in range(times):
        hidden = part == k
        holed = table.with_values(np.where(hidden, np.nan, table.values))
        with portion(k / times, (k + 1) / times):
            done = fill(holed, completer, level=LEVEL)
        filled[hidden] = done.table.values[hidden]
        if done.lower is not None and done.upper is not None:
            has_intervals = True
            inside = (done.lower <= table.values) & (table.values <= done.upper)
            within[hidden] = inside[hidden]
    return [
        _of_column(column, table.values[:, j], filled[:, j], within[:, j], has_intervals)
        for j, column in enumerate(table.columns)
    ]


def _of_column(
    column: Column, truth: Float64Array, filled: Float64Array, within: BoolArray, has_intervals: bool
) -> FillError | None:
    hidden = ~np.isnan(filled)
    count = int(hidden.sum())
    if count < 2:
        return None
    off = filled[hidden] - truth[hidden]
    known = truth[~np.isnan(truth)]
    if column.kind in MEASURED:
        squares = off**2
        error = float(np.sqrt(squares.mean()))
        spread = float(squares.std(ddof=1) / np.sqrt(count) / (2 * error)) if error > 0 else 0.0
        guess = float(known.std())
    else:
        error = float((off != 0).mean())
        spread = float(np.sqrt(error * (1 - error) / count))
        guess = 1 - float(np.unique(known, return_counts=True)[1].max()) / len(known)
    intervals = has_intervals and column.kind not in UNORDERED
    return FillError(count, error, spread, guess, int(within[hidden].sum()) if intervals else None)


def _some_rows(table: Table, rng: np.random.Generator) -> Table:
    if table.shape[0] <= MOST_ROWS:
        return table
    rows = sample_rows(table.shape[0], MOST_ROWS, rng)
    if table.holes[rows].all(axis=0).any():
        return table  # the sample would leave a column without any known value
    target = None if table.target is None else replace(table.target, values=table.target.values[rows])
    ids = tuple(table.row_ids[i] for i in rows)
    return Table(table.columns, table.values[rows], ids, target, table.row_id)
