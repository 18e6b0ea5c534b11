"""Counts, means and squared deviations of columns, mergeable across row blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array, FloatArray


@dataclass(frozen=True)
class ColumnSums:
    """Statistics of the observed cells of each column.

    Attributes
    ----------
    count, mean, squares : (d,) float64 arrays
        ``squares`` is the sum of squared deviations from the mean. All are 0 where nothing is observed.
    """

    count: Float64Array
    mean: Float64Array
    squares: Float64Array

    @classmethod
    def of(cls, X: FloatArray) -> ColumnSums:
        """Return the statistics of X (m, d), NaN in its holes; two passes over X."""
        observed = ~np.isnan(X)
        count = observed.sum(axis=0).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.where(observed, X, 0).sum(axis=0, dtype=np.float64) / np.maximum(count, 1)
            deviations = np.where(observed, X - mean, 0)
            return cls(count, mean, np.square(deviations).sum(axis=0))

    def merged(self, other: ColumnSums) -> ColumnSums:
        """Return the combined statistics, by the method of Chan, Golub and LeVeque."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        gap = other.mean - self.mean
        mean = np.where(self.count > 0, self.mean + gap * share, other.mean)
        between = np.where(self.count > 0, gap**2 * self.count * share, 0)
        return ColumnSums(count, mean, self.squares + other.squares + between)

    def deviation(self) -> Float64Array:
        """Return the standard deviation of each column, (d,); 0 where nothing is observed."""
        return np.sqrt(self.squares / np.maximum(self.count, 1))

    def pooled_variance(self) -> float:
        """Return the variance of the observed cells of all columns together; 1 if they are all the same."""
        n = max(1.0, float(self.count.sum()))
        mean = float(self.count @ self.mean) / n
        squares = float(self.squares.sum() + self.count @ (self.mean - mean) ** 2)
        return squares / n if squares > 0 else 1.0
