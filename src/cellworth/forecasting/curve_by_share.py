r"""How the score on complete rows rises with the share of cells known, from scores at smaller shares.

With s the share of cells known when the model is trained, what is missing to a perfect score falls like

.. math:: \log(1 - \text{score}(s)) = a - b\,\frac{s^c - 1}{c}, \qquad b > 0 ,

where c = 0 stands for log s, a power law. A curve with c < 0 levels off, one with c > 0 speeds up.

*The shape*, (log b, c), has a normal prior learned from the curves of many tables. Estimates of the score on
complete rows at smaller shares update it. Given b and c the fit of a is linear, so the posterior is computed
on a grid. The covariance of the scores, which are of the same rows, is used. They say less about the curve to
come than they seem to, so their likelihood is raised to a power below 1.

*The level* now cannot be measured, unless rows are complete. Two estimates are averaged: that of
`cellworth.model.score_on_complete_rows`; and the power law of scores in which the held-out rows are
thinned, too, as s goes to 1, where a row is complete. How far off the average is was learned from the
same tables; it errs further where scores are better than it says. As rows are finished, the first becomes
a measurement: then it counts more, and its error is smaller in proportion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from cellworth.arrays import Float64Array, IntArray

# From the tuning half of the tables of `studies.money`, but the errors of the level, LEVEL and DEPTH, from
# both halves; see docs/explanation/forecast.md.
SLOPE = (-0.9, 1.3)
"""Mean and standard deviation of log b."""
BEND = (0.28, 0.5)
"""The same of c."""
CORRELATION = 0.4
"""Of log b and c."""
SCATTER = 0.1
"""Standard deviation of log(1 - score) around its curve, from which cells happen to be known."""
TRUSTED = 0.6
"""From this share known, scores at smaller shares count fully; below, their likelihood is raised to the power
(s / TRUSTED)^4, with s the share known."""
THINNED_SLOPE = (-0.35, 0.25)
"""Mean and standard deviation of the power of s, if held-out rows are thinned, too."""
THINNED_SCATTER = 0.06
LEVEL = 0.42
"""Standard deviation of log(1 - score) now around the average of both estimates, if next to no cell is known;
in proportion to the share of the cells that are not."""
DEPTH = 0.24
"""Added to that standard deviation, as a share of log(1 - score): near 1, scores are harder to tell apart."""
BETTER, WORSE = 1.5, 0.85
"""By what these errors are multiplied on the side of the better scores, and of the worse ones: a table whose
columns hang together in ways that a Gaussian does not know is much better than it looks."""
ONE_SIDED, ERRORS = 0.05, 1.645
"""The probability below the lower end of a 90 % interval, and how many standard errors it is away."""
LEAST_LEFT = 1e-4
"""No score counts as nearer to 1 than this."""
DRAWS = 2000
POINTS = 61
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
    complete: Float64Array,
    thinned: Float64Array,
    covariance: Float64Array,
    *,
    now: float,
    to: float = 1.0,
    unknown: float = 1.0,
    pairs: int = 0,
    seed: int = 0,
) -> RisingCurve:
    """Fit the curve and draw from its posterior.

    Parameters
    ----------
    shares : (k,) array
        Shares of the cells known, in (0, 1]; the last is the largest. k may be 1.
    complete : (k,) array
        AUC or R2 of models trained at these shares, on complete rows.
    thinned : (k,) array
        The same on held-out rows of which the same share is known.
    covariance : (k, k) array
        Of the errors of `complete`.
    now, to : float
        Where the curve is to begin and to end; 0 < now < to <= 1.
    unknown : float
        How much less is not known of the rows that `complete` comes from than of all rows, as a ratio.
    pairs : int
        The number of disjoint pairs of rows that an AUC ranks; 0 for R2. No AUC is below 0. One of 1 has no
        error of its own; but if the true one were 0.05^(1/pairs), all pairs would be ranked correctly in one
        of twenty tables.
    seed : int

    Returns
    -------
    RisingCurve

    Notes
    -----
    O(k^3), and some milliseconds for the grid and the draws.
    """
    rng = np.random.default_rng(seed)
    slopes, bends, log_prior = _grid()
    trust = min(1.0, (float(shares[-1]) / TRUSTED) ** 4)
    log_weight = log_prior + trust * _log_likelihoods(shares, complete, covariance, slopes, bends)
    weight = np.exp(log_weight - log_weight.max())
    chosen = _systematic(weight / weight.sum(), rng)
    left = max(1 - float(complete[-1]), LEAST_LEFT)
    estimated, extrapolated = float(np.log(left)), _level_of_thinned(shares, thinned)
    # Of two estimates that are equally good, the mean, and its standard error.
    level = estimated + unknown * (extrapolated - estimated) / 2
    doubt = unknown * abs(estimated - extrapolated) / 2
    hidden = unknown * (1 - float(shares[-1]))
    of_method, of_rows = (rng.permutation(_normal_quantiles()) for _ in range(2))
    of_method *= np.where(of_method < 0, BETTER, WORSE) * np.hypot(level_error(level, hidden), doubt)
    error = float(np.sqrt(covariance[-1, -1])) / left
    levels = level + of_method
    levels += of_rows * np.where(of_rows < 0, error, np.maximum(error, _errors_of_few(pairs, levels)))
    grid = np.geomspace(now, to, POINTS)
    risen = growth(grid, bends[chosen]) - growth(grid[:1], bends[chosen])
    values = levels[:, np.newaxis] - np.exp(slopes[chosen])[:, np.newaxis] * risen
    return RisingCurve(grid, np.maximum(1 - np.exp(values), 0.0 if pairs else -np.inf))


@cache
def _normal_quantiles() -> Float64Array:
    """Return `DRAWS` quantiles of the standard normal law; SciPy's function would load `numpy.ma`."""
    law = NormalDist()
    return np.array([law.inv_cdf((place + 0.5) / DRAWS) for place in range(DRAWS)])


