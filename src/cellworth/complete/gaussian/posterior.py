r"""The posterior of a fitted Gaussian for the cells of a table, in scaled units, and its calibration.

Each observed cell has a closed-form prediction from the OTHER observed cells of its row. With
:math:`u = \Sigma_{oo}^{-1}(x_o - \mu_o)` its error is :math:`u_j s_j^2`, where
:math:`s_j^2 = 1/(\Sigma_{oo}^{-1})_{jj}` is the variance that the model expects. If the model were correct,
the standardised residuals :math:`u_j s_j` would be standard normal. Their quantiles, column by column,
replace the normal ones in intervals, and their mean square corrects the variance. So intervals for skewed and
heavy-tailed columns have the right coverage, as in split conformal prediction, without an extra fit.

The residuals are for cells that the model was fitted to. As in a regression on k columns fitted to n rows,
squared residuals are too small by a factor of :math:`(1-h)/(1+h)`, with the leverage :math:`h = k/n`; they
are divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.threads import ThreadEngine
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from cellworth.complete.gaussian.held_out_choices import Gaussian, temper
from cellworth.complete.gaussian.margins import Margin, Margins

PRIOR_CELLS = 10.0  # weight of the normal quantiles, in cells
LEVELS = np.concatenate([[0.001, 0.0025, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.9975, 0.999]])
MAX_LEVERAGE = 0.5
CALIBRATION_ROWS = 4096  # approximate number to use, evenly spaced in the table
SAMPLE_ROWS = 4096  # rows to draw at once


@dataclass(frozen=True)
class Calibration:
    """The distribution of standardised residuals, column by column.

    Attributes
    ----------
    variance_factor : (d,) array
        Mean square of the residuals.
    quantiles : (d, len(LEVELS)) array
    """

    variance_factor: FloatArray
    quantiles: FloatArray

    @classmethod
    def of(cls, standardised: FloatArray, observed: BoolArray, rows_per_column: IntArray) -> Calibration:
        """Learn from the residuals (n, d) of the observed cells, shrunk towards the normal if there are few.

        ``rows_per_column`` (d,) counts the observed cells that the model was fitted to.
        """
        d = standardised.shape[1]
        counts = observed.sum(axis=0)
        leverage = np.minimum(MAX_LEVERAGE, observed.sum(axis=1).mean() / np.maximum(rows_per_column, 1))
        inflation = (1 + leverage) / (1 - leverage)
        squares = inflation * (np.where(observed, standardised, 0) ** 2).sum(axis=0)
        factor = (squares + PRIOR_CELLS) / (counts + PRIOR_CELLS)
        quantiles = np.tile(ndtri(LEVELS), (d, 1))
        for j in range(d):
            if counts[j]:
                seen = np.sqrt(inflation[j]) * np.quantile(standardised[observed[:, j], j], LEVELS)
                trust = counts[j] / (counts[j] + PRIOR_CELLS)
                quantiles[j] += trust * (seen - quantiles[j])
        return cls(factor, quantiles)

    @classmethod
    def normal(cls, d: int) -> Calibration:
        """Return the calibration of a correct model."""
        return cls(np.ones(d), np.tile(ndtri(LEVELS), (d, 1)))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends, in standard deviations, of the central interval, (d,) each."""
        tail = (1 - level) / 2
        ends = [np.array([np.interp(p, LEVELS, row) for row in self.quantiles]) for p in (tail, 1 - tail)]
        return ends[0], ends[1]


@dataclass(frozen=True)
class Cells:
    """The cells of a table as the Gaussian sees them.

    Attributes
    ----------
    scores : (n, d + q) array
        The d columns and q label columns; 0 in the holes.
    observed : (n, d + q) bool array
    """

    scores: FloatArray
    observed: BoolArray


