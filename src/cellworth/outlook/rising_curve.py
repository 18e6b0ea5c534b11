r"""How a score rises with the share of cells known, from scores at smaller shares.

With s the share of cells known, what is missing to a perfect score falls like

.. math:: \log(1 - \text{score}(s)) = a - b\,\frac{s^c - 1}{c}, \qquad b > 0 ,

where c = 0 stands for log s, a power law. A curve with c < 0 levels off, one with c > 0 speeds up. The prior
of (log b, c) is a normal distribution learned from curves of many tables; a may be anything. Given b and c
the fit of a is linear, so the posterior is computed exactly on a grid of (log b, c). Errors of scores of the
same rows are correlated, and their covariance is used. Two things are added to what the curve says at larger
shares: scores at smaller shares are measured by another method (cross-validation on fewer rows, draws of
complete rows) than the scores to come, and no curve follows the law exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array, IntArray

SLOPE = (-1.05, 1.2)
"""Mean and standard deviation of log b over the tuning half of the tables of `studies.money`."""
BEND = (0.28, 0.5)
"""The same of c."""
CORRELATION = 0.4
"""Of log b and c."""
SCATTER = 0.1
"""Standard deviation of log(1 - score) around its curve, from which cells happen to be known."""
TRUST = 1.0
"""Power of the likelihood: scores at smaller shares say less about those to come than they seem to."""
LEVEL = (-0.1, 0.15)
"""Mean and standard deviation of what log(1 - score) is above what was estimated."""
STEP_ERROR = 1.0
"""Standard deviation of the same, in units of the error that the estimate states of its method."""
BREAK = 0.1
"""Standard deviation of the departure from the law, per unit of log share ahead."""
LEAST_LEFT = 1e-4
"""No score counts as nearer to 1 than this."""
DRAWS = 2000
POINTS = 41
N_SLOPES, N_BENDS = 33, 25


@dataclass(frozen=True, eq=False)
class RisingCurve:
    """Draws of the score as a function of the share of cells known; they never fall.

    Attributes
    ----------
    shares : (g,) array
        Increasing, from what is known now to the most that can be known.
    draws : (`DRAWS`, g) array
        Scores, non-decreasing along each row.
    """

    shares: Float64Array
    draws: Float64Array

    def at(self, share: float) -> Float64Array:
        """Return the draws (`DRAWS`,) of the score at a share, which is taken to be within the curve."""
        place = float(np.interp(np.log(share), np.log(self.shares), np.arange(len(self.shares))))
        left = min(int(place), len(self.shares) - 2)
        weight = place - left
        return np.asarray((1 - weight) * self.draws[:, left] + weight * self.draws[:, left + 1])


def rising_curve(
    shares: Float64Array,
    scores: Float64Array,
    covariance: Float64Array,
    *,
    now: float,
    to: float = 1.0,
    method_error: float = 0.0,
    seed: int = 0,
) -> RisingCurve:
    """Fit the curve and draw from its posterior.

    Parameters
    ----------
    shares : (k,) array
        Shares of the cells known, in (0, 1]; k may be 1.
    scores : (k,) array
        AUC or R2 at these shares.
    covariance : (k, k) array
        Of the errors of the scores.
    now, to : float
        Where the curve is to begin and to end; 0 < now < to <= 1.
    method_error : float
        Of the score at the largest share; see `cellworth.model.cross_validation.Score`.
    seed : int

    Returns
    -------
    RisingCurve

    Notes
    -----
    O(k^3), and some milliseconds for the grid and the draws.
    """
    left = np.maximum(1 - scores, LEAST_LEFT)
    slopes, bends, log_prior = _grid()
    noise = covariance / np.outer(left, left) + SCATTER**2 * np.eye(len(scores))
    precision = np.linalg.inv(noise)
    total = float(precision.sum())
    lifted = np.log(left) + np.exp(slopes)[:, np.newaxis] * growth(shares, bends)  # (m, k)
    levels = lifted @ precision.sum(axis=0) / total
    off = lifted - levels[:, np.newaxis]
    log_weight = log_prior - TRUST / 2 * np.einsum("mi,ij,mj->m", off, precision, off)
    weight = np.exp(log_weight - log_weight.max())
    rng = np.random.default_rng(seed)
    chosen = _systematic(weight / weight.sum(), rng)
    normal = rng.standard_normal((3, DRAWS))
    # The scatter belongs to the cells that happen to be known, and is there at any share.
    relative = method_error / float(left[np.argmax(shares)])
    spread = np.sqrt(1 / total + LEVEL[1] ** 2 + (STEP_ERROR * relative) ** 2)
    level = levels[chosen] + LEVEL[0] + spread * normal[0]
    grid = np.geomspace(now, to, POINTS)
    # Keep about as much jitter in the slope as the shapes of the grid are apart.
    ahead = np.log(grid / now)
    values = level[:, np.newaxis] - np.exp(slopes[chosen])[:, np.newaxis] * growth(grid, bends[chosen])
    values += BREAK * normal[1][:, np.newaxis] * ahead
    drawn = 1 - np.exp(values)
    return RisingCurve(grid, np.maximum.accumulate(np.maximum(drawn, -10.0), axis=1))


def growth(shares: Float64Array, bends: Float64Array) -> Float64Array:
    """Return (s^c - 1) / c for all bends c (m,) and shares s (k,), (m, k); log s for c = 0."""
    c = np.where(np.abs(bends) < 1e-6, 1e-6, bends)[:, np.newaxis]
    return np.asarray(np.expm1(c * np.log(shares)) / c)


def _grid() -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return log b, c and the logarithm of the prior, (m,) each, up to three standard deviations."""
    across, down = np.meshgrid(np.linspace(-3, 3, N_SLOPES), np.linspace(-3, 3, N_BENDS), indexing="ij")
    x, y = across.ravel(), down.ravel()
    log_prior = -(x**2 - 2 * CORRELATION * x * y + y**2) / (2 * (1 - CORRELATION**2))
    return SLOPE[0] + SLOPE[1] * x, BEND[0] + BEND[1] * y, log_prior


def _systematic(weight: Float64Array, rng: np.random.Generator) -> IntArray:
    """Return `DRAWS` places, each as often as its weight says, in random order."""
    points = (np.arange(DRAWS) + rng.random()) / DRAWS
    chosen = np.minimum(np.searchsorted(np.cumsum(weight), points), len(weight) - 1)
    return np.asarray(rng.permutation(chosen))
