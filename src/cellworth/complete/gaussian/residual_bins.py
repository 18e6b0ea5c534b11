"""Bins of columns' cells, sorted by their predictions: scales, quantiles, and how far each bin is believed.

Few cells say little: what they show is shrunk towards the whole column, and that towards a normal whose
variance is usual in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.cached_property import cached_property

PRIOR_CELLS = 10.0  # weight of the normal in the distribution of a column, in cells
PRIOR_OF_BIN = 20.0  # weight of the column in the distribution of a bin
LEVELS = np.concatenate([[0.001, 0.0025, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.9975, 0.999]])
NORMAL = ndtri(LEVELS)
SCALE_NOISE = np.pi / 2 - 1
SURE = 0.5  # standard errors
LARGEST = 3.0  # standardised residual: larger ones count as this for what is usual in a table


@dataclass(frozen=True)
class Bins:
    """Bins of the cells of c columns, which stand one after another, each sorted by its predictions.

    Attributes
    ----------
    counts : (c,) int array
        Number of cells in each column, at least 1.
    n_bins : (c,) int array
        Number of bins of each column.
    sizes : (B,) int array
        Number of cells in each bin.
    """

    counts: IntArray
    n_bins: IntArray
    sizes: IntArray

    @cached_property
    def first(self) -> IntArray:
        """The first cell of each bin, (B,)."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def first_bin(self) -> IntArray:
        """The first bin of each column, (c,)."""
        return np.cumsum(self.n_bins) - self.n_bins

    @property
    def alone(self) -> BoolArray:
        """Which bins are the only ones of their column, (B,)."""
        return self.of_bins(self.n_bins == 1)

    def joined(self, to_the_last: BoolArray) -> Bins:
        """Return the bins, those marked (B,) joined to the one before, which is of the same column."""
        if not to_the_last.any():
            return self
        kept = np.flatnonzero(~to_the_last)
        n_bins = np.add.reduceat((~to_the_last).astype(np.intp), self.first_bin)
        return Bins(self.counts, n_bins, np.add.reduceat(self.sizes, kept))

    def of_bins(self, of_columns: AnyArray) -> AnyArray:
        """Return for each bin what its column has, (B,)."""
        return np.repeat(of_columns, self.n_bins, axis=0)

    def of_cells(self, of_bins: FloatArray) -> FloatArray:
        """Return for each cell what its bin has."""
        return np.repeat(of_bins, self.sizes)

    def sums(self, cells: FloatArray) -> FloatArray:
        """Return the sum of each bin, (B,)."""
        return np.asarray(np.add.reduceat(cells, self.first))

    def column_means(self, cells: FloatArray) -> FloatArray:
        """Return the mean of the cells of each column, (c,)."""
        return np.asarray(self.over_bins(self.sums(cells)) / self.counts)

    def over_bins(self, of_bins: FloatArray) -> FloatArray:
        """Return the sum over the bins of each column, (c,)."""
        return np.asarray(np.add.reduceat(of_bins, self.first_bin))

    def in_order(self, cells: FloatArray) -> FloatArray:
        """Return the cells of each bin in ascending order, (B, largest size), with infinity after them."""
        return sorted_rows(cells, self.sizes)


def equal_bins(counts: IntArray, n_bins: IntArray) -> Bins:
    """Return bins of equal size for columns with so many cells, (c,) each; the first ones have one more."""
    size, more = np.divmod(counts, n_bins)
    number = np.arange(n_bins.sum()) - np.repeat(np.cumsum(n_bins) - n_bins, n_bins)
    return Bins(counts, n_bins, np.repeat(size, n_bins) + (number < np.repeat(more, n_bins)))


def sorted_rows(cells: FloatArray, sizes: IntArray) -> FloatArray:
    """Return runs of so many cells, (k,), as rows in ascending order, with infinity after them."""
    rows = np.full((len(sizes), int(sizes.max())), np.inf)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = cells
    rows.sort(axis=1)
    return rows


