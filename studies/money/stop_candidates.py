"""Rules to stop, asked at the points of finished runs, and what each would have spent and reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.forecasting.stop_rule import StopRule
from studies.money.stop_runs import STEPS, StopPoint, StopRun

ENOUGH = 0.98
"""Of the score with all cells."""
HIGH = 95
"""The percentile of a gain that a rule looks at: the upper end of its 90 % interval."""
GAINS = (0.002, 0.003, 0.005, 0.007, 0.01, 0.02)
REACHES = (0.97, 0.98, 0.985, 0.99, 0.995)
CHANCES = (0.5, 0.6, 0.7, 0.8, 0.9)
EITHER_GAINS = (0.003, 0.005)
BOOTSTRAPS = 4000


@dataclass(frozen=True)
class PointRule:
    """A rule that is asked at a point: stop near enough to what is reachable, or if little is to come.

    Attributes
    ----------
    reach : float or None
        Share of what is reachable.
    chance : float
        That the score is at least this share; in whole percents, 0.5 is the median.
    least_gain : float or None
        Of the next tenth of the remaining cost, by the upper end of its interval.
    """

    reach: float | None = None
    chance: float = 0.5
    least_gain: float | None = None

    def stops(self, point: StopPoint) -> bool:
        """Return whether it says stop."""
        near = self.reach is not None and point.reached[round(100 * (1 - self.chance))] >= self.reach
        return near or (self.least_gain is not None and point.gain[HIGH] < self.least_gain)

    def stop(self, run: StopRun) -> StopPoint:
        """Return the first point at which it says stop, or the last."""
        return next((point for point in run if self.stops(point)), run[-1])

    def __str__(self) -> str:
        """Return the rule in words."""
        parts = []
        if self.reach is not None:
            chance = "" if self.chance == 0.5 else f" with a chance of {self.chance:.0%}"
            parts.append(f"{100 * self.reach:g} % is reached{chance}")
        if self.least_gain is not None:
            parts.append(f"a tenth brings less than {self.least_gain:g}")
        return " or ".join(parts)


DEFAULT = PointRule(least_gain=StopRule().least_gain)
"""The default of the library, with which the candidates are compared."""
CANDIDATES = (
    *(PointRule(least_gain=gain) for gain in GAINS),
    *(PointRule(reach, chance) for reach in REACHES for chance in CHANCES),
    *(PointRule(reach, chance, gain) for gain in EITHER_GAINS for reach in REACHES for chance in CHANCES),
)


@dataclass(frozen=True)
class StopFigures:
    """Where a rule stopped, over some runs.

    Attributes
    ----------
    spent : float
        Median share of the cost of all cells.
    reached : float
        Share of the runs with enough.
    times : float
        Median of the money spent over that of the best stop; at least the first purchase counts.
    log_times : float
        The mean logarithm of the same.
    """

    spent: float
    reached: float
    times: float
    log_times: float


def stop_figures(rule: PointRule, runs: Sequence[StopRun], *, of_best: bool = False) -> StopFigures:
    """Return the figures of a rule, measured by the score with all cells or by the best on the way."""
    stops = [rule.stop(run) for run in runs]
    most = [max(point.score for point in run) if of_best else run[-1].score for run in runs]
    reached = [stop.score >= ENOUGH * score for stop, score in zip(stops, most, strict=True)]
    times = [_times(stop, run, score) for stop, run, score in zip(stops, runs, most, strict=True)]
    spent = [stop.share for stop in stops]
    return StopFigures(
        float(np.median(spent)), float(np.mean(reached)), float(np.median(times)), float(np.log(times).mean())
    )


def cheapest(run: StopRun, most: float) -> float:
    """Return the least money that comes near enough to a score."""
    return next(point.share for point in run if point.score >= ENOUGH * most)


def _times(stop: StopPoint, run: StopRun, most: float) -> float:
    return max(stop.share, STEPS[0]) / max(cheapest(run, most), STEPS[0])


def best_candidate(runs: Sequence[StopRun]) -> PointRule:
    """Return the cheapest rule of those that reach enough at least as often as the default.

    Cheapest by the median of the money over that of the best stop, of equal ones by its mean logarithm.
    """
    least = stop_figures(DEFAULT, runs).reached
    found = {rule: stop_figures(rule, runs) for rule in CANDIDATES}
    enough = [rule for rule, figures in found.items() if figures.reached >= least]
    return min(enough, key=lambda rule: (found[rule].times, found[rule].log_times))


def change_of_cost(rule: PointRule, runs: Sequence[StopRun], *, seed: int = 0) -> tuple[float, float, float]:
    """Return the money of a rule over that of the default, a geometric mean, and its 90 % interval.

    By bootstrap over tables.
    """
    changes: dict[str, list[float]] = {}
    for run in runs:
        spent = [max(each.stop(run).share, STEPS[0]) for each in (rule, DEFAULT)]
        changes.setdefault(run[0].table, []).append(float(np.log(spent[0] / spent[1])))
    sums = np.array([sum(each) for each in changes.values()])
    counts = np.array([len(each) for each in changes.values()], dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(sums), (BOOTSTRAPS, len(sums)))
    means: Float64Array = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.05, 0.95])
    return float(np.exp(sums.sum() / counts.sum())), float(np.exp(low)), float(np.exp(high))
