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
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.gaussian.margins import Margins, has_atom
from cellworth.complete.gaussian.residual_bins import (
    LEVELS,
    NORMAL,
    PRIOR_CELLS,
    PRIOR_OF_BIN,
    bin_centres,
    bin_scales,
    ends_at_values,
    equal_bins,
    shrunk_ratios,
    sorted_quantiles,
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
DETERMINED = 0.05  # share of a column's variance that the other columns leave


class LeftOut(NamedTuple):
    """Observed cells of some rows (m, d), each predicted from the others of its row; 0 in the holes.

    Attributes
    ----------
    values : the cells in the user's units
    scores : the same as the model sees them
    mean, variance : of the prediction of each score
    distance : squared Mahalanobis distance of the others from the mean
    others : their number
    leverage : of the row in the prediction
    observed : bool array
    """

    values: FloatArray
    scores: FloatArray
    mean: FloatArray
    variance: FloatArray
    distance: FloatArray
    others: FloatArray
    leverage: FloatArray
    observed: BoolArray

    def standardised_squares(self) -> FloatArray:
        """Return the squared errors of the observed cells over their variances, (k,)."""
        at = self.observed
        return np.asarray((self.scores[at] - self.mean[at]) ** 2 / self.variance[at])

    def without_own_row(self) -> LeftOut:
        """Return the cells with errors and variances as those of a fit without their row.

        The errors are moved by moving the scores. Predictions stay as they are: without its row, that of a
        large value would be smaller, and cells would be sorted by their own values.
        """
        rest = 1 - self.leverage
        moved = self.mean + (self.scores - self.mean) / rest
        return self._replace(scores=np.where(self.observed, moved, 0), variance=self.variance / rest)


@dataclass(frozen=True)
class Calibration:
    """The distribution of residuals around predictions, for each column in at most `MOST_BINS` bins.

    Attributes
    ----------
    centres : (d, b) array
        The median prediction of each bin, increasing; the last ones are repeated if a column has fewer bins.
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
        for j in range(d):
            counts = np.unique(cells.values[cells.observed[:, j], j], return_counts=True)[1]
            shared = len(counts) > 0 and has_atom(counts)
            made.atoms[j] = shared and not _determined(cells, j)
            if margins.columns[j] is None:
                made.limits[:, j] = _believed_range(cells, j, bounded=shared)
        cells = cells._replace(mean=np.where(cells.observed, made.within(cells.mean), 0)).without_own_row()
        made = replace(made, tail=_tail(cells, made.atoms))
        cells = cells._replace(variance=cells.variance * made.spreads(cells.distance, cells.others))
        usual = usual_ratio(cells.standardised_squares())
        for j in range(d):
            at = np.flatnonzero(cells.observed[:, j])
            if len(at):
                # Rounded, so that equal predictions stay in the order of their rows on every engine.
                at = at[np.argsort(cells.mean[at, j].round(9), kind="stable")]
                column = (part[at, j] for part in (cells.values, cells.scores, cells.mean, cells.variance))
                share = float((1 / (1 + 2 * cells.leverage[at, j])).mean())
                made.fill_column(j, *column, believed=share, usual=usual, margins=margins)
        return made

    @classmethod
    def normal(cls, d: int, bins: int = 1) -> Calibration:
        """Return the calibration of a correct model."""
        ones = np.ones((d, bins))
        quantiles = np.tile(NORMAL, (d, bins, 1))
        limits = np.repeat([[-np.inf], [np.inf]], d, axis=1)
        plain = np.zeros((d, bins)), ones, ones.copy(), quantiles, np.zeros(d, dtype=bool), limits
        return cls(*plain, cells=np.zeros((d, bins)))

    def fill_column(
        self,
        j: int,
        values: FloatArray,
        scores: FloatArray,
        mean: FloatArray,
        variance: FloatArray,
        *,
        believed: float,
        usual: float,
        margins: Margins,
    ) -> None:
        """Fill in one column from its cells, sorted by their predictions.

        ``believed`` is how far the values of a bin count in a column with atoms, in [0, 1]: less if their
        rows had a large part in the fit. ``usual`` is the factor of the variances in the whole table.
        """
        standardised = (scores - mean) / np.sqrt(variance)
        bins = equal_bins(len(values), max(1, min(MOST_BINS, len(values) // BIN_CELLS)))
        of_bin = np.minimum(np.arange(MOST_BINS), len(bins) - 1)
        middles = [(at[(len(at) - 1) // 2], at[len(at) // 2]) for at in bins]  # of the sorted predictions
        self.centres[j] = mean[np.array(middles)].mean(axis=1)[of_bin]
        self.score_factor[j] = shrunk_ratios(standardised**2, np.ones_like(mean), bins, usual)[of_bin]
        expected, spread, margin = mean, variance, margins.columns[j]
        if margin is not None:  # the mean of a value depends on the variance of its score
            self.score_factor[j] = self.score_factor[j].clip(1 / MAX_FACTOR, MAX_FACTOR)
            factor = np.interp(mean, self.centres[j], self.score_factor[j])
            expected, spread = margin.mean_and_variance(mean, variance * factor)
            scores = margin.to_values(scores)
        self.value_factor[j] = shrunk_ratios((scores - expected) ** 2, spread, bins, usual)[of_bin]
        if margin is None:  # scores are values
            self.score_factor[j] = self.value_factor[j]
        centres = bin_centres(standardised, bins)
        off = standardised - np.repeat(centres, [len(at) for at in bins])
        scales = bin_scales(off, bins)
        level = np.concatenate([off[at] / scale for at, scale in zip(bins, scales, strict=True)])
        whole = sorted_quantiles(level)
        trust = len(values) / (len(values) + PRIOR_CELLS)
        whole = trust * whole + (1 - trust) * np.sqrt(usual) * NORMAL
        made = []
        for at, centre, scale in zip(bins, centres, scales, strict=True):
            trust = len(at) / (len(at) + PRIOR_OF_BIN)
            if self.atoms[j]:
                made.append(value_quantiles(values, at, trust * believed))
            elif len(bins) == 1:
                made.append(whole)
            else:
                made.append(centre + scale * (whole + trust * (sorted_quantiles(level[at]) - whole)))
        self.quantiles[j] = np.array(made)[of_bin]
        if self.cells is not None:
            self.cells[j] = np.array([len(at) for at in bins])[of_bin]

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


def _determined(cells: LeftOut, j: int) -> bool:
    """Return whether the other columns determine a column, as those of a category do.

    Such a cell is left out with the others at hand, and says nothing of a hole, where they are missing, too.
    """
    at = cells.observed[:, j]
    return bool(np.median(cells.variance[at, j]) <= DETERMINED * np.var(cells.scores[at, j]))


def _believed_range(cells: LeftOut, j: int, *, bounded: bool) -> tuple[float, float]:
    """Return the range of a column's scores if predictions beyond it are not believed, else all numbers.

    A row far from the mean in other columns may be predicted far beyond what the column ever had. Where rows
    are in proportion that is right, elsewhere it is not, and never in a ``bounded`` column, where many cells
    share a value. In others each left-out cell is compared with the range of the other cells, and the ends
    must be better by more than two standard errors.
    """
    at = cells.observed[:, j]
    scores, mean = cells.scores[at, j], cells.mean[at, j]
    if len(scores) < 3:
        return -np.inf, np.inf
    least, largest = np.partition(scores, (0, 1))[:2], np.partition(scores, (-2, -1))[-2:]
    low = np.where(scores == least[0], least[1], least[0])
    high = np.where(scores == largest[1], largest[0], largest[1])
    gains = (scores - mean) ** 2 - (scores - np.clip(mean, low, high)) ** 2
    better = bounded or gains.sum() > 2 * np.sqrt(np.square(gains).sum())
    return (float(least[0]), float(largest[1])) if better else (-np.inf, np.inf)


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
