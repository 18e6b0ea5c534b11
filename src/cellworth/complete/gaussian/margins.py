r"""Map non-normal columns to normal scores and back (a Gaussian copula).

A value v of a column maps to the score :math:`z = \Phi^{-1}(F(v))`, where F is the empirical distribution
function with mid-ranks for ties. Between observed values the map is linear, and outside their range it is
constant. A completion has a normal score :math:`z \sim N(m, s^2)`; in the units of the column its mean and
variance are

.. math:: \mathrm{E}\,g(z), \qquad \mathrm{Var}\,g(z), \qquad g = F^{-1}\circ\Phi,

computed by Gauss-Hermite quadrature. The mean, not g(m), minimises the squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.row_source import Part, Source
from cellworth.complete.scaling import Scaling

QUADRATURE_POINTS = 15
MAX_KNOTS = 512  # per column: more distinct values than this are thinned evenly by rank

Values = tuple[
    FloatArray, NDArray[np.int64]
]  # distinct values of a column, increasing, and how often each occurs

ATOM = 0.3  # share of a column's cells that a value must have to count as an atom
COINCIDE = 0.15  # or this the probability that two of its cells have the same value
MOST_VALUES = 100_000  # distinct values in a column up to which its margin is exact
SAMPLE_ROWS = 100_000  # used to learn the margin of a column with more


def has_atom(counts: NDArray[np.int64]) -> bool:
    """Return whether many cells of a column share one value, or a few, given how often each occurs.

    Zeros, a bound, 0 and 1. A map by ranks has no single score for such a value.
    """
    return bool(_is_shared(counts.sum(), counts.max(), counts @ (counts - 1)))


def columns_with_atoms(values: FloatArray, observed: BoolArray) -> BoolArray:
    """Return for which columns of a table (n, d) the counts of observed values `has_atom`; O(n d log n)."""
    in_order = np.sort(np.where(observed, values, np.inf).T, axis=1)
    cells = observed.sum(axis=0)
    known = np.arange(in_order.shape[1]) < cells[:, None]
    is_first = known.copy()
    is_first[:, 1:] &= in_order[:, 1:] != in_order[:, :-1]
    distinct, found = is_first.sum(axis=1), np.zeros(len(cells), dtype=bool)
    counts = np.diff(np.flatnonzero(is_first[known]), append=cells.sum())
    if len(counts):
        first = (np.cumsum(distinct) - distinct)[cells > 0]
        largest, pairs = np.maximum.reduceat(counts, first), np.add.reduceat(counts * (counts - 1), first)
        found[cells > 0] = _is_shared(cells[cells > 0], largest, pairs)
    return found


def _is_shared(n: Any, largest: Any, pairs: Any) -> Any:
    """Return `has_atom`, given the cells, the largest count, and the ordered pairs of cells of one value."""
    return (largest - 1 >= ATOM * n) | (pairs >= COINCIDE * np.maximum(1, n * (n - 1)))


@dataclass(frozen=True)
class Margin:
    """The monotone map of one column.

    Attributes
    ----------
    values, scores : (k,) arrays
        Increasing; the knots of the map.
    """

    values: FloatArray
    scores: FloatArray

    @classmethod
    def of(cls, cells: FloatArray) -> Margin | None:
        """Learn the map from the observed values of a column, O(n log n); None if it has an atom."""
        in_order = np.sort(cells)
        is_first = np.ones(len(cells), dtype=bool)
        np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
        first = np.flatnonzero(is_first)
        return cls.of_counts(in_order[first], np.diff(first, append=len(cells)))

    @classmethod
    def of_counts(cls, values: FloatArray, counts: NDArray[np.int64]) -> Margin | None:
        """Learn the map from distinct values, increasing, and their counts; None if one is an atom."""
        if not len(values) or has_atom(counts):
            return None
        mid_ranks = np.cumsum(counts) - counts / 2
        scores = ndtri(mid_ranks / counts.sum())
        if len(values) > MAX_KNOTS:
            kept = np.unique(np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(int))
            values, scores = values[kept], scores[kept]
        return cls(values, scores)

    def to_scores(self, cells: FloatArray) -> FloatArray:
        """Return the normal scores of values."""
        return np.interp(cells, self.values, self.scores)

    def to_values(self, scores: FloatArray) -> FloatArray:
        """Return the values of normal scores."""
        return np.interp(scores, self.scores, self.values)

    def mean_and_variance(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of values whose normal scores have these, (k,) each."""
        nodes, weights = _quadrature()
        points = self.to_values(mean[:, None] + np.sqrt(variance)[:, None] * nodes)
        value = points @ weights
        return value, ((points - value[:, None]) ** 2) @ weights


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Return the nodes of a standard normal variable, and their weights, which sum to 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_POINTS)
    return nodes, weights / weights.sum()