@dataclass(frozen=True)
class Posterior:
    """The posterior of each cell of d columns: the mean and variance of its normal score.

    Attributes
    ----------
    mean, variance : (n, d) arrays
        An observed cell has its own score as mean, and variance 0.
    """

    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class FittedGaussian:
    """The fitted model with its margins, label trust and calibration.

    Attributes
    ----------
    model : DenseGaussian or FactorGaussian
        Over d + q columns, the labels last.
    margins : Margins
        Margins of the d columns.
    trust : float
        Trust in the labels; above 0 if there are label columns.
    calibration : Calibration or None
    """

    model: Gaussian
    margins: Margins
    trust: float
    calibration: Calibration | None = None

    @property
    def n_columns(self) -> int:
        """Number of table columns, without labels."""
        return len(self.margins.columns)

    @property
    def n_labels(self) -> int:
        """Number of label columns."""
        return len(self.model.mean) - self.n_columns

    def unlabelled_cells(self, values: FloatArray, observed: BoolArray) -> Cells:
        """Return the cells of rows without labels, given scaled values (n, d)."""
        return Cells(self.margins.to_scores(values, observed), observed)

    def complete(self, cells: Cells, layout: Any = None, engine: ThreadEngine | None = None) -> FloatArray:
        """Return the posterior means of all cells, including labels, (n, d + q).

        Pass a ``layout`` made for the same observed cells to avoid making one.
        """
        model = self._for(cells)
        layout = model.layout(cells.observed) if layout is None else layout
        completed: FloatArray = layout.complete(model, cells.scores, engine)
        return completed

    def posterior(self, cells: Cells, completed: FloatArray | None = None) -> Posterior:
        """Return the posterior with calibrated variances; ``completed`` saves calling `complete`."""
        completed = self.complete(cells) if completed is None else completed
        variance = self._for(cells).hole_variances(cells.observed)[:, : self.n_columns]
        mean = np.ascontiguousarray(completed[:, : self.n_columns])
        return Posterior(mean, variance * self._variance_factor())

    def mean_and_variance(self, posterior: Posterior) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of each cell in scaled units, (n, d) each."""
        return self.margins.mean_and_variance(posterior.mean, posterior.variance, posterior.variance > 0)

    def interval(self, posterior: Posterior, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals in scaled units, (n, d) each."""
        # Quantiles of residuals are in units of the model's own standard deviation, before calibration.
        deviation = np.sqrt(posterior.variance / self._variance_factor())
        lower, upper = (self.calibration or Calibration.normal(self.n_columns)).interval(level)
        ends = posterior.mean + deviation * lower, posterior.mean + deviation * upper
        return self.margins.to_values(ends[0]), self.margins.to_values(ends[1])

    def sample(
        self, cells: Cells, posterior: Posterior, n_draws: int, rng: np.random.Generator, *, shared: bool
    ) -> FloatArray:
        """Return draws of all cells in scaled units, (n_draws, n, d); with ``shared``, all rows use one x*.

        Draw whole rows x* from the model. The error of completing x* from its observed cells,
        x* - complete(x*), has the posterior covariance for each pattern of holes, so adding it to the
        posterior mean gives a posterior draw. A draw thus costs one completion.
        """
        model, (n, d) = self._for(cells), posterior.mean.shape
        scale = np.sqrt(self._variance_factor())
        at_once = min(n_draws, max(1, SAMPLE_ROWS // n))  # draw a short table many times at once
        layout: Any = model.layout(np.tile(cells.observed, (at_once, 1)))
        draws = np.empty((n_draws, n, d))
        common = np.repeat(model.draw(n_draws + at_once, rng), n, axis=0) if shared else None
        for i in range(0, n_draws, at_once):
            whole = model.draw(at_once * n, rng) if common is None else common[i * n : (i + at_once) * n]
            error = (whole - layout.complete(model, whole))[:, :d].reshape(at_once, n, d)
            scores = (posterior.mean + error * scale)[: n_draws - i].reshape(-1, d)
            draws[i : i + at_once] = self.margins.to_values(scores).reshape(-1, n, d)
        return draws

    def calibrated(self, residuals: FloatArray, observed: BoolArray, counts: IntArray) -> FittedGaussian:
        """Return the model calibrated on the `left_out_residuals` (m, d) of some rows.

        ``observed`` (m, d) marks the observed cells of these rows, and ``counts`` (d,) is the number of
        observed cells in each column that the model was fitted to.
        """
        return replace(self, calibration=Calibration.of(residuals, observed, counts))

    def to_state(self) -> dict[str, Any]:
        """Return all parameters as arrays and plain values."""
        knots = [None if m is None else [m.values, m.scores] for m in self.margins.columns]
        calibration = None if self.calibration is None else dict(vars(self.calibration))
        return {
            "model": dict(vars(self.model)),
            "margins": knots,
            "trust": self.trust,
            "calibration": calibration,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FittedGaussian:
        """Return the model from what `to_state` returned."""
        kind: Any = FactorGaussian if "loadings" in state["model"] else DenseGaussian
        columns = tuple(None if knots is None else Margin(*knots) for knots in state["margins"])
        calibration = None if state["calibration"] is None else Calibration(**state["calibration"])
        return cls(kind(**state["model"]), Margins(columns), state["trust"], calibration)

    def left_out_residuals(self, cells: Cells, completed: FloatArray) -> FloatArray:
        """Return each observed cell's residual given the others in its row, (n, d); 0 in the holes.

        In units of the model's standard deviations. ``completed`` is what `complete` returns.
        """
        model = self._for(cells)
        deviation = np.sqrt(model.left_out_variances(cells.observed))
        return (model.precision_times(completed - model.mean) * deviation)[:, : self.n_columns]

    def _for(self, cells: Cells) -> Gaussian:
        """Return the model for these cells, with labels tempered, or left out if the cells have none."""
        if cells.scores.shape[1] == self.n_columns:
            return self.model.on_columns(slice(self.n_columns))
        return temper(self.model, self.trust, self.n_labels)

    def _variance_factor(self) -> FloatArray:
        return np.ones(self.n_columns) if self.calibration is None else self.calibration.variance_factor


def calibration_stride(n_rows: int) -> int:
    """Return k, where every k-th row of a table is used for its calibration."""
    return max(1, n_rows // CALIBRATION_ROWS)
