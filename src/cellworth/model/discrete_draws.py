r"""Turn draws of cells with few values into values that such cells have.

A completer may draw 0.3 for a column of 0 and 1, which no complete row has. A column of numbers is made
discrete by rank. A category is several columns of 0 and 1, and a cell of it has exactly one 1, so its columns
are taken together. With a completer's draws z and the shares p of the K categories among known cells, it is
the assignment of one category to each draw that is closest to the draws among those with these shares,

.. math:: \max_k\, z_k + \theta_k, \qquad \text{with } \theta \text{ such that category } k \text{ is
   assigned to a share } p_k \text{ of the draws,}

which is an optimal transport; for two categories it is the rule by rank. Before this, draws are spread about
the mean of their cell until the column's variance is p(1 - p), as that of a column of 0 and 1 is: completers
that are calibrated column by column take the last column of a category for certain, given the others, and
draw far too narrowly.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from cellworth.arrays import BoolArray, Float64Array, IntArray

FEW_VALUES = 10
"""Columns with at most this many distinct values are drawn from these values."""
FITTED_DRAWS = 4000  # enough for the offsets of categories: a share is off by at most 0.01
LEAST_CHANCE = 0.01  # of a category among draws that are equal
TIE = 1e-3  # what tells equal draws apart, in units of their range
SWEEPS = 100
STEP = 0.5  # all offsets move at once, so each moves half of its way


def make_discrete(
    draws: Float64Array, holes: BoolArray, X: Float64Array, cell_of: IntArray | None = None
) -> None:
    """Replace draws of columns with few distinct values, and of categories, by such values, in place.

    All draws for the holes of a column, in order, become the known values of the column in X, in order, in
    the same proportions. In each drawn cell of a category one column is 1 and the others are 0.

    Parameters
    ----------
    draws : (M, n, d) array
    holes : (n, d) array of bool
    X : (m, d) array
        The rows to take values from, NaN in the holes.
    cell_of : (d,) array of int, optional
        The cell that each column belongs to, as `ColumnLayout.owner`: several columns of one cell are a
        category, one column each. By default each column is a cell.

    Notes
    -----
    O(M n d log(M n)).
    """
    owner = np.arange(X.shape[1]) if cell_of is None else np.asarray(cell_of)
    for cell in np.unique(owner):
        columns = np.flatnonzero(owner == cell)
        open_cells, first = holes[:, columns[0]], columns[0]
        known = X[~np.isnan(X[:, first])]
        if not open_cells.any():
            continue
        if len(columns) > 1:
            drawn = draws[:, open_cells][:, :, columns]
            draws[np.ix_(np.arange(len(draws)), open_cells, columns)] = one_category(drawn, known[:, columns])
        elif len(np.unique(known[:, first])) <= FEW_VALUES:
            draws[:, open_cells, first] = _by_rank(draws[:, open_cells, first], np.sort(known[:, first]))


def _by_rank(drawn: Float64Array, known: Float64Array) -> Float64Array:
    shares = (rankdata(drawn, axis=None) - 0.5) / drawn.size
    discrete = known[np.minimum((shares * len(known)).astype(np.intp), len(known) - 1)]
    return np.asarray(discrete.reshape(drawn.shape))


def one_category(drawn: Float64Array, known: Float64Array) -> Float64Array:
    """Return draws of the K columns of a category with one 1 each.

    Parameters
    ----------
    drawn : (M, n, K) array
    known : (m, K) array
        Known cells of the category, one 1 in each; a category that none of them has is not drawn.

    Returns
    -------
    (M, n, K) array
    """
    shares = known.mean(axis=0)
    spread = _spread(drawn, shares).reshape(-1, len(shares))
    # A completer that draws values of the column gives equal draws, several 1 or none. Among them chance
    # decides, in proportion to the mean of the cell's draws: the largest of log-odds and a Gumbel variable.
    unit = float(np.ptp(spread)) or 1.0
    chances = np.tile(np.log(np.clip(drawn.mean(axis=0), LEAST_CHANCE, None)), (len(drawn), 1))
    spread = spread + TIE * unit * (chances + np.random.default_rng(0).gumbel(size=spread.shape))
    spread[:, shares == 0] = -np.inf
    category = (spread + category_offsets(spread, shares)).argmax(axis=1)
    return np.asarray(np.eye(len(shares))[category].reshape(drawn.shape))


def _spread(drawn: Float64Array, shares: Float64Array) -> Float64Array:
    """Return the draws, spread about the mean of their cell where they are too narrow for 0 and 1."""
    mean = drawn.mean(axis=0)
    if len(drawn) < 2:
        return drawn
    within = drawn.var(axis=0, ddof=1).mean(axis=0)
    between = np.maximum(mean.var(axis=0) - within / len(drawn), 0)
    wanted = np.maximum(shares * (1 - shares) - between, 0)
    factor = np.sqrt(np.maximum(wanted / np.where(within > 0, within, np.inf), 1))
    return np.asarray(mean + factor * (drawn - mean))


def category_offsets(values: Float64Array, shares: Float64Array) -> Float64Array:
    """Return what to add to values (N, K) so that a share ``shares[k]`` is largest in column k."""
    offsets = np.zeros(len(shares))
    seen = np.flatnonzero(shares > 0)
    if len(seen) == 1:
        return offsets
    some = values[:, seen]
    if len(some) > FITTED_DRAWS:
        some = some[np.random.default_rng(0).choice(len(some), FITTED_DRAWS, replace=False)]
    rows, wanted = np.arange(len(some)), shares[seen] * len(some)
    place = np.clip(np.round(wanted).astype(np.intp), 1, len(some) - 1)
    found = -some.mean(axis=0)
    for _ in range(SWEEPS):
        moved = some + found
        best = moved.argmax(axis=1)
        if np.abs(np.bincount(best, minlength=len(seen)) - wanted).max() <= 1:
            break
        top, second = np.partition(moved, -2, axis=1)[:, -2:].T[::-1]
        others = np.repeat(top[:, np.newaxis], len(seen), axis=1)
        others[rows, best] = second
        # Column k is the largest of a row if its offset is above what the row needs.
        needed = np.sort(others - some, axis=0)
        columns = np.arange(len(seen))
        goal = (needed[place - 1, columns] + needed[place, columns]) / 2
        found = found + STEP * (goal - found)
        found -= found.mean()
    offsets[seen] = found
    return offsets
