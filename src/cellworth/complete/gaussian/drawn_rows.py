"""The rows that choices are made on: drawn at random, the same in memory and in row blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.labels import LabelCode

CELLS = 20_000  # approximate number of cells in the rows used for a choice
MIN_ROWS = 300  # to use, if there are that many
MOST_SHUFFLED = 1_000_000  # rows: of more, some are drawn without shuffling all


class ScaledRows(NamedTuple):
    """Some rows: scaled values (m, d), 0 in the holes, which cells are observed, and the categories in them.

    The categories are slices of columns; see `cellworth.complete.categories`.
    """

    values: FloatArray
    observed: BoolArray
    categories: tuple[slice, ...] = ()


@dataclass(frozen=True)
class LabelledSample:
    """Some labelled rows.

    Attributes
    ----------
    rows : ScaledRows
    columns : (m, q) array
        The labels as extra columns of the Gaussian.
    targets : (m, q) array
        The same labels, coded for the loss of a linear model.
    code : LabelCode
        How they were coded for it.
    """

    rows: ScaledRows
    columns: FloatArray
    targets: FloatArray
    code: LabelCode


class RowsToChooseOn(Protocol):
    """The rows of a table, of which some can be had in one place.

    Attributes
    ----------
    n_rows : int
    counts : (d,) int array
        Number of observed cells in each column.
    code : LabelCode
    """

    n_rows: int
    counts: IntArray
    code: LabelCode

    def rows_at(self, numbers: IntArray) -> ScaledRows:
        """Return some rows by their numbers, in this order."""

    def labelled_at(self, numbers: IntArray) -> LabelledSample:
        """Return some labelled rows by their numbers among these, in this order."""


def some_rows(n_rows: int, n_columns: int, rng: np.random.Generator) -> IntArray:
    """Return the numbers of the rows to use for a choice, drawn at random; memory is bounded."""
    many = max(MIN_ROWS, CELLS // n_columns)
    if n_rows > MOST_SHUFFLED:
        return rng.choice(n_rows, many, replace=False)
    return rng.permutation(n_rows)[:many].copy()  # a view would keep the numbers of all rows
