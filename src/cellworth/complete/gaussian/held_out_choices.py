r"""Choices made on held-out cells: whether to map columns by rank, and how far to shrink correlations.

A fifth of the observed cells of some rows is hidden, a Gaussian is fitted to the others, and its error on the
hidden ones decides. Each shrinkage starts from the fit of the one before, so it costs a few steps.

The same hidden cells tell how much the left-out residuals of cells in the fit, by which intervals and
variances are calibrated, fall short: both kinds must be equally large once each is standardised with the
leverage of its row; see `cellworth.complete.gaussian.interval_calibration`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.gaussian.interval_calibration import MAX_LEVERAGE, leverage_unit
from cellworth.complete.gaussian.margins import Margin, Margins
from cellworth.complete.gaussian.quick_fit import (
    Gaussian,
    GaussianEstimator,
    RowsToChooseOn,
    ScaledRows,
    StepInMemory,
    hide,
    some_rows,
)

STRAIGHT = 0.995  # normal scores this correlated with the values change nothing
MIN_GAIN = 0.02  # rank margins are chosen if they lower the squared error by at least this fraction
SHRINKAGES = (3.0, 20.0, 100.0, 500.0)
HOPELESS = 0.02  # fraction by which a shrinkage raises the least squared error if stronger ones are not tried
FAR = 10.0  # standard deviations of a column: larger errors count as this for the choice of margins,
FAR_TO_SHRINK = 5.0  # and as this for that of the shrinkage
LEAST_LEVERAGE = 0.005  # below it, neither the shrinkage nor the calibration depends on the cells in the fit
LARGEST = 3.0  # standardised residual: larger ones of hidden cells and of those in the fit count as this
NOISE = 1.34  # relative standard error of the mean of their squares for normal residuals, times root n
MAX_EXCESS = 3.0
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Chosen:
    """What was chosen on held-out cells.

    Attributes
    ----------
    ranked : bool
        Whether to map columns by rank.
    shrinkage : float
    excess : float
        Leverage of cells in the fit over that of a regression; at least 1 means more.
    start : DenseGaussian, FactorGaussian or None
        The fitted Gaussian, if it is one of all columns.
    """

    ranked: bool
    shrinkage: float
    excess: float = 1.0
    start: Gaussian | None = None


class _Fit(NamedTuple):
    """A Gaussian fitted to the kept cells with some margins.

    ``completed`` (n, d) are the posterior means of the scores, ``errors`` the squared errors of hidden cells.
    """

    margins: Margins
    model: Gaussian
    completed: FloatArray
    errors: FloatArray


@dataclass(frozen=True)
class _Trial:
    """Cells with some hidden: scaled values (n, d), which are kept and hidden, and the layout of E steps."""

    values: FloatArray
    kept: BoolArray
    hidden: BoolArray
    layout: Any

    @classmethod
    def of(cls, rows: ScaledRows, estimator: GaussianEstimator, rng: np.random.Generator) -> _Trial | None:
        """Hide cells, and leave out columns that have none left; None if there is nothing to measure."""
        hidden = hide(rows, rng)
        kept = rows.observed & ~hidden
        usable = kept.any(axis=0)
        if not hidden[:, usable].any():
            return None
        kept = kept[:, usable]
        return cls(rows.values[:, usable], kept, hidden[:, usable], estimator.layout(kept))

    def fit(self, estimator: GaussianEstimator, margins: Margins, start: Any = None) -> _Fit:
        """Return a Gaussian fitted to the kept cells and its squared errors on the hidden ones."""
        scores = margins.to_scores(self.values, self.kept)
        step = StepInMemory(self.layout, scores)
        model = estimator.fit_by(step, scores, self.kept, start)
        completed = mean = step.completed(model)
        if margins.ranked.any():
            mean, _ = margins.mean_and_variance(completed, model.hole_variances(self.kept), self.hidden)
        return _Fit(margins, model, completed, (mean - self.values)[self.hidden] ** 2)

    def excess(self, fit: _Fit, shrinkage: float) -> float:
        """Return the leverage of the kept cells over that of a regression, from both kinds of residuals."""
        margins, model, completed, _ = fit
        scores = margins.to_scores(self.values, self.kept | self.hidden)
        residual = completed - model.mean
        weighted = model.precision_times(residual)
        distance = np.einsum("ij,ij->i", weighted, residual)[:, None]
        unit = leverage_unit(self.kept.sum(axis=0), shrinkage)
        fresh = ((scores - completed) ** 2 / np.maximum(model.hole_variances(self.kept), TINY))[self.hidden]
        variance = model.left_out_variances(self.kept)
        within = (weighted**2 * variance)[self.kept]
        far = ((1 + distance) * unit)[self.hidden]
        near = ((1 + np.maximum(distance - weighted**2 * variance, 0)) * unit)[self.kept]

        def ratio(excess: float) -> float:
            """Return the log of fresh over within, squared, if this were the excess."""
            of_fresh = np.minimum(fresh * (1 - np.minimum(excess * far, MAX_LEVERAGE)), LARGEST**2).mean()
            of_within = np.minimum(within / (1 - np.minimum(excess * near, MAX_LEVERAGE)), LARGEST**2).mean()
            return float(np.log(max(of_fresh, TINY) / max(of_within, TINY)))

        # Believe in a deviation from a regression as far as it stands out from the noise of the quantile.
        signal, noise = ratio(1.0), NOISE / np.sqrt(self.hidden.any(axis=1).sum())
        left = signal * noise**2 / (signal**2 + noise**2)
        if ratio(0.0) <= left:
            return 0.0
        if ratio(MAX_EXCESS) >= left:
            return MAX_EXCESS
        return float(brentq(lambda excess: ratio(excess) - left, 0.0, MAX_EXCESS, xtol=0.01))


def typical_leverage(counts: IntArray, n_rows: int) -> float:
    """Return the leverage of a regression on the other cells of a row, given the known cells by column."""
    return float(counts.sum() / n_rows / max(1.0, float(counts[counts > 0].mean())))


def choose(
    rows: RowsToChooseOn,
    estimator: GaussianEstimator,
    rng: np.random.Generator,
    *,
    ranked: bool | None = None,
    shrinkage: float | None = None,
    calibrate: bool = True,
) -> Chosen:
    """Choose rank margins and shrinkage unless they are given, and measure the leverage to calibrate by.

    Parameters
    ----------
    rows : RowsToChooseOn
        Of a table in memory or in row blocks: the same rows of either are used.
    estimator : GaussianEstimator
        Its shrinkage is the one to begin with.

    Notes
    -----
    At most eight fits on some of the rows, most of them of a few steps. No fit at all if all columns are
    close to normal, or the margins given, and the table has so many rows that the rest does not matter.
    """
    settled = typical_leverage(rows.counts, rows.n_rows) < LEAST_LEVERAGE
    numbers = some_rows(rows.n_rows, len(rows.counts), rng)
    given = Chosen(bool(ranked), estimator.shrinkage if shrinkage is None else shrinkage)
    nothing_to_measure = settled or (shrinkage is not None and not calibrate)
    if ranked is not None and nothing_to_measure:
        return given
    some = rows.rows_at(numbers)
    if ranked is None and _all_straight(some):
        ranked = False
        if nothing_to_measure:
            return given
    trial = _Trial.of(some, estimator, rng)
    if trial is None:
        return given
    estimator = estimator if shrinkage is None else replace(estimator, shrinkage=shrinkage)
    fit = _best_margins(trial, estimator, ranked)
    if shrinkage is None and not settled:
        estimator, fit = _stronger(trial, estimator, fit)
    whole = len(fit.model.mean) == len(rows.counts)
    return Chosen(
        bool(fit.margins.ranked.any()),
        estimator.shrinkage,
        trial.excess(fit, estimator.shrinkage) if calibrate and not settled else 1.0,
        fit.model if whole else None,
    )


def _best_margins(trial: _Trial, estimator: GaussianEstimator, ranked: bool | None) -> _Fit:
    """Return the fit with the margins given or chosen."""
    d = trial.values.shape[1]
    fits: list[_Fit] = []
    for by_rank in (False, True) if ranked is None else (ranked,):
        margins = Margins.of(trial.values, trial.kept, np.full(d, by_rank))
        if margins.ranked.any() or not fits:  # else they are the same as those before
            fits.append(trial.fit(estimator, margins))
    first, last = fits[0], fits[-1]
    return last if _total(last.errors, FAR) < (1 - MIN_GAIN) * _total(first.errors, FAR) else first


def _total(squares: FloatArray, far: float) -> float:
    return float(np.minimum(squares, far**2).sum())


def _stronger(trial: _Trial, estimator: GaussianEstimator, fit: _Fit) -> tuple[GaussianEstimator, _Fit]:
    """Return the estimator with the shrinkage of the least error, and its fit."""
    best, following, least = (estimator, fit), fit, _total(fit.errors, FAR_TO_SHRINK)
    for shrinkage in SHRINKAGES:
        if shrinkage <= estimator.shrinkage:
            continue
        stronger = replace(estimator, shrinkage=shrinkage)
        following = trial.fit(stronger, fit.margins, following.model)
        error = _total(following.errors, FAR_TO_SHRINK)
        if error < least:
            best, least = (stronger, following), error
        elif error > (1 + HOPELESS) * least:
            break
    return best


def _all_straight(rows: ScaledRows) -> bool:
    """Return whether the normal scores of every column are nearly a linear function of its values."""
    for values, observed in zip(rows.values.T, rows.observed.T, strict=True):
        cells = values[observed]
        margin = Margin.of(cells)
        if margin is None:
            continue
        scores = margin.to_scores(cells)
        if min(np.ptp(cells), np.ptp(scores)) > 0 and np.corrcoef(cells, scores)[0, 1] < STRAIGHT:
            return False
    return True
