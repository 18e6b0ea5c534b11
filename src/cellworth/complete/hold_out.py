"""Hide observed cells to measure how well they can be filled: one way for the whole package.

Every choice made on the user's own table, and every figure for how well holes are filled, comes from known
cells treated as holes. `hide_cells` draws them for a table, `hide_listed_cells` for a list of cells. All
randomness comes from the generator passed in: one uniform number per cell, row by row, whether or not the
cell is observed. So the same generator hides the same cells, and a table in row blocks can draw its numbers
block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray

SHARE = 0.1  # fraction of observed cells to hide
MOST_ROWS = 10_000  # rows to use: settings chosen on this many rows also suit larger tables
PATIENCE = 3  # consecutive settings without a gain before a search ends


def hide_cells(
    observed: BoolArray,
    rng: np.random.Generator,
    *,
    share: float = SHARE,
    keep: float | None = None,
    spare: Literal["first", "random"] | None = "first",
    at_least_one: bool = False,
) -> BoolArray:
    """Return which observed cells to hide, (n, d), each drawn independently.

    Parameters
    ----------
    observed : (n, d) bool array
    rng : Generator
        Draws one uniform number for each of the n d cells, then whatever ``spare="random"`` needs.
    share : float
        The probability of hiding an observed cell: it is hidden if its number is below `share`.
    keep : float, optional
        Instead of `share`, the probability of keeping a cell: it is kept if its number is below `keep`.
    spare : {"first", "random", None}
        How to keep a column from losing all its cells. "first": never hide the first observed cell of a
        column. "random": give a column that would be empty one of its cells back, drawn at random. None: do
        nothing.
    at_least_one : bool
        If no cell would be hidden, hide the eligible cell with the smallest number.

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
    """Return which cells of a list to hide, (n_cells,), given their columns; never a column's first."""
    hidden: BoolArray = rng.random(len(columns)) < share
    hidden[np.unique(columns, return_index=True)[1]] = False
    return hidden


def deal_cells(observed: BoolArray, parts: int, rng: np.random.Generator, *, least: int = 0) -> IntArray:
    """Deal the observed cells into parts at random, to be hidden one part at a time.

    Returns the part of each cell, (n, d), counted from 0. Holes, the first observed cell of each column, and
    all cells of columns with fewer than ``least`` observed cells get the number ``parts``: they are never
    hidden. Draws one integer for each of the n d cells.
    """
    part = np.where(observed, rng.integers(parts, size=observed.shape), parts)
    part[:, observed.sum(axis=0) < least] = parts
    part[observed.argmax(axis=0), np.arange(observed.shape[1])] = parts
    return part


def sample_rows(n_rows: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return sorted row numbers: all, or ``most`` of them at random. Draws nothing if all fit."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


def cover_columns(rows: IntArray, observed: BoolArray) -> IntArray:
    """Return the rows plus, for each column with no observed cell in them, the first row that has one."""
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
        The values of the hidden cells, row by row.
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
