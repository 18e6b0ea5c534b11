"""What a fitted Gaussian says about the cells of a table, in scaled units."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.gaussian.calibration import Calibration
from cellworth.complete.gaussian.choose import Gaussian
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.trust import temper

Array = NDArray[np.floating]

CALIBRATION_ROWS = 4096  # about as many take part, evenly spread over the table
SAMPLE_ROWS = 4096  # rows that are drawn in one go


@dataclass(frozen=True)
class Cells:
    """The cells of a table as the Gaussian sees them.

    Attributes
    ----------
    scores : (n, d + q) array
        The d columns and q label columns; 0 in the holes.
    observed : (n, d + q) bool array
    """

    scores: Array
    observed: BoolArray


@dataclass(frozen=True)
class Posterior:
    """What is known about each cell of d columns: normal scores with a mean and a variance.

    Attributes
    ----------
    mean, variance : (n, d) arrays
        Observed cells have their own score as mean and variance 0.
    """

    mean: Array
    variance: Array


@dataclass(frozen=True)
class FittedGaussian:
    """The fitted model with its margins, label trust and calibration.

    Attributes
    ----------
    model : DenseGaussian or FactorGaussian
        Of d + q columns, the labels last.
    margins : Margins
        Of the d columns.
    trust : float
        In the labels; above 0 if there are label columns.
    calibration : Calibration or None
    """

    model: Gaussian
    margins: Margins
    trust: float
    calibration: Calibration | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the table, without labels."""
        return len(self.margins.columns)

    @property
    def n_labels(self) -> int:
        """Label columns."""
        return len(self.model.mean) - self.n_columns

    def unlabelled_cells(self, values: Array, observed: BoolArray) -> Cells:
        """Return the cells of scaled values (n, d) of rows without labels."""
        return Cells(self.margins.to_scores(values, observed), observed)

    def complete(self, cells: Cells, layout: Any = None, pool: ThreadPoolExecutor | None = None) -> Array:
        """Return the posterior means of all cells, labels included, (n, d + q).

        A ``layout`` made for the same observed cells saves making one.
        """
        model = self._for(cells)
        layout = model.layout(cells.observed) if layout is None else layout
        completed: Array = layout.complete(model, cells.scores, pool)
        return completed

    def posterior(self, cells: Cells, completed: Array | None = None) -> Posterior:
        """Return what is known about each cell, the variances calibrated; ``completed`` saves `complete`."""
        completed = self.complete(cells) if completed is None else completed
        variance = self._for(cells).hole_variances(cells.observed)[:, : self.n_columns]
        mean = np.ascontiguousarray(completed[:, : self.n_columns])
        return Posterior(mean, variance * self._variance_factor())

    def moments(self, posterior: Posterior) -> tuple[Array, Array]:
        """Return the mean and variance of each cell in scaled units, (n, d) each."""
        return self.margins.moments(posterior.mean, posterior.variance, posterior.variance > 0)

    def interval(self, posterior: Posterior, level: float) -> tuple[Array, Array]:
        """Return the ends of intervals in scaled units, (n, d) each."""
        # Quantiles of residuals are in units of the model's own deviation, before its calibration.
        deviation = np.sqrt(posterior.variance / self._variance_factor())
        lower, upper = (self.calibration or Calibration.normal(self.n_columns)).interval(level)
        ends = posterior.mean + deviation * lower, posterior.mean + deviation * upper
        return self.margins.to_values(ends[0]), self.margins.to_values(ends[1])

    def sample(self, cells: Cells, posterior: Posterior, n_draws: int, rng: np.random.Generator) -> Array:
        """Return draws of all cells in scaled units, (n_draws, n, d).

        A draw x* of whole rows from the model misses its own completion from the observed cells by
        exactly the error that completing has: x* - complete(x*) has the posterior's covariance, for each
        pattern of holes, and is added to the posterior mean. So a draw costs one completion.
        """
        model, (n, d) = self._for(cells), posterior.mean.shape
        scale = np.sqrt(self._variance_factor())
        at_once = min(n_draws, max(1, SAMPLE_ROWS // n))  # a short table is drawn many times in one go
        layout: Any = model.layout(np.tile(cells.observed, (at_once, 1)))
        draws = np.empty((n_draws, n, d))
        for i in range(0, n_draws, at_once):
            whole = model.draw(at_once * n, rng)
            error = (whole - layout.complete(model, whole))[:, :d].reshape(at_once, n, d)
            scores = (posterior.mean + error * scale)[: n_draws - i].reshape(-1, d)
            draws[i : i + at_once] = self.margins.to_values(scores).reshape(-1, n, d)
        return draws

    def calibrated(
        self, cells: Cells, completed: Array, posterior: Posterior
    ) -> tuple[FittedGaussian, Posterior]:
        """Learn the calibration from observed cells, each left out in turn; return both with it.

        ``completed`` and ``posterior`` are what `complete` and `posterior` return for the cells.
        """
        every, d = calibration_stride(len(cells.scores)), self.n_columns
        sample = Cells(cells.scores[::every], cells.observed[::every])
        calibration = Calibration.of(
            self.left_out_residuals(sample, completed[::every]),
            sample.observed[:, :d],
            rows_per_column=cells.observed[:, :d].sum(axis=0),
        )
        variance = posterior.variance * calibration.variance_factor
        return replace(self, calibration=calibration), replace(posterior, variance=variance)

    def left_out_residuals(self, cells: Cells, completed: Array) -> Array:
        """Return how far each observed cell is from what the others of its row say, (n, d); 0 in the holes.

        In standard deviations that the model expects. ``completed`` is what `complete` returns.
        """
        model = self._for(cells)
        deviation = np.sqrt(model.left_out_variances(cells.observed))
        return (model.precision_times(completed - model.mean) * deviation)[:, : self.n_columns]

    def _for(self, cells: Cells) -> Gaussian:
        """Return the model for these cells: labels tempered, or left out if the cells have none."""
        if cells.scores.shape[1] == self.n_columns:
            return self.model.on_columns(slice(self.n_columns))
        return temper(self.model, self.trust, self.n_labels)

    def _variance_factor(self) -> Array:
        return np.ones(self.n_columns) if self.calibration is None else self.calibration.variance_factor


def calibration_stride(n_rows: int) -> int:
    """Return k: every k-th row of a table takes part in its calibration."""
    return max(1, n_rows // CALIBRATION_ROWS)
