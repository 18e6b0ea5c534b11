r"""Forecast what more money will bring, from the scores so far.

Two curves that rise and level off are fitted to the scores as a function of money spent, by least squares:

.. math:: s(m) = a - b\,e^{-m/c} \qquad\text{and}\qquad s(m) = a - \frac{b}{\sqrt{1 + m/c}}, \qquad b \ge 0 .

The first levels off early, the second late; the forecast is their mean. For the interval, both are refitted
to scores as they might have come out: with other rows, by the multiplier bootstrap, which preserves the
correlation between scores of the same rows; and with other cells, by the scatter of the scores around the
curve. Half of the draws come from each curve, so that their disagreement counts.

The rule: no forecast from fewer than `LEAST_SCORES` scores after the first, and none further ahead than the
money spent so far, since the curve has no evidence beyond that. A gain is never negative and never takes a
score above 1. If the lower end of the interval is below `VISIBLE`, there may be no gain, and the forecast
says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.forecasting.outlook import quantiles
from cellworth.model.cross_validation import Estimate

Verdict = Literal["expected", "at most", "too early", "nothing left", "no score"]

LEAST_SCORES = 4
VISIBLE = 0.0005
"""A gain below this prints as 0.000."""
DRAWS = 1000
POINTS = 13  # of the projection, from now to its end
SPANS = np.geomspace(0.05, 30.0, 30)
"""Values of c to try, in units of the money spent: from a curve that is long flat to one nearly straight."""


@dataclass(frozen=True, eq=False)
class Projection:
    """The expected rise of the score.

    Attributes
    ----------
    money : (k,) array
        Money beyond what is already spent, starting at 0.
    gain, low, high : (k,) arrays
        The rise of the score from now, and the ends of its 95 % interval; never negative.
    """

    money: Float64Array
    gain: Float64Array
    low: Float64Array
    high: Float64Array

    def last(self) -> Estimate:
        """Return the gain at the end of the projection."""
        return Estimate(float(self.gain[-1]), float(self.low[-1]), float(self.high[-1]))


@dataclass(frozen=True)
class Forecast:
    """What more money is expected to bring.

    Attributes
    ----------
    verdict : {"expected", "at most", "too early", "nothing left", "no score"}
        "at most" if the interval starts at 0; the last three say why there is no forecast.
    money : float or None
        How much more money the gain is for: the amount asked about, but no more than was spent so far, and
        no more than all missing cells cost.
    gain : Estimate or None
        The rise of the score; never negative.
    projection : Projection or None
        The curve up to there.
    """

    verdict: Verdict
    money: float | None = None
    gain: Estimate | None = None
    projection: Projection | None = field(default=None, repr=False, compare=False)


def forecast(
    money: Float64Array, scores: Float64Array, influence: Float64Array, most: float, rng: np.random.Generator
) -> Forecast:
    """Apply the rule; ``most`` is the money asked about, or the cost of all that is left to buy if less.

    The other parameters are those of `project`.
    """
    if most == 0:
        return Forecast("nothing left")
    if int((np.diff(money) > 0).sum()) < LEAST_SCORES:
        return Forecast("too early")
    ahead = min(most, float(money[-1] - money[0]))
    projection = project(money, scores, influence, ahead, rng)
    gain = projection.last()
    return Forecast("expected" if gain.low >= VISIBLE else "at most", ahead, gain, projection)


def project(
    money: Float64Array, scores: Float64Array, influence: Float64Array, ahead: float, rng: np.random.Generator
) -> Projection:
    """Fit the curves and extrapolate.

    Parameters
    ----------
    money : (k,) array
        Money spent at each score; non-decreasing, with the last above the first.
    scores : (k,) array
    influence : (n, k) array
        Of each row on each score; see `cellworth.model.cross_validation`.
    ahead : float
        How far to extrapolate, in money; positive.
    rng : Generator

    Notes
    -----
    O(n k^2), and a few milliseconds for the draws.
    """
    at = np.linspace(0, ahead, POINTS)
    curves = _Curves(money, at)
    fitted, gains = curves.fit(scores[np.newaxis])
    draws = fitted.mean(axis=0) + _noise(scores - fitted.mean(axis=0)[0], influence, rng)
    _, drawn = curves.fit(draws)
    half = DRAWS // 2
    mixed = np.vstack([drawn[0, :half], drawn[1, half:]])
    low, high = quantiles(mixed, [0.025, 0.975])
    gain = gains.mean(axis=0)[0]
    return Projection(at, gain, np.minimum(low, gain), np.maximum(high, gain))


class _Curves:
    """The two curves for all values of c, at the scores and beyond.

    ``fit`` takes many score vectors at once. For a given c, a curve is a - b g with g known: a linear fit.
    """

    def __init__(self, money: Float64Array, at: Float64Array) -> None:
        spent = money[-1] - money[0]
        so_far, later = (money - money[0]) / spent, 1 + at / spent
        c = SPANS[:, np.newaxis]
        shapes: list[Callable[[Float64Array], Float64Array]] = [
            lambda m: np.exp(-m / c),
            lambda m: 1 / np.sqrt(1 + m / c),
        ]
        # Both have shape (2, len(SPANS), points): g at the scores, and how much it falls from now on.
        self._shape = np.array([shape(so_far) for shape in shapes])
        self._fall = np.array([shape(np.ones(1)) - shape(later) for shape in shapes])

    def fit(self, scores: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the fitted scores (2, r, k) and the gains (2, r, POINTS) for scores (r, k)."""
        centred = self._shape - self._shape.mean(axis=2, keepdims=True)
        squares = (centred**2).sum(axis=2)
        level = scores.mean(axis=1)
        slope = np.maximum(0.0, -(centred @ (scores - level[:, np.newaxis]).T) / squares[:, :, np.newaxis])
        # The squared error falls by slope^2 * squares; the best c maximizes that.
        best = np.argmax(slope**2 * squares[:, :, np.newaxis], axis=1)
        curve = np.arange(2)[:, np.newaxis]
        b = np.take_along_axis(slope, best[:, np.newaxis], axis=1)[:, 0, :, np.newaxis]
        fitted = level[:, np.newaxis] - b * centred[curve, best]
        room = np.maximum(0.0, 1 - fitted[:, :, -1:])
        return fitted, np.minimum(b * self._fall[curve, best], room)


def _noise(residuals: Float64Array, influence: Float64Array, rng: np.random.Generator) -> Float64Array:
    """Return random deviations of the scores, (DRAWS, k)."""
    n, k = influence.shape
    _, widths, directions = np.linalg.svd(influence, full_matrices=False)
    of_rows = (rng.standard_normal((DRAWS, len(widths))) * widths) @ directions / n
    scatter = np.sqrt(residuals @ residuals / max(1, k - 3))
    return of_rows + scatter * rng.standard_normal((DRAWS, k))
