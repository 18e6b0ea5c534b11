"""The effective number of training rows that cells and labels add; see `TrainingGain` for the model."""

from __future__ import annotations

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray

LABEL_FIRST = 1e-9
"""By how much a label is ahead of the cells that pay together with it: they are bought after it."""

ROWS_AT_ONCE = 1024
"""Of which the arrays of a step stay in the processor's cache."""


def shared_gains(explained: Float64Array, noise: float, prices: Float64Array | None = None) -> Float64Array:
    """Return what each cell adds in effective rows, (n, d), if cells that pay together share their gain.

    ``explained`` (n, d) is the variance that each cell explains, 0 where known; ``prices`` (n, d) are
    positive, by default 1.
    """
    prices = np.ones(explained.shape) if prices is None else prices
    shared = np.zeros_like(explained)
    for first in range(0, len(explained), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        order, money, curve = _ordered(explained[some], noise, prices[some])
        most = int((explained[some] > 0).sum(axis=1).max())  # the others come last, and add nothing
        slopes = _concave_slopes(money[:, : most + 1], curve[:, : most + 1])
        np.put_along_axis(shared[some], order[:, :most], slopes, axis=1)
    return shared * prices


def _ordered(
    explained: Float64Array, noise: float, prices: Float64Array
) -> tuple[IntArray, Float64Array, Float64Array]:
    """Return the order of the cells (n, d), and money and effective rows (n, d + 1) after the first k."""
    n, d = explained.shape
    order = np.argsort(-explained / prices, axis=1, kind="stable")
    money, left = np.zeros((n, d + 1)), np.zeros((n, d + 1))
    np.cumsum(np.take_along_axis(prices, order, axis=1), axis=1, out=money[:, 1:])
    backwards = np.take_along_axis(explained, order, axis=1)[:, ::-1]
    left[:, :-1] = np.cumsum(backwards, axis=1)[:, ::-1]
    return order, money, noise / (noise + left)


def label_gains(explained: Float64Array, noise: float, unlabelled: BoolArray) -> Float64Array:
    """Return what each label adds alone in effective rows, in the last column of (n, d + 1); cells have 0."""
    gains = np.zeros((len(explained), explained.shape[1] + 1))
    gains[:, -1] = np.where(unlabelled, noise / (noise + explained.sum(axis=1)), 0.0)
    return gains


def joint_gains(
    explained: Float64Array,
    noise: float,
    unlabelled: BoolArray,
    prices: Float64Array | None,
    label_prices: Float64Array,
) -> Float64Array:
    """Return what cells and labels add in effective rows, (n, d + 1), if those that pay together share it.

    Like `shared_gains`; the labels of the ``unlabelled`` rows (n,) are the last column, and come first.
    """
    n, d = explained.shape
    prices = np.ones((n, d)) if prices is None else prices
    gains = np.zeros((n, d + 1))
    labelled = np.flatnonzero(~unlabelled)
    gains[labelled, :-1] = shared_gains(explained[labelled], noise, prices[labelled])
    rows = np.flatnonzero(unlabelled)
    order, money, curve = _ordered(explained[rows], noise, prices[rows])
    first = label_prices[rows, np.newaxis]
    slopes = _concave_slopes(
        np.hstack([np.zeros_like(first), first + money]), np.hstack([np.zeros_like(first), curve])
    )
    shared = np.empty((len(rows), d))
    np.put_along_axis(shared, order, slopes[:, 1:], axis=1)
    gains[rows, :-1] = shared * prices[rows]
    gains[rows, -1] = slopes[:, 0] * label_prices[rows] * (1 + LABEL_FIRST)
    return gains


def with_completion(
    gains: Float64Array, through: Float64Array, unlabelled: BoolArray, holes: BoolArray
) -> Float64Array:
    """Return gains (n, d + 1) of cells and labels with what cells add ``through`` (d,) the completion.

    It is added to the gains of cells in labelled rows, and is the least of the others; 0 in known cells.
    """
    cells = gains[:, :-1]
    cells = np.where(unlabelled[:, np.newaxis], np.maximum(cells, through), cells + through) * holes
    return np.column_stack([cells, gains[:, -1]])


def completion_gains(explained: Float64Array, noise: float, known: IntArray, n_labelled: int) -> Float64Array:
    """Return what one more cell of each column (d,) adds to the labelled rows through the completion.

    Parameters
    ----------
    explained : (m, d) array
        The variance that each cell explains, 0 where known, in the labelled rows or a sample of them.
    noise : float
    known : (d,) array
        The known cells of each column.
    n_labelled : int
        How many labelled rows there are.

    Notes
    -----
    One less unit of a column's variance adds noise / (noise + unexplained)^2 times what a cell explains to
    each row, and one more cell improves the guesses of a column by d / (k (k + 1)), given k known ones.
    """
    rate = len(known) / (np.maximum(known, 1) * (known + 1.0))
    of_row = noise / np.square(noise + explained.sum(axis=1))
    summed: Float64Array = of_row @ explained * (n_labelled / max(1, len(explained)))
    return rate * summed


def _concave_slopes(money: Float64Array, curve: Float64Array) -> Float64Array:
    """Return the slopes (n, d) of the least concave curve above each row of ``curve`` (n, d + 1).

    ``money`` (n, d + 1) has the place of each point; it increases. O(n d), for all rows at once: a point
    becomes a corner of the curve, and earlier corners that are no longer above its line are none.
    """
    d, every = curve.shape[1] - 1, np.arange(len(curve))
    x, y = np.ascontiguousarray(money.T), np.ascontiguousarray(curve.T)
    corners = np.zeros(x.shape, dtype=np.intp)
    slopes = np.full(x.shape, np.inf)  # up to each corner
    last = np.zeros(len(curve), dtype=np.intp)
    for point in range(1, d + 1):
        rows, before = every, last.copy()
        while len(rows):
            corner = corners[before, rows]
            run = x[point, rows] - x[corner, rows]
            slope = (y[point, rows] - y[corner, rows]) / np.where(run > 0, run, 1.0)
            corners[before + 1, rows], slopes[before + 1, rows] = point, slope
            last[rows] = before + 1
            hidden = slope >= slopes[before, rows]
            rows, before = rows[hidden], before[hidden] - 1
    found = np.empty((d, len(curve)))
    for point in range(d, 0, -1):
        found[point - 1] = slopes[last, every]
        last -= corners[last - 1, every] == point - 1
    return found.T
