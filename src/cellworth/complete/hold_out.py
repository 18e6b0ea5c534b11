"""Hide observed cells, to see how well they can be filled: one way for the whole package.

Every choice that is made on the user's own table, and every figure that says how well holes are filled,
comes from known cells that are treated as holes. `hide_cells` draws them for a table, `hide_listed_cells`
for a list of cells. All randomness comes from the generator that is passed in: one uniform number for each
cell, row after row, whether the cell is observed or not. So the same generator hides the same cells, and a
table that lies in blocks of rows can draw its numbers block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray

SHARE = 0.1  # of the observed cells are hidden
MOST_ROWS = 10_000  # that take part: settings chosen on this many rows hold for more
PATIENCE = 3  # settings in a row without a gain before a search ends


def hide_cells(
    observed: BoolArray,
    rng: np.random.Generator,
    *,
    share: float = SHARE,
    keep: float | None = None,
    spare: Literal["first", "random"] | None = "first",
    at_least_one: bool = False,
) -> BoolArray:
    """Return which observed cells to hide, (n, d): each independently of all others.

    Parameters
    ----------
    observed : (n, d) bool array
    rng : Generator
        Draws one uniform number for each of the n d cells, then what ``spare="random"`` needs.
    share : float
        The probability with which an observed cell is hidden: where its number is below it.
    keep : float, optional
        Instead of `share`, the probability with which a cell stays: where its number is below it.
    spare : {"first", "random", None}
        How columns are kept from losing all their cells. "first": the first observed cell of each column is
        never hidden. "random": a column that would be empty gets one of its cells back, drawn at random.
        None: they are not.
    at_least_one : bool
        Hide the cell with the smallest number if none would be hidden though one may be.

    Examples
    --------
    >>> import numpy as np
    >>> observed = np.ones((100, 3), dtype=bool)
    >>> hidden = hide_cells(observed, np.random.default_rng(0), share=0.2)
    >>> int(hidden.sum()), bool(hidden[0].any())
    (57, False)
    """
    draws = rng.random(observed.shape)
    eligible = observed.copy()
    if spare == "first":
        eligible[observed.argmax(axis=0), np.arange(observed.shape[1])] = False
    hidden = eligible & (draws < share if keep is None else draws >= keep)
    if spare == "random":
        for column in np.flatnonzero(~(observed & ~hidden).any(axis=0) & observed.any(axis=0)):
            hidden[rng.choice(np.flatnonzero(observed[:, column])), column] = False
    if at_least_one and not hidden.any() and eligible.any():
        hidden.flat[np.where(eligible, draws, 1.0).argmin()] = True
    return hidden


def hide_listed_cells(columns: IntArray, rng: np.random.Generator, *, share: float = SHARE) -> BoolArray:
    """Return which cells of a list to hide, (n_cells,), given their columns: never a column's first."""
    hidden: BoolArray = rng.random(len(columns)) < share
    hidden[np.unique(columns, return_index=True)[1]] = False
    return hidden


def deal_cells(observed: BoolArray, parts: int, rng: np.random.Generator, *, least: int = 0) -> IntArray:
    """Deal the observed cells into parts at random, to hide one part after another.

    Returns the part of each cell, (n, d), counted from 0. Holes, the first observed cell of each column, and
    all cells of columns with fewer than ``least`` get the number ``parts``: they are never hidden. Draws one
    whole number for each of the n d cells.
    """
    part = np.where(observed, rng.integers(parts, size=observed.shape), parts)
    part[:, observed.sum(axis=0) < least] = parts
    part[observed.argmax(axis=0), np.arange(observed.shape[1])] = parts
    return part


def sample_rows(n_rows: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return row numbers in rising order: all, or ``most`` of them at random. Draws nothing if all fit."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


def cover_columns(rows: IntArray, observed: BoolArray) -> IntArray:
    """Return the rows and, for each column without an observed cell in them, the first row that has one."""
    empty = ~observed[rows].any(axis=0)
    return np.unique(np.concatenate([rows, observed[:, empty].argmax(axis=0)]))


@dataclass(frozen=True)
class HeldOut:
    """Rows of a scaled table with some of their cells hidden.

    Attributes
    ----------
    values : (n, d) array
        0 in the holes and in the hidden cells.
    observed, hidden : (n, d) bool arrays
        No cell is both.
    truth : (n_hidden,) array
        The values of the hidden cells, row after row.
    """

    values: FloatArray
    observed: BoolArray
    hidden: BoolArray
    truth: FloatArray

    def error(self, estimate: FloatArray) -> float:
        """Return the root mean square error of ``estimate`` (n, d) in the hidden cells, in scaled units."""
        if not self.truth.size:
            return 0.0
        return float(np.sqrt(np.mean((estimate[self.hidden] - self.truth) ** 2)))


class Choice(NamedTuple):
    """A rank, and a ridge or penalty relative to the size of the data."""

    rank: int
    relative: float


def hold_out(values: FloatArray, observed: BoolArray, rng: np.random.Generator) -> HeldOut:
    """Hide a tenth of the observed cells of at most `MOST_ROWS` rows, but never a column's first.

    Parameters
    ----------
    values : (n, d) array
        0 in the holes.
    observed : (n, d) bool array
    """
    if len(values) > MOST_ROWS:
        rows = sample_rows(len(values), MOST_ROWS, rng)
        values, observed = values[rows], observed[rows]
    hidden = hide_cells(observed, rng)
    return HeldOut(values * ~hidden, observed & ~hidden, hidden, values[hidden])
