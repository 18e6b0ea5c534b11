"""The posterior of a fitted Gaussian for the cells of a table, and what users read from it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.gaussian.dense_gaussian import DenseGaussian
from cellworth.complete.gaussian.factor_gaussian import FactorGaussian
from cellworth.complete.gaussian.interval_calibration import MAX_LEVERAGE, Calibration
from cellworth.complete.gaussian.label_trust import temper
from cellworth.complete.gaussian.left_out_cells import LeftOut
from cellworth.complete.gaussian.margins import Margin, Margins
from cellworth.complete.gaussian.quick_fit import SMALLEST_SHRINKAGE, Gaussian, GaussianEstimator
from cellworth.complete.scaling import Scaling

SAMPLE_ROWS = 4096  # rows to draw at once


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
        An observed cell has its own score as mean, and variance 0. Before calibration.
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
    shrinkage : float
    excess : float
        Measured leverage over that of a regression; see `cellworth.complete.gaussian.held_out_choices`.
    leverage : (d,) array or None
        Leverage of a row in the prediction of each column, over 1 plus its squared distance from the mean;
        None: 0.
    calibration : Calibration or None
    """

    model: Gaussian
    margins: Margins
    trust: float
    shrinkage: float
    excess: float = 1.0
    leverage: FloatArray | None = None
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
        """Return the posterior; ``completed`` saves calling `complete`."""
        completed = self.complete(cells) if completed is None else completed
        model = self._for(cells)
        variance = model.hole_variances(cells.observed)[:, : self.n_columns]
        mean = np.ascontiguousarray(completed[:, : self.n_columns])
        known = self._calibration()
        if np.isfinite(known.tail) or self.leverage is not None:
            residual = completed - model.mean
            distance = np.einsum("ij,ij->i", residual, model.precision_times(residual))
            spread = known.spreads(distance, cells.observed.sum(axis=1))[:, None]
            variance = variance * (spread / (1 - self._leverages(distance[:, None])))
        holes = ~cells.observed[:, : self.n_columns]
        return Posterior(np.where(holes, known.within(mean), mean), variance)

    def _leverages(self, distance: FloatArray) -> FloatArray:
        """Return the leverage of rows at squared distances from the mean; 1 stands for the mean's own."""
        unit = np.zeros(self.n_columns) if self.leverage is None else self.leverage
        return np.minimum((1 + distance) * unit, MAX_LEVERAGE)

    def mean_and_variance(self, posterior: Posterior) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the calibrated variance of each cell in scaled units, (n, d) each."""
        known, ranked = self._calibration(), self.margins.ranked
        variance = posterior.variance
        if ranked.any():
            variance = variance * np.where(ranked, known.score_factors(posterior.mean), 1.0)
        mean, variance = self.margins.mean_and_variance(posterior.mean, variance, posterior.variance > 0)
        return mean, variance * known.value_factors(posterior.mean)

    def interval(self, posterior: Posterior, level: float, scaling: Scaling) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals in the user's units, (n, d) each."""
        known, deviation = self._calibration(), np.sqrt(posterior.variance)
        lower, upper = (
            scaling.undo_in_place(self.margins.to_values(posterior.mean + deviation * end))
            for end in known.score_ends(posterior.mean, level)
        )
        for j in np.flatnonzero(known.atoms).tolist():
            lower[:, j], upper[:, j] = known.value_ends(j, posterior.mean[:, j], level)
        return lower, upper

    def sample(
        self,
        cells: Cells,
        posterior: Posterior,
        n_draws: int,
        rng: np.random.Generator,
        scaling: Scaling,
        *,
        shared: bool,
    ) -> FloatArray:
        """Return draws of all cells in the user's units, (n_draws, n, d); ``shared``: all rows use one x*.

        Draw whole rows x* from the model. The error of completing x* from its observed cells,
        x* - complete(x*), has the posterior covariance for each pattern of holes, so adding it to the
        posterior mean gives a posterior draw. A draw thus costs one completion. In columns with atoms, the
        rank of the error among the possible ones picks a value that occurs.
        """
        model, (n, d) = self._for(cells), posterior.mean.shape
        known = self._calibration()
        own = model.hole_variances(cells.observed)[:, :d]
        deviation = np.sqrt(np.where(own > 0, own, 1.0))
        scale = np.sqrt(posterior.variance * known.score_factors(posterior.mean))
        at_once = min(n_draws, max(1, SAMPLE_ROWS // n))  # draw a short table many times at once
        layout: Any = model.layout(np.tile(cells.observed, (at_once, 1)))
        draws = np.empty((n_draws, n, d))
        common = np.repeat(model.draw(n_draws + at_once, rng), n, axis=0) if shared else None
        for i in range(0, n_draws, at_once):
            whole = model.draw(at_once * n, rng) if common is None else common[i * n : (i + at_once) * n]
            error = (whole - layout.complete(model, whole))[:, :d].reshape(at_once, n, d)[: n_draws - i]
            error /= deviation
            scores = (posterior.mean + error * scale).reshape(-1, d)
            values = scaling.undo_in_place(self.margins.to_values(scores)).reshape(-1, n, d)
            for j in np.flatnonzero(known.atoms).tolist():
                mean = np.tile(posterior.mean[:, j], len(values))
                quantiles = error[:, :, j].ravel()
                values[:, :, j] = known.values_at(j, mean, quantiles).reshape(len(values), n)
            draws[i : i + at_once] = values
        return draws

    def redrawn(self, cells: Cells, rng: np.random.Generator) -> FittedGaussian:
        """Return the model with parameters fitted to as many rows of the table, drawn with replacement.

        Its variances do not allow for the uncertainty of the parameters, which it has itself.
        """
        rows = rng.integers(len(cells.scores), size=len(cells.scores))
        n_factors = self.model.loadings.shape[1] if isinstance(self.model, FactorGaussian) else None
        estimator = GaussianEstimator(n_factors, max(self.shrinkage, SMALLEST_SHRINKAGE * len(rows)))
        model = estimator.fit(cells.scores[rows], cells.observed[rows], self.model)
        return replace(self, model=model, leverage=None)

    def calibrated(self, cells: LeftOut) -> FittedGaussian:
        """Return the model calibrated on left-out cells."""
        return replace(self, calibration=Calibration.of(cells, self.margins))

    def left_out_posterior(self, left_out: LeftOut) -> Posterior:
        """Return the posterior of left-out cells, as if they were holes."""
        known = self._calibration()
        spread = known.spreads(left_out.distance, left_out.others) / (1 - left_out.leverage)
        return Posterior(known.within(left_out.mean), left_out.variance * spread)

    def to_state(self) -> dict[str, Any]:
        """Return all parameters as arrays and plain values."""
        knots = [None if m is None else [m.values, m.scores] for m in self.margins.columns]
        calibration = None if self.calibration is None else dict(vars(self.calibration))
        return {
            "model": {part.name: getattr(self.model, part.name) for part in fields(self.model)},
            "margins": knots,
            "trust": self.trust,
            "shrinkage": self.shrinkage,
            "excess": self.excess,
            "leverage": self.leverage,
            "calibration": calibration,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FittedGaussian:
        """Return the model from what `to_state` returned."""
        kind: Any = FactorGaussian if "loadings" in state["model"] else DenseGaussian
        columns = tuple(None if knots is None else Margin(*knots) for knots in state["margins"])
        calibration = None
        if state["calibration"] is not None:
            no_limits = Calibration.normal(len(columns)).limits  # in earlier versions
            calibration = Calibration(**{"limits": no_limits, **state["calibration"]})
        plain = {name: state[name] for name in ("trust", "shrinkage", "excess")}
        leverage = state.get("leverage")  # earlier versions had none
        model = kind(**state["model"])
        return cls(model, Margins(columns), leverage=leverage, calibration=calibration, **plain)

    def left_out(self, values: FloatArray, cells: Cells, completed: FloatArray) -> LeftOut:
        """Return each observed cell's prediction from the others in its row.

        ``values`` (n, d) are the cells in the user's units; ``completed`` is what `complete` returns.
        """
        model, d = self._for(cells), self.n_columns
        variance = model.left_out_variances(cells.observed)
        weighted = model.precision_times(completed - model.mean)
        own = weighted**2 * variance  # what the cell itself adds to the distance of its row
        distance = np.einsum("ij,ij->i", weighted, completed - model.mean)[:, None] - own
        observed = cells.observed[:, :d]
        mean = np.where(observed, (cells.scores - weighted * variance)[:, :d], 0)
        others = np.where(observed, cells.observed.sum(axis=1, keepdims=True) - 1.0, 0)
        distance = np.maximum(distance[:, :d], 0)
        return LeftOut(
            np.where(observed, values, 0),
            np.where(observed, cells.scores[:, :d], 0),
            mean,
            variance[:, :d],
            distance,
            others,
            self._leverages(distance),
            observed,
        )

    def _for(self, cells: Cells) -> Gaussian:
        """Return the model for these cells, with labels tempered, or left out if the cells have none."""
        if cells.scores.shape[1] == self.n_columns:
            return self.model.on_columns(slice(self.n_columns))
        return temper(self.model, self.trust, self.n_labels)

    def _calibration(self) -> Calibration:
        return Calibration.normal(self.n_columns) if self.calibration is None else self.calibration
