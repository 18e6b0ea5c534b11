r"""How far the cells of each column really are from their predictions.

Each observed cell has a closed-form prediction from the OTHER observed cells of its row. With
:math:`u = \Sigma_{oo}^{-1}(z_o - \mu_o)` its error is :math:`u_j s_j^2`, where
:math:`s_j^2 = 1/(\Sigma_{oo}^{-1})_{jj}` is the variance that the model expects. If the model were correct,
the standardised residuals :math:`u_j s_j` would be standard normal, whatever the prediction. They are not for
skewed, bounded and discrete columns. So each column's cells are sorted by their predictions into a few bins
of equal size, and a hole takes from the bins around its own prediction

* the mean square of the residuals, which corrects the variance; as far as there are few of them, it is
  that of all columns: in a wide table of few rows, variances are wrong by about the same factor everywhere;
* their quantiles, which replace the normal ones in intervals, as in split conformal prediction: around
  the centre of the bin, since what all its cells miss by is no spread;
* in a column with an atom, a value that many cells share (zeros, a bound, 0 and 1), the quantiles of the
  values themselves. An interval then ends exactly at a value that occurs.

Not in the columns of a category: a left-out one is known from the others, which are missing in a hole. They
keep the variance that the model expects, times what is usual in the table.

Rows may differ in spread: where some are far from the mean in all columns, those are less predictable, too.

The row of a cell took part in the fit, so its residual is too small. In a regression fitted to n rows, a row
at the squared Mahalanobis distance q from the mean has the leverage :math:`h = (1+q)/n`, or
:math:`(1+q)/(n+\lambda)` with correlations shrunk by :math:`\lambda`, a ridge. Without the row, its error
would be larger by :math:`1/(1-h)`, and its expected square by as much: so is the variance of a hole, whose
row has no part in the regression of its column. On average over the rows q is the number of columns,
but the few rows that are far from the mean are fitted much more closely than the others. By how much the
leverage differs in a table with holes is measured on cells that were really hidden; see
`cellworth.complete.gaussian.held_out_choices`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.gaussian.left_out_cells import LeftOut, believed_ranges, determined, of_category
from cellworth.complete.gaussian.margins import Margins, columns_with_atoms
from cellworth.complete.gaussian.residual_bins import (
    LEVELS,
    NORMAL,
    PRIOR_CELLS,
    PRIOR_OF_BIN,
    Bins,
    bin_centres,
    bin_scales,
    ends_at_values,
    equal_bins,
    shrunk_ratios,
    sorted_quantiles,
    sorted_rows,
    usual_ratio,
    value_quantiles,
)

MOST_BINS = 8
BIN_CELLS = 50  # at least, unless a column has fewer
MAX_LEVERAGE = 0.55  # rows that are even farther from the mean count as having this
MAX_FACTOR = 2.0  # of the variance of scores in columns that are mapped by rank, and at least its inverse
TAILS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)  # degrees of freedom to choose from
LEAST_GAIN = 0.02  # of twice the mean log-likelihood of a cell, for rows to differ in spread
CALIBRATION_ROWS = 4096  # approximate number to use, evenly spaced in the table
CELLS_AT_ONCE = 200_000  # of the columns that are calibrated together
TIED = 1e-9  # standard deviations of a score: predictions that are closer are equal but for rounding


@dataclass(frozen=True)
class Calibration:
    """The distribution of residuals around predictions, for each column in at most `MOST_BINS` bins.

    Attributes
    ----------
    centres : (d, b) array
        The median prediction of each bin, increasing; the last ones are repeated if a column has fewer bins.
        Bins of the same median are one.
    score_factor : (d, b) array
        Mean square of the standardised residuals.
    value_factor : (d, b) array
        Mean squared error over mean expected variance, both in scaled units, the latter given that of the
        scores in a column that is mapped by rank.
    quantiles : (d, b, len(LEVELS)) array
        Of the standardised residuals, or of the values in the user's units in columns with atoms.
    atoms : (d,) bool array
    limits : (2, d) array
        The least and the largest prediction of each score that is believed; infinite where all are.
    tail : float
        Degrees of freedom of a multivariate t distribution whose rows differ in spread as those of the table
        do; infinite if they do not differ.
    cells : (d, b) array or None
        How many there are in each bin; None in earlier versions.
    """

    centres: FloatArray
    score_factor: FloatArray
    value_factor: FloatArray
    quantiles: FloatArray
    atoms: BoolArray
    limits: FloatArray
    tail: float = np.inf
    cells: FloatArray | None = None

    @classmethod
    def of(cls, cells: LeftOut, margins: Margins) -> Calibration:
        """Learn from left-out cells."""
        d = cells.observed.shape[1]
        made = cls.normal(d, MOST_BINS)
        at_once = max(1, CELLS_AT_ONCE // max(1, len(cells.observed)))
        groups = [slice(first, min(first + at_once, d)) for first in range(0, d, at_once)]
        as_they_are, one_hot = ~margins.ranked, of_category(cells)
        for some in groups:
            part = LeftOut._make(array[:, some] for array in cells)
            shared = columns_with_atoms(part.values, part.observed)
            made.atoms[some] = [atom and not determined(part, j) for j, atom in enumerate(shared.tolist())]
            made.atoms[some] &= ~one_hot[some]
            limits = believed_ranges(part, bounded=shared)
            made.limits[:, some] = np.where(as_they_are[some], limits, made.limits[:, some])
        cells = cells._replace(mean=np.where(cells.observed, made.within(cells.mean), 0)).without_own_row()
        cells = cells._replace(observed=cells.observed & ~one_hot)
        made = replace(made, tail=_tail(cells, made.atoms))
        cells = cells._replace(variance=cells.variance * made.spreads(cells.distance, cells.others))
        usual = usual_ratio(cells.standardised_squares())
        made.score_factor[one_hot] = made.value_factor[one_hot] = usual
        made.quantiles[one_hot] = np.sqrt(usual) * NORMAL
        known = np.asarray(cells.observed.any(axis=0))
        for some in groups:
            if known[some].any():
                made.fill_columns(some.start + np.flatnonzero(known[some]), cells, usual, margins)
        return made

    @classmethod
    def normal(cls, d: int, bins: int = 1) -> Calibration:
        """Return the calibration of a correct model."""
        ones = np.ones((d, bins))
        quantiles = np.tile(NORMAL, (d, bins, 1))
        limits = np.repeat([[-np.inf], [np.inf]], d, axis=1)
        plain = np.zeros((d, bins)), ones, ones.copy(), quantiles, np.zeros(d, dtype=bool), limits
        return cls(*plain, cells=np.zeros((d, bins)))

    def fill_columns(self, columns: IntArray, cells: LeftOut, usual: float, margins: Margins) -> None:
        """Fill in some columns (c,), each with a cell at least.

        ``usual`` is the factor of the variances in the whole table.
        """
        sort, bins = _sorted_by_prediction(columns, cells)
        values, scores, mean, variance, leverage = (
            part[sort] for part in (cells.values, cells.scores, cells.mean, cells.variance, cells.leverage)
        )
        bins = _without_ties(bins, _middles(mean, bins), self.limits[:, columns])
        at = bins.first_bin[:, None] + np.minimum(np.arange(MOST_BINS), bins.n_bins[:, None] - 1)
        self.centres[columns] = _middles(mean, bins)[at]
        standardised = (scores - mean) / np.sqrt(variance)
        self.score_factor[columns] = shrunk_ratios(standardised**2, np.ones_like(mean), bins, usual)[at]
        expected, spread = mean.copy(), variance.copy()
        for j, some in zip(columns, _runs(bins.counts), strict=True):
            margin = margins.columns[j]
            if margin is not None:  # the mean of a value depends on the variance of its score
                self.score_factor[j] = self.score_factor[j].clip(1 / MAX_FACTOR, MAX_FACTOR)
                factor = np.interp(mean[some], self.centres[j], self.score_factor[j])
                expected[some], spread[some] = margin.mean_and_variance(mean[some], variance[some] * factor)
                scores[some] = margin.to_values(scores[some])
        self.value_factor[columns] = shrunk_ratios((scores - expected) ** 2, spread, bins, usual)[at]
        as_they_are = columns[~margins.ranked[columns]]  # scores are values
        self.score_factor[as_they_are] = self.value_factor[as_they_are]
        self.quantiles[columns] = _quantiles(standardised, bins, usual)[at]
        for j, some, bins_of in zip(columns, _runs(bins.counts), _runs(bins.n_bins), strict=True):
            if self.atoms[j]:
                # The values of a bin count less if their rows had a large part in the fit.
                believed = float((1 / (1 + 2 * leverage[some])).mean())
                made = _quantiles_of_values(values[some], bins.sizes[bins_of], believed)
                self.quantiles[j] = made[np.minimum(np.arange(MOST_BINS), len(made) - 1)]
        if self.cells is not None:
            self.cells[columns] = bins.sizes[at]

    def within(self, mean: FloatArray) -> FloatArray:
        """Return predictions of scores (n, d), those beyond the limits moved to them."""
        return np.clip(mean, *self.limits)

    def score_factors(self, mean: FloatArray) -> FloatArray:
        """Return the factor of the variance of each score, (n, d), given the predictions of the scores."""
        return self._around(mean, self.score_factor)

    def value_factors(self, mean: FloatArray) -> FloatArray:
        """Return the factor of the variance of each value, (n, d)."""
        return self._around(mean, self.value_factor)

    def spreads(self, distance: FloatArray, count: FloatArray) -> FloatArray:
        r"""Return the factor of all variances of a row, (n,) or (n, d): :math:`(\nu + q)/(\nu + k)`.

        That is the spread of a multivariate t distribution with :math:`\nu` degrees of freedom in its other
        columns, given k of them at a squared Mahalanobis distance q from the mean.
        """
        if np.isinf(self.tail):
            return np.ones(distance.shape)
        return (self.tail + distance) / (self.tail + count)

    def score_ends(self, mean: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of central intervals of the scores, in standard deviations, (n, d) each.

        Those of columns with atoms have no meaning; see `value_quantile`.
        """
        tail = (1 - level) / 2
        lower, upper = (
            np.array([[np.interp(p, LEVELS, row) for row in bins] for bins in self.quantiles])
            for p in (tail, 1 - tail)
        )
        return self._around(mean, lower), self._around(mean, upper)

    def value_quantile(self, j: int, mean: FloatArray, p: FloatArray | float) -> FloatArray:
        """Return the p-quantiles of the values of a column with atoms, (n,), in the user's units."""
        middles = (self.centres[j, 1:] + self.centres[j, :-1]) / 2
        bins = np.searchsorted(middles, mean)
        # The tolerance keeps 1 - 0.95 from falling short of the level 0.05.
        levels = np.searchsorted(LEVELS, np.asarray(p) - 1e-9).clip(max=len(LEVELS) - 1)
        found: FloatArray = self.quantiles[j, bins, levels]
        return found

    def value_ends(self, j: int, mean: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals in a column with atoms, (n,) each, in the user's units."""
        middles = (self.centres[j, 1:] + self.centres[j, :-1]) / 2
        cells = np.zeros(self.centres.shape) if self.cells is None else self.cells
        ends = np.array(
            [ends_at_values(q, level, n) for q, n in zip(self.quantiles[j], cells[j], strict=True)]
        )
        lower, upper = ends[np.searchsorted(middles, mean)].T
        return lower, upper

    def values_at(self, j: int, mean: FloatArray, standardised: FloatArray) -> FloatArray:
        """Return the values of a column with atoms at these quantiles of the standard normal, (n,)."""
        return self.value_quantile(j, mean, ndtr(standardised))

    def _around(self, mean: FloatArray, of_bins: FloatArray) -> FloatArray:
        """Interpolate numbers of the bins, (d, b), at predictions (n, d)."""
        if self.centres.shape[1] == 1:
            return np.broadcast_to(of_bins[:, 0], mean.shape)
        columns = (np.interp(mean[:, j], self.centres[j], of_bins[j]) for j in range(mean.shape[1]))
        return np.stack(list(columns), axis=1)


def leverage_unit(
    counts: IntArray, shrinkage: float, per_row: float = 1.0, n_labels: int = 0, excess: float = 1.0
) -> FloatArray:
    """Return the leverage in each column, (d,), of a row at the mean.

    Parameters
    ----------
    counts : (d,) int array
        Number of observed cells in each column, in the fit.
    shrinkage : float
        Of the correlations; leverages are those of a ridge regression.
    per_row, n_labels : float, int
        Mean number of observed cells in a row, and number of label columns, which take part in predictions.
    excess : float
        Measured leverage, without labels, over that of a regression.
    """
    part = n_labels / (per_row + n_labels) if n_labels else 0.0
    return ((1 - part) * excess + part * max(1.0, excess)) / np.maximum(counts + shrinkage, 1)


def calibration_stride(n_rows: int) -> int:
    """Return k, where every k-th row of a table is used for its calibration."""
    return max(1, n_rows // CALIBRATION_ROWS)


def _middles(mean: FloatArray, bins: Bins) -> FloatArray:
    """Return the median prediction of each bin, (B,), given the sorted predictions."""
    middles = bins.first[:, None] + np.stack([(bins.sizes - 1) // 2, bins.sizes // 2], axis=1)
    return np.asarray(mean[middles].mean(axis=1))


def _without_ties(bins: Bins, middles: FloatArray, limits: FloatArray) -> Bins:
    """Return the bins, those of a column with equal median predictions made one.

    A hole of that prediction would otherwise belong to any of them, by the rounding of its last digit. Not
    those at the limits (2, c): predictions that were moved there are equal to the last digit.
    """
    low, high = (bins.of_bins(limit) for limit in limits)
    inside = (middles > low) & (middles < high)
    tied = np.zeros(len(middles), dtype=bool)
    tied[1:] = (np.diff(middles) <= TIED) & inside[1:] & inside[:-1]
    tied[bins.first_bin] = False
    return bins.joined(tied)


def _sorted_by_prediction(columns: IntArray, cells: LeftOut) -> tuple[tuple[IntArray, IntArray], Bins]:
    """Return where the cells of some columns are, column by column, sorted by prediction; and their bins."""
    observed = cells.observed[:, columns].T
    counts = observed.sum(axis=1)
    # Rounded, so that equal predictions stay in the order of their rows on every engine.
    mean = np.where(observed, cells.mean[:, columns].T.round(9), np.inf)
    order = np.argsort(mean, axis=1, kind="stable")
    rows = order[np.arange(order.shape[1]) < counts[:, None]]
    bins = equal_bins(counts, (counts // BIN_CELLS).clip(1, MOST_BINS))
    return (rows, np.repeat(columns, counts)), bins


def _runs(sizes: IntArray) -> list[slice]:
    """Return slices of these sizes, one after another."""
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]


def _quantiles(standardised: FloatArray, bins: Bins, usual: float) -> FloatArray:
    """Return the quantiles of standardised residuals in each bin, (B, len(LEVELS))."""
    in_order = bins.in_order(standardised)
    centres = bin_centres(standardised, in_order, bins)
    off = standardised - bins.of_cells(centres)
    scales = bin_scales(off, bins)
    whole = sorted_quantiles(sorted_rows(off / bins.of_cells(scales), bins.counts), bins.counts)
    trust = (bins.counts / (bins.counts + PRIOR_CELLS))[:, None]
    whole = bins.of_bins(trust * whole + (1 - trust) * np.sqrt(usual) * NORMAL)
    centres, scales, alone = centres[:, None], scales[:, None], bins.alone[:, None]
    own = sorted_quantiles((in_order - centres) / scales, bins.sizes)
    trust = (bins.sizes / (bins.sizes + PRIOR_OF_BIN))[:, None]
    return np.where(alone, whole, centres + scales * (whole + trust * (own - whole)))


def _quantiles_of_values(values: FloatArray, sizes: IntArray, believed: float) -> FloatArray:
    """Return the quantiles of the values of a column with atoms in each of its bins, (b, len(LEVELS))."""
    trust = sizes / (sizes + PRIOR_OF_BIN) * believed
    numbers = np.arange(len(values))
    made = (value_quantiles(values, numbers[at], t) for at, t in zip(_runs(sizes), trust, strict=True))
    return np.array(list(made))


def _tail(cells: LeftOut, atoms: BoolArray) -> float:
    """Return the degrees of freedom under which the left-out cells of columns without atoms are likeliest.

    The likelihood is that of normal residuals with the spread of their row.
    """
    at = cells.observed & ~atoms
    if at.sum() < BIN_CELLS:
        return float(np.inf)
    squares = cells.standardised_squares()[~atoms[np.nonzero(cells.observed)[1]]]
    distance, others = cells.distance[at], cells.others[at]

    def surprise(tail: float) -> float:
        spread = (tail + distance) / (tail + others)
        return float(np.log(spread).mean() + np.log((squares / spread).mean()))

    best = min(TAILS, key=surprise)
    gain = float(np.log(squares.mean())) - surprise(best) if squares.any() else 0.0
    return best if gain > LEAST_GAIN else float(np.inf)
