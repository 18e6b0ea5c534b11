"""Bins of a column's cells, sorted by their predictions: scales, quantiles, and how far each bin is believed.

Few cells say little: what they show is shrunk towards the whole column, and that towards a normal whose
variance is usual in the table.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from cellworth.arrays import FloatArray, IntArray

PRIOR_CELLS = 10.0  # weight of the normal in the distribution of a column, in cells
PRIOR_OF_BIN = 20.0  # weight of the column in the distribution of a bin
LEVELS = np.concatenate([[0.001, 0.0025, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.9975, 0.999]])
NORMAL = ndtri(LEVELS)
SCALE_NOISE = np.pi / 2 - 1
SURE = 0.5  # standard errors
LARGEST = 3.0  # standardised residual: larger ones count as this for what is usual in a table


def equal_bins(n: int, k: int) -> list[IntArray]:
    """Return the numbers from 0 to n - 1 in k parts of equal size, the first ones of one more."""
    numbers, (size, more) = np.arange(n), divmod(n, k)
    ends = [i * size + min(i, more) for i in range(k + 1)]
    return [numbers[first:end] for first, end in pairwise(ends)]


def usual_ratio(squares: FloatArray) -> float:
    """Return the mean of squared standardised residuals of all columns, that of few shrunk towards 1.

    A column is believed to be like the others as far as it has few cells of its own. Where rows are few and
    columns many, all variances are too large, or too small, by about the same factor.
    """
    return float((np.minimum(squares, LARGEST**2).sum() + PRIOR_CELLS) / (len(squares) + PRIOR_CELLS))


def shrunk_ratios(
    found: FloatArray, expected: FloatArray, bins: list[IntArray], usual: float = 1.0
) -> FloatArray:
    """Return the ratio of the sums in each bin, those of few cells shrunk towards the usual one."""
    unit = max(float(expected.mean()), np.finfo(np.float64).tiny)
    whole = (found.sum() + PRIOR_CELLS * unit * usual) / (expected.sum() + PRIOR_CELLS * unit)
    if len(bins) == 1:
        return np.array([whole])
    return (_sums(found, bins) + PRIOR_OF_BIN * unit * whole) / (_sums(expected, bins) + PRIOR_OF_BIN * unit)


def _sums(cells: FloatArray, bins: list[IntArray]) -> FloatArray:
    return np.asarray(np.add.reduceat(cells, [at[0] for at in bins]))  # bins follow each other


def bin_centres(standardised: FloatArray, bins: list[IntArray]) -> FloatArray:
    """Return where the residuals of each bin are centred, shrunk towards 0, as it is with a single bin.

    Rows far smaller than the mean, in a table in proportion, all miss a column by about the same: without
    that, hardly anything is left of their spread. The median of n normal cells has the variance pi/2 / n of
    theirs. What the medians of the bins are beyond that is believed (empirical Bayes).
    """
    if len(bins) == 1:
        return np.zeros(1)
    medians = np.array([np.median(standardised[at]) for at in bins])
    around = [np.abs(standardised[at] - median).mean() for at, median in zip(bins, medians, strict=True)]
    noise = np.pi / 2 * (np.pi / 2 * np.square(around)) / np.array([len(at) for at in bins]) + 1e-12
    between = max(0.0, float(np.mean(medians**2 - noise)))
    return np.asarray(medians * (between / (between + noise)))


def bin_scales(standardised: FloatArray, bins: list[IntArray]) -> FloatArray:
    """Return how large residuals are in each bin over those of the column, shrunk towards 1.

    The mean absolute residual of n normal cells has the relative variance `SCALE_NOISE` / n. What the scales
    of the bins vary beyond that is believed (empirical Bayes on their logarithms).
    """
    counts, sizes = np.array([len(at) for at in bins]), np.abs(standardised)
    logs = np.log(_sums(sizes, bins) / counts + 1e-12) - np.log(sizes.mean() + 1e-12)
    noise = SCALE_NOISE / counts
    between = max(0.0, float(logs.var() - noise.mean()))
    return np.exp(logs * (between / (between + noise)))


def sorted_quantiles(cells: FloatArray) -> FloatArray:
    """Return quantiles of cells at `LEVELS`: a further cell is below the p-quantile with probability p."""
    below, share = _places(len(cells))
    in_order = np.sort(cells)
    found = in_order[below]
    return np.asarray(found + share * (in_order[np.minimum(below + 1, len(cells) - 1)] - found))


@lru_cache(maxsize=256)
def _places(n: int) -> tuple[IntArray, FloatArray]:
    """Return where the quantiles of n sorted cells are: after which cell, and how far towards the next."""
    at = np.clip(LEVELS * (n + 1) - 1, 0, n - 1)
    below = at.astype(np.intp)
    return below, at - below


def value_quantiles(values: FloatArray, at: IntArray, weight: float) -> FloatArray:
    """Return values at `LEVELS` of a mixture: with this weight a bin of the cells, else all of them."""
    distinct, number = np.unique(values, return_inverse=True)
    share = np.bincount(number, minlength=len(distinct)) * ((1 - weight) / len(values))
    share += np.bincount(number[at], minlength=len(distinct)) * (weight / len(at))
    reached = np.searchsorted(np.cumsum(share), LEVELS - 1e-9)
    return distinct[np.minimum(reached, len(distinct) - 1)]


def ends_at_values(quantiles: FloatArray, level: float, n: float) -> tuple[float, float]:
    """Return the ends of an interval with at least this probability, given values at `LEVELS` from n cells.

    It begins as the central one, which may hold far more if few values are likely. Then the less likely of
    its two ends is left out as long as that leaves enough, by `SURE` standard errors of a share of n cells.
    """
    enough = level + SURE * np.sqrt(level * (1 - level) / max(n, 1.0)) - 1e-9
    values, first = np.unique(quantiles, return_index=True)
    after = np.append(LEVELS[first[1:] - 1], 1.0)  # probability of a value or a smaller one
    before = np.insert(after[:-1], 0, 0.0)
    tail = (1 - level) / 2
    low, high = int(np.searchsorted(after, tail - 1e-9)), int(np.searchsorted(after, 1 - tail - 1e-9))
    while low < high:
        masses = after[high] - before[low + 1], after[high - 1] - before[low]
        if max(masses) < enough:
            break
        low, high = (low + 1, high) if masses[0] >= masses[1] else (low, high - 1)
    return float(values[low]), float(values[high])
