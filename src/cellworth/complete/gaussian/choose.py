"""How a Gaussian is fitted, and whether to columns as they are or to their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import BoolArray
from cellworth.complete.gaussian.climb import climb
from cellworth.complete.gaussian.dense import DenseGaussian
from cellworth.complete.gaussian.factor import FactorGaussian, factor_start
from cellworth.complete.gaussian.margins import Margins
from cellworth.complete.gaussian.pairwise import pairwise_start

Array = NDArray[np.floating]
Gaussian = DenseGaussian | FactorGaussian

CELLS = 20_000  # of the rows that take part in a choice, about
MIN_ROWS = 300  # take part, if there are as many
STRAIGHT = 0.995  # normal scores that correlate so much with the values change nothing
HELD_OUT = 0.2  # share of the observed cells
TOL = 1e-3
MIN_GAIN = 0.02  # rank margins must lower the squared error by this share to be chosen


@dataclass(frozen=True)
class Recipe:
    """How a Gaussian is fitted: full covariance (``n_factors`` None) or factors, and its shrinkage."""

    n_factors: int | None
    shrinkage: float

    def start(self, values: Array, observed: BoolArray) -> Gaussian:
        """Return a first guess for scaled values (n, d), 0 in the holes."""
        if self.n_factors is None:
            return pairwise_start(values, observed, self.shrinkage)
        return factor_start(values, observed, self.n_factors)

    def fit(self, values: Array, observed: BoolArray) -> Gaussian:
        """Return a Gaussian that is good enough for a choice."""
        start: Any = self.start(values, observed)
        em = start.layout(observed).em(values, self.shrinkage, None)
        return climb(em, start, n_cells=max(1, int(observed.sum())), tol=TOL, max_iter=100).model


def complete_scaled(model: Gaussian, margins: Margins, scores: Array, observed: BoolArray) -> Array:
    """Return posterior means in scaled units, (n, d)."""
    layout: Any = model.layout(observed)
    completed = layout.complete(model, scores)
    if margins.ranked.any():
        variance = model.hole_variances(observed)
        d = len(margins.columns)
        completed[:, :d], _ = margins.moments(completed[:, :d], variance[:, :d], ~observed[:, :d])
    return completed


def choose_ranked(values: Array, observed: BoolArray, recipe: Recipe, rng: np.random.Generator) -> bool:
    """Return whether rank margins complete held-out observed cells better than the columns as they are.

    Two fits on some of the rows; none where all columns are close to normal already. ``values`` (n, d) are
    scaled, 0 in the holes.
    """
    rows = some_rows(np.ones(len(values), dtype=bool), values.shape[1], rng)
    values, observed = values[rows], observed[rows]
    if _all_straight(values, observed):
        return False
    hidden = hide(observed, rng)
    kept = observed & ~hidden
    usable = kept.any(axis=0)
    if not hidden.any():
        return False
    values, kept, hidden = values[:, usable], kept[:, usable], hidden[:, usable]
    errors = []
    for ranked in (False, True):
        margins = Margins.of(values, kept, np.full(values.shape[1], ranked))
        scores = margins.to_scores(values, kept)
        model = recipe.fit(scores, kept)
        completed = complete_scaled(model, margins, scores, kept)
        errors.append(float(((completed - values)[hidden] ** 2).sum()))
    return errors[1] < (1 - MIN_GAIN) * errors[0]


def _all_straight(values: Array, observed: BoolArray) -> bool:
    """Return whether the normal scores of every column are nearly a linear function of its values."""
    scores = Margins.of(values, observed, np.ones(values.shape[1], dtype=bool)).to_scores(values, observed)
    for j in range(values.shape[1]):
        pair = values[observed[:, j], j], scores[observed[:, j], j]
        if min(np.ptp(pair[0]), np.ptp(pair[1])) > 0 and np.corrcoef(*pair)[0, 1] < STRAIGHT:
            return False
    return True


def some_rows(allowed: BoolArray, n_columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows that take part in a choice: some of the allowed, at random."""
    return rng.permutation(np.flatnonzero(allowed))[: max(MIN_ROWS, CELLS // n_columns)]


def hide(observed: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Return which observed cells to hold out, (n, d)."""
    return observed & (rng.random(observed.shape) < HELD_OUT)
