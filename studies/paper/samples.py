"""Results by seed, and comparisons of two methods by paired differences with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from cellworth.arrays import Float64Array
from cellworth.simulation.plot import half_width
from studies.paper.experiments import Row


class Interval(NamedTuple):
    """A mean over seeds and the half-width of its 95 % interval (Student's t)."""

    mean: float
    half: float

    @property
    def above_zero(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.mean - self.half > 0

    @property
    def below_zero(self) -> bool:
        """Whether the whole interval is below zero."""
        return self.mean + self.half < 0


def interval(values: Sequence[float]) -> Interval:
    """Return the mean and the half-width of its 95 % interval; NaN with fewer than two values."""
    n = len(values)
    if n < 2:
        return Interval(float(np.mean(values)) if n else float("nan"), float("nan"))
    half = half_width(np.array(values)[:, np.newaxis], 0.95)[0]
    return Interval(float(np.mean(values)), float(half))


Samples = dict[int, float]
"""One value per seed."""

Metric = Literal["accuracy", "auc", "reconstruction_error"]


class Curve(NamedTuple):
    """One run: the share of the missing cells or of their price bought by each round, and the values."""

    bought: Float64Array
    values: Float64Array

    def at(self, share: float) -> float:
        """Return the value at a share, linear between rounds."""
        return float(np.interp(share, self.bought, self.values))

    def mean(self, end: float) -> float:
        """Return the mean height from 0 to a share bought; 0 < end <= 1."""
        inside = self.bought < end
        places = np.append(self.bought[inside], end)
        return float(trapezoid(np.append(self.values[inside], self.at(end)), places) / end)


Curves = dict[tuple[str, str], dict[int, Curve]]
"""Keyed by (data set, method), then seed."""


def curves_of(rows: Iterable[Row], metric: Metric, unit: Literal["cells", "money"]) -> Curves:
    """Return the curves in the rows of an experiment on buying."""
    points: dict[tuple[str, str], dict[int, list[tuple[float, float]]]] = {}
    for row in rows:
        share = row[unit] / row["hidden" if unit == "cells" else "total"]
        by_seed = points.setdefault((row["dataset"], row["method"]), {})
        by_seed.setdefault(row["seed"], []).append((share, row[metric]))
    return {
        key: {seed: Curve(*np.array(sorted(pairs)).T) for seed, pairs in by_seed.items()}
        for key, by_seed in points.items()
    }


Grouped = dict[tuple[str, float], dict[str, Samples]]
"""Keyed by (data set, share observed), then method."""


def grouped(rows: Iterable[Row], metric: Metric) -> Grouped:
    """Return the results in the rows of Table 1's experiment."""
    out: Grouped = {}
    for row in rows:
        by_method = out.setdefault((row["dataset"], row["observed"]), {})
        by_method.setdefault(row["method"], {})[row["seed"]] = row[metric]
    return out


def at_share(curves: Mapping[int, Curve], share: float) -> Samples:
    """Return the value of each seed at a share bought."""
    return {seed: curve.at(share) for seed, curve in curves.items()}


def mean_height(curves: Mapping[int, Curve], end: float) -> Samples:
    """Return the mean height of each seed's curve up to a share bought."""
    return {seed: curve.mean(end) for seed, curve in curves.items()}


def common_end(*curves: Mapping[int, Curve]) -> float:
    """Return the largest share that all curves reach."""
    return float(min(curve.bought[-1] for by_seed in curves for curve in by_seed.values()))


def reached(shares: Sequence[float], *curves: Mapping[int, Curve]) -> list[float]:
    """Return the shares that all curves reach, up to rounding: batches of whole cells may fall short."""
    end = common_end(*curves) + 0.005
    return [share for share in shares if share <= end]


def difference(first: Samples, second: Samples) -> Interval:
    """Return the mean of first minus second over their common seeds, with its 95 % interval.

    The interval excludes zero exactly when the two-sided paired t-test rejects at 5 %.
    """
    return interval([first[seed] - second[seed] for seed in first if seed in second])


def mean_and_sd(samples: Samples) -> tuple[float, float]:
    """Return mean and standard deviation over seeds; the latter is NaN with one seed."""
    values = list(samples.values())
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def best(samples: Mapping[str, Samples]) -> set[str]:
    """Return the method with the highest mean and those not significantly worse.

    Uses paired t-tests at the 95 % level, as in the paper's Table 2. Empty with fewer than two seeds.
    """
    if not samples or min(map(len, samples.values())) < 2:
        return set()
    leader = max(samples, key=lambda method: mean_and_sd(samples[method])[0])
    return {
        method for method, values in samples.items() if not difference(samples[leader], values).above_zero
    }


def negated(samples: Mapping[str, Samples]) -> dict[str, Samples]:
    """Negate values for which lower is better, so that higher is better."""
    return {method: {seed: -value for seed, value in by_seed.items()} for method, by_seed in samples.items()}


def closest_rival(samples: Mapping[str, Samples], method: str, rivals: Sequence[str]) -> tuple[str, Interval]:
    """Return a method's strongest rival, and how far the method is ahead of it.

    Higher values are better. If any rival is significantly ahead, this is the one whose interval has the
    lowest upper end, otherwise the one with the lowest lower end: the interval is above zero only if the
    method is ahead of all rivals, and below zero as soon as one is ahead of it.
    """
    found = [(rival, difference(samples[method], samples[rival])) for rival in rivals]
    if any(ahead.below_zero for _, ahead in found):
        return min(found, key=lambda pair: pair[1].mean + pair[1].half)
    return min(found, key=lambda pair: pair[1].mean - pair[1].half)