@dataclass(frozen=True)
class Margins:
    """The maps of all columns; None for a column that is used as it is, like one with an atom."""

    columns: tuple[Margin | None, ...]

    @classmethod
    def of(cls, values: FloatArray, observed: BoolArray, ranked: BoolArray) -> Margins:
        """Learn the maps of the columns marked in ``ranked`` (d,) from the observed cells, (n, d)."""
        return cls(
            tuple(Margin.of(values[observed[:, j], j]) if ranked[j] else None for j in range(values.shape[1]))
        )

    @property
    def ranked(self) -> BoolArray:
        """Which columns are mapped, (d,)."""
        return np.array([margin is not None for margin in self.columns])

    def to_scores(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        """Return the scores of the observed cells, 0 in the holes, (n, d)."""
        scores = np.where(observed, values, 0.0)
        for j, margin in enumerate(self.columns):
            if margin is not None:
                seen = observed[:, j]
                scores[seen, j] = margin.to_scores(values[seen, j])
        return scores

    def to_values(self, scores: FloatArray) -> FloatArray:
        """Return the values of scores (n, d), cell by cell."""
        values = scores.copy()
        for j, margin in enumerate(self.columns):
            if margin is not None:
                values[:, j] = margin.to_values(scores[:, j])
        return values

    def mean_and_variance(
        self, mean: FloatArray, variance: FloatArray, holes: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of the values in the holes, (n, d) each; other cells are kept."""
        mean, variance = mean.copy(), variance.copy()
        for j, margin in enumerate(self.columns):
            if margin is not None:
                at = holes[:, j]
                mean[at, j], variance[at, j] = margin.mean_and_variance(mean[at, j], variance[at, j])
        return mean, variance


def learn_margins(source: Source, scaling: Scaling) -> Margins:
    """Return the margins of all columns of a table of row blocks.

    For columns with at most `MOST_VALUES` distinct values, they are those of the whole table; for others,
    those of about `SAMPLE_ROWS` evenly spaced rows. One or two passes, unless they were made before.
    """
    recalled = source.recall("distinct values", _in_a_pass)
    if recalled is None:
        found = list(_in_a_pass(source))
    else:
        found = list(_merge(recalled[0], _distinct_values(recalled[1].X, MOST_VALUES)))
    if any(values is None for values in found):
        X = source.sample(max(1, source.n_rows // SAMPLE_ROWS)).X
        of_sample = _distinct_values(X, most=len(X))
        found = [b if a is None else a for a, b in zip(found, of_sample, strict=True)]
    scaled = (
        ((values[0] - offset) / width, values[1])
        for values, offset, width in zip(found, scaling.offset, scaling.width, strict=True)
        if values is not None
    )
    return Margins(tuple(Margin.of_counts(*values) for values in scaled))


def _in_a_pass(source: Source) -> tuple[Values | None, ...]:
    found: tuple[Values | None, ...] = source.reduce(_distinct, _merge)
    return found


def _distinct(part: Part) -> tuple[Values | None, ...]:
    return _distinct_values(part.X, MOST_VALUES)


def _distinct_values(X: FloatArray, most: int) -> tuple[Values | None, ...]:
    exact, observed = X.astype(np.float64, copy=False), ~np.isnan(X)
    columns = (exact[observed[:, j], j] for j in range(X.shape[1]))
    return tuple(_bounded(*np.unique(column, return_counts=True), most) for column in columns)


def _merge(a: tuple[Values | None, ...], b: tuple[Values | None, ...]) -> tuple[Values | None, ...]:
    return tuple(
        None if of_a is None or of_b is None else _together(of_a, of_b)
        for of_a, of_b in zip(a, b, strict=True)
    )


def _together(a: Values, b: Values) -> Values | None:
    values, number = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    counts = np.bincount(number, weights=np.concatenate([a[1], b[1]])).astype(np.int64)
    return _bounded(values, counts, MOST_VALUES)


def _bounded(values: Any, counts: Any, most: int) -> Values | None:
    return None if len(values) > most else (values, counts)
