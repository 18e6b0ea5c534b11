"""What is believed of a column that nobody has measured yet, from what the user says of it.

A number, whole number or date is as likely anywhere within its bounds; a category, ordered text or boolean is
as likely as any other. So the guess for a number is the middle of its bounds, and its standard deviation is
their width / sqrt(12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.errors import DataError
from cellworth.messages import shorten
from cellworth.setting_names import setting
from cellworth.table.column import MEASURED, Column

SHARE_OF_ROWS = 0.25
"""The share of the rows in which a fit sees made-up values of an unmeasured column."""
MOST_SPREAD = 100_000
"""Rows of a table up to which these values are spread evenly, and not drawn."""


@dataclass(frozen=True)
class UniformPrior:
    """The uniform distribution over what a column may hold.

    Attributes
    ----------
    column : Column
        With two finite bounds, if it is a number, a whole number or a date.

    Examples
    --------
    >>> prior = UniformPrior(Column("dose", "number", bounds=(0.0, 12.0)))
    >>> prior.guess, round(prior.variance, 6), [round(float(end), 1) for end in prior.interval(0.9)]
    (6.0, 12.0, [0.6, 11.4])
    """

    column: Column

    @property
    def guess(self) -> float:
        """The value that stands in for all cells: the middle, or the first of equally likely texts."""
        low, high = self.column.limits
        if self.column.kind == "category":
            return 0.0
        return float(self.column.nearest(np.array([low + (high - low) / 2]))[0])

    @property
    def variance(self) -> float:
        """In squared units of the encoded columns, summed over those of a cell."""
        low, high = self.column.limits
        texts = len(self.column.categories)
        if self.column.kind == "category" and texts > 2:  # a 1 among zeros
            return (texts - 1) / texts
        if self.column.kind in MEASURED:
            return (high - low) ** 2 / 12
        return ((high - low + 1) ** 2 - 1) / 12  # whole numbers from low to high

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the middle part of the bounds, with this share of their width."""
        low, high = self.column.limits
        middle, half = low + (high - low) / 2, level * (high - low) / 2
        ends = self.column.nearest(np.array([middle - half, middle + half]))
        return float(ends[0]), float(ends[1])

    def values(self, shares: Float64Array) -> Float64Array:
        """Return the values at these shares (m,), from 0 to 1, of what a cell may hold, from low to high."""
        low, high = self.column.limits
        if self.column.kind in MEASURED:
            return self.column.nearest(low + shares * (high - low))
        return np.floor(shares * (high - low + 1)) + low


def check_prior(column: Column, place: str) -> None:
    """Raise DataError if nothing can be believed of an unmeasured column: a number without bounds."""
    if column.kind in MEASURED and not all(map(math.isfinite, column.bounds)):
        raise DataError(
            f"{place}: nobody has measured it yet, so its cells can only be guessed from their bounds. Give "
            f"the lowest and highest value that it may have with {setting('bounds', column=column.name)}, "
            "leave the column out, or fill in a few of its cells first."
        )


def with_prior(
    columns: tuple[Column, ...],
    values: Float64Array,
    empty: BoolArray | None = None,
    *,
    start: int = 0,
    n_rows: int | None = None,
) -> Float64Array:
    """Return the cells (m, p) with made-up values in a quarter of the rows of unmeasured columns.

    They have the distribution of the prior and depend on nothing else, so that a fit learns the prior: where
    the column stands, how wide it is, and that no other column says anything about it. Drawn by the size of
    the table and the place of the column, so that the same table gives the same cells. O(m p).

    ``empty`` (p,) says which columns are unmeasured, by default those without a value here. The rows may be
    some of a table of ``n_rows``, from row ``start`` on.
    """
    without = np.isnan(values).all(axis=0) if empty is None else empty
    if not without.any():
        return values
    n, cells = n_rows or len(values), values.copy()
    for j in np.flatnonzero(without).tolist():
        check_prior(columns[j], f"column {shorten(columns[j].name)}")
        rows, shares = _some_rows(n, j, start, start + len(values))
        cells[rows, j] = UniformPrior(columns[j]).values(shares)
    return cells


def _some_rows(n: int, place: int, start: int, stop: int) -> tuple[IntArray, Float64Array]:
    """Return which of the rows from ``start`` to ``stop`` get a value, counted from there, and its share.

    The shares are spread evenly over the rows that get one, in any order; in a long table they are drawn, so
    that a part of it needs no other.
    """
    rng: Any = np.random.default_rng([n, place])
    if n > MOST_SPREAD:
        rng.bit_generator.advance(start)
        drawn = rng.random(stop - start) / SHARE_OF_ROWS
        rows = np.flatnonzero(drawn < 1)
        return rows, drawn[rows]
    few = min(n, max(4, math.ceil(SHARE_OF_ROWS * n)))
    chosen = rng.permutation(n)[:few]
    here = (chosen >= start) & (chosen < stop)
    return chosen[here] - start, ((np.arange(few) + 0.5) / few)[here]