def _errors_of_few(pairs: int, levels: Float64Array) -> Float64Array:
    """Return the least errors of levels, log(1 - area), towards worse areas, if few pairs were ranked."""
    if not pairs:
        return np.zeros_like(levels)
    worst = math.log(-math.expm1(math.log(ONE_SIDED) / pairs))
    return np.maximum(0.0, (worst - levels) / ERRORS)


def level_error(level: float, hidden: float, of_rows: float = 0.0) -> float:
    """Return the standard error of a level, log(1 - score), with a share of the cells hidden.

    ``of_rows`` is the part that comes from which rows were scored.
    """
    return math.hypot(hidden * LEVEL, hidden * DEPTH * level, of_rows)


def _log_likelihoods(
    shares: Float64Array,
    scores: Float64Array,
    covariance: Float64Array,
    slopes: Float64Array,
    bends: Float64Array,
) -> Float64Array:
    """Return the log-likelihood (m,) of the scores for each shape, with the best level."""
    left = np.maximum(1 - scores, LEAST_LEFT)
    precision = np.linalg.inv(covariance / np.outer(left, left) + SCATTER**2 * np.eye(len(scores)))
    lifted = np.log(left) + np.exp(slopes)[:, np.newaxis] * growth(shares, bends)
    off = lifted - (lifted @ precision.sum(axis=0) / precision.sum())[:, np.newaxis]
    return np.asarray(-np.einsum("mi,ij,mj->m", off, precision, off) / 2)


def _level_of_thinned(shares: Float64Array, scores: Float64Array) -> float:
    """Return log(1 - score) at share 1 by the power law of scores at smaller shares."""
    logs, values = np.log(shares), np.log(np.maximum(1 - scores, LEAST_LEFT))
    centred = logs - logs.mean()
    weight = THINNED_SCATTER**2 / THINNED_SLOPE[1] ** 2
    slope = (centred @ values + weight * THINNED_SLOPE[0]) / (centred @ centred + weight)
    return float(values.mean() - slope * logs.mean())


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
