"""Spread a batch over rows: a limit on the cells of a row, and less worth for each additional one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.errors import ParameterError
from cellworth.select.selector import as_number, positive_integer


@dataclass(frozen=True)
class Spread:
    """How to keep a batch from crowding into a few rows.

    Attributes
    ----------
    per_row : int or None
        Maximum number of cells per row; None sets no limit.
    crowding : float, above 0 and at most 1
        Multiplies a cell's score once for each cell chosen before it in its row; 1 means no penalty.
    """

    per_row: int | None = None
    crowding: float = 1.0

    def __post_init__(self) -> None:
        if self.per_row is not None:
            positive_integer("per_row", self.per_row)
        if not 0 < as_number(self.crowding) <= 1:
            raise ParameterError(f"crowding must be above 0 and at most 1; got {self.crowding!r}")

    @property
    def active(self) -> bool:
        """Whether spreading is on."""
        return self.per_row is not None or self.crowding < 1

    @property
    def most(self) -> float:
        """Maximum number of cells per row; infinite if there is no limit."""
        return math.inf if self.per_row is None else self.per_row

    def worth(self, scores: Float64Array) -> float:
        """Return what cells of one row with these scores (m,) are worth together.

        The best comes first, so their order does not matter; those past `per_row` are worth nothing. As a
        function of the set this is submodular: a cell adds less to a larger set.
        """
        best = np.sort(scores)[::-1]
        if self.per_row is not None:
            best = best[: self.per_row]
        return float(best @ self.crowding ** np.arange(len(best)))

    def gains(self, chosen: Float64Array, scores: Float64Array) -> Float64Array:
        """Return what each cell with scores (m,) adds to the worth of the chosen ones (k,) in its row."""
        before = self.worth(chosen)
        return np.array([self.worth(np.append(chosen, score)) - before for score in scores])

    def total(self, rows: IntArray, scores: Float64Array) -> float:
        """Return the worth of a batch of cells in rows (k,) with scores (k,)."""
        if not self.active:
            return float(scores.sum())
        order = np.argsort(rows, kind="stable")
        parts = np.split(scores[order], np.flatnonzero(np.diff(rows[order])) + 1)
        return sum(map(self.worth, parts))

    def within_rows(self, rows: IntArray, scores: Float64Array) -> IntArray:
        """Return the indices of the cells to keep, in order: the best `per_row` of each row."""
        if self.per_row is None:
            return np.arange(len(rows))
        order = np.lexsort((np.arange(len(rows)), -scores, rows))
        sorted_rows = rows[order]
        rank = np.arange(len(rows)) - np.searchsorted(sorted_rows, sorted_rows)
        return np.sort(order[rank < self.per_row])