def usual_ratio(squares: FloatArray) -> float:
    """Return the mean of squared standardised residuals of all columns, that of few shrunk towards 1.

    A column is believed to be like the others as far as it has few cells of its own. Where rows are few and
    columns many, all variances are too large, or too small, by about the same factor.
    """
    return float((np.minimum(squares, LARGEST**2).sum() + PRIOR_CELLS) / (len(squares) + PRIOR_CELLS))


def shrunk_ratios(found: FloatArray, expected: FloatArray, bins: Bins, usual: float = 1.0) -> FloatArray:
    """Return the ratio of the sums in each bin, (B,), those of few cells shrunk towards the usual one."""
    sums = bins.sums(found), bins.sums(expected)
    of_columns = [bins.over_bins(of_bins) for of_bins in sums]
    unit = np.maximum(of_columns[1] / bins.counts, np.finfo(np.float64).tiny)
    whole = (of_columns[0] + PRIOR_CELLS * unit * usual) / (of_columns[1] + PRIOR_CELLS * unit)
    unit, whole = bins.of_bins(unit), bins.of_bins(whole)
    ratios = (sums[0] + PRIOR_OF_BIN * unit * whole) / (sums[1] + PRIOR_OF_BIN * unit)
    return np.where(bins.alone, whole, ratios)


def bin_centres(standardised: FloatArray, in_order: FloatArray, bins: Bins) -> FloatArray:
    """Return where the residuals of each bin are centred, (B,), shrunk towards 0, as it is with a single bin.

    Rows far smaller than the mean, in a table in proportion, all miss a column by about the same: without
    that, hardly anything is left of their spread. The median of n normal cells has the variance pi/2 / n of
    theirs. What the medians of the bins are beyond that is believed (empirical Bayes). ``in_order`` are the
    residuals as `Bins.in_order` returns them.
    """
    middles = np.stack([(bins.sizes - 1) // 2, bins.sizes // 2], axis=1)
    medians = np.take_along_axis(in_order, middles, axis=1).mean(axis=1)
    around = bins.sums(np.abs(standardised - bins.of_cells(medians))) / bins.sizes
    noise = np.pi / 2 * (np.pi / 2 * np.square(around)) / bins.sizes + 1e-12
    between = bins.of_bins(np.maximum(bins.over_bins(medians**2 - noise) / bins.n_bins, 0.0))
    return np.where(bins.alone, 0.0, medians * (between / (between + noise)))


def bin_scales(standardised: FloatArray, bins: Bins) -> FloatArray:
    """Return how large residuals are in each bin over those of the column, (B,), shrunk towards 1.

    The mean absolute residual of n normal cells has the relative variance `SCALE_NOISE` / n. What the scales
    of the bins vary beyond that is believed (empirical Bayes on their logarithms).
    """
    sizes = np.abs(standardised)
    logs = np.log(bins.sums(sizes) / bins.sizes + 1e-12)
    logs -= bins.of_bins(np.log(bins.column_means(sizes) + 1e-12))
    noise = SCALE_NOISE / bins.sizes
    around = logs - bins.of_bins(bins.over_bins(logs) / bins.n_bins)
    between = bins.of_bins(np.maximum(bins.over_bins(around**2 - noise) / bins.n_bins, 0.0))
    return np.where(bins.alone, 1.0, np.exp(logs * (between / (between + noise))))


def sorted_quantiles(in_order: FloatArray, sizes: IntArray) -> FloatArray:
    """Return quantiles at `LEVELS`, (k, len(LEVELS)), of rows (k, s), the first cells of which are sorted.

    ``sizes`` (k,) says how many; a further cell is below the p-quantile with probability p.
    """
    last = sizes[:, None] - 1
    at = np.clip(LEVELS * (last + 2) - 1, 0, last)
    below = at.astype(np.intp)
    found = np.take_along_axis(in_order, below, axis=1)
    above = np.take_along_axis(in_order, np.minimum(below + 1, last), axis=1)
    return np.asarray(found + (at - below) * (above - found))


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
