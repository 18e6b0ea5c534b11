r"""Columns that are not normal, brought to normal scores and back (a Gaussian copula).

A value v of a column goes to the score :math:`z = \Phi^{-1}(F(v))`, where F is the empirical distribution
function with mid-ranks for ties; between observed values, scores and values are joined by straight lines,
and beyond the outermost they stay at these. A completion has a normal score :math:`z \sim N(m, s^2)`; in
the units of the column its mean and variance are

.. math:: \mathrm{E}\,g(z), \qquad \mathrm{Var}\,g(z), \qquad g = F^{-1}\circ\Phi,

by Gauss-Hermite quadrature. The mean, not g(m), is what has the least squared error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cellworth.arrays import BoolArray

Array = NDArray[np.floating]

QUADRATURE_POINTS = 15
MAX_KNOTS = 512  # of one column: more distinct values than this are thinned out, evenly in rank


@dataclass(frozen=True)
class Margin:
    """The monotone map of one column.

    Attributes
    ----------
    values, scores : (k,) arrays
        Increasing; the knots of the map.
    """

    values: Array
    scores: Array

    @classmethod
    def of(cls, cells: Array) -> Margin:
        """Learn the map from the observed values of a column, O(n log n)."""
        return cls.of_counts(*np.unique(cells, return_counts=True))

    @classmethod
    def of_counts(cls, values: Array, counts: NDArray[np.int64]) -> Margin:
        """Learn the map from distinct values, increasing, and how often each is observed."""
        mid_ranks = np.cumsum(counts) - counts / 2
        scores = ndtri(mid_ranks / counts.sum())
        if len(values) > MAX_KNOTS:
            kept = np.unique(np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(int))
            values, scores = values[kept], scores[kept]
        return cls(values, scores)

    def to_scores(self, cells: Array) -> Array:
        """Return the normal scores of values."""
        return np.interp(cells, self.values, self.scores)

    def to_values(self, scores: Array) -> Array:
        """Return the values of normal scores."""
        return np.interp(scores, self.scores, self.values)

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return mean and variance of the value of normal scores with these moments, (k,) each."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_POINTS)
        weights = weights / weights.sum()
        points = self.to_values(mean[:, None] + np.sqrt(variance)[:, None] * nodes)
        value = points @ weights
        return value, ((points - value[:, None]) ** 2) @ weights


@dataclass(frozen=True)
class Margins:
    """The maps of all columns; None where a column is taken as it is."""

    columns: tuple[Margin | None, ...]

    @classmethod
    def of(cls, values: Array, observed: BoolArray, ranked: BoolArray) -> Margins:
        """Learn the maps of the columns marked in ``ranked`` (d,) from the observed cells, (n, d)."""
        return cls(
            tuple(Margin.of(values[observed[:, j], j]) if ranked[j] else None for j in range(values.shape[1]))
        )

    @property
    def ranked(self) -> BoolArray:
        """Which columns are mapped, (d,)."""
        return np.array([margin is not None for margin in self.columns])

    def to_scores(self, values: Array, observed: BoolArray) -> Array:
        """Return the scores of the observed cells, 0 in the holes, (n, d)."""
        scores = np.where(observed, values, 0.0)
        for j, margin in enumerate(self.columns):
            if margin is not None:
                seen = observed[:, j]
                scores[seen, j] = margin.to_scores(values[seen, j])
        return scores

    def to_values(self, scores: Array) -> Array:
        """Return the values of scores (n, d), cell by cell."""
        values = scores.copy()
        for j, margin in enumerate(self.columns):
            if margin is not None:
                values[:, j] = margin.to_values(scores[:, j])
        return values

    def moments(self, mean: Array, variance: Array, holes: BoolArray) -> tuple[Array, Array]:
        """Return mean and variance of the values of normal scores in the holes; others stay, (n, d) each."""
        mean, variance = mean.copy(), variance.copy()
        for j, margin in enumerate(self.columns):
            if margin is not None:
                at = holes[:, j]
                mean[at, j], variance[at, j] = margin.moments(mean[at, j], variance[at, j])
        return mean, variance
