"""Figures by seed, and what they say about two methods: paired differences with intervals."""

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
    """Return the mean and the half-width of its 95 % interval; NaN from fewer than two values."""
    n = len(values)
    if n < 2:
        return Interval(float(np.mean(values)) if n else float("nan"), float("nan"))
    half = half_width(np.array(values)[:, np.newaxis], 0.95)[0]
    return Interval(float(np.mean(values)), float(half))


Samples = dict[int, float]
"""One figure per seed."""

Metric = Literal["accuracy", "auc", "reconstruction_error"]


class Curve(NamedTuple):
    """One run: the share bought so far, of the missing cells or of their price, and a figure each time."""

    bought: Float64Array
    values: Float64Array

    def at(self, share: float) -> float:
        """Return the figure at a share, on a straight line between rounds."""
        return float(np.interp(share, self.bought, self.values))

    def mean(self, end: float) -> float:
        """Return the mean height from nothing bought to a share; 0 < end <= 1."""
        inside = self.bought < end
        places = np.append(self.bought[inside], end)
        return float(trapezoid(np.append(self.values[inside], self.at(end)), places) / end)


Curves = dict[tuple[str, str], dict[int, Curve]]
"""By (data set, method) and seed."""


def curves_of(rows: Iterable[Row], metric: Metric, unit: Literal["cells", "money"]) -> Curves:
    """Return the curves of an experiment on buying, from its rows."""
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
"""By (data set, share observed) and method."""


def grouped(rows: Iterable[Row], metric: Metric) -> Grouped:
    """Return the figures of Table 1's experiment, from its rows."""
    out: Grouped = {}
    for row in rows:
        by_method = out.setdefault((row["dataset"], row["observed"]), {})
        by_method.setdefault(row["method"], {})[row["seed"]] = row[metric]
    return out


def at_share(curves: Mapping[int, Curve], share: float) -> Samples:
    """Return the figure of each seed at a share bought."""
    return {seed: curve.at(share) for seed, curve in curves.items()}


def mean_height(curves: Mapping[int, Curve], end: float) -> Samples:
    """Return the mean height of each seed's curve up to a share bought."""
    return {seed: curve.mean(end) for seed, curve in curves.items()}


def common_end(*curves: Mapping[int, Curve]) -> float:
    """Return the share up to which all curves go."""
    return float(min(curve.bought[-1] for by_seed in curves for curve in by_seed.values()))


def reached(shares: Sequence[float], *curves: Mapping[int, Curve]) -> list[float]:
    """Return those shares that all curves reach; batches of whole cells may end a little short."""
    end = common_end(*curves) + 0.005
    return [share for share in shares if share <= end]


def difference(first: Samples, second: Samples) -> Interval:
    """Return the mean of first minus second over the seeds that both have, with its 95 % interval.

    The interval is that of the paired t-test: it excludes zero exactly if the test rejects at 5 %, two-sided.
    """
    return interval([first[seed] - second[seed] for seed in first if seed in second])


def mean_and_sd(samples: Samples) -> tuple[float, float]:
    """Return mean and standard deviation over seeds; NaN for the latter from one seed."""
    values = list(samples.values())
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def best(samples: Mapping[str, Samples]) -> set[str]:
    """Return the method of the highest mean and those not significantly worse.

    That is by paired t-tests at the 95 % level, as in the paper's Table 2. Empty if there are fewer than two
    seeds: nothing can be told then.
    """
    if not samples or min(map(len, samples.values())) < 2:
        return set()
    leader = max(samples, key=lambda method: mean_and_sd(samples[method])[0])
    return {
        method for method, values in samples.items() if not difference(samples[leader], values).above_zero
    }


def negated(samples: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return figures of which low is good as figures of which high is good."""
    return {method: {seed: -value for seed, value in by_seed.items()} for method, by_seed in samples.items()}


def closest_rival(samples: Mapping[str, Samples], method: str, rivals: Sequence[str]) -> tuple[str, Interval]:
    """Return the rival that a method compares worst with, and how far the method is ahead of it.

    High figures are good. Where rivals are ahead beyond the 95 % interval it is the one of the lowest upper
    end, else the one of the lowest lower end: the interval is above zero only if the method is ahead of all,
    and below zero as soon as one is ahead of it.
    """
    found = [(rival, difference(samples[method], samples[rival])) for rival in rivals]
    if any(ahead.below_zero for _, ahead in found):
        return min(found, key=lambda pair: pair[1].mean + pair[1].half)
    return min(found, key=lambda pair: pair[1].mean - pair[1].half)
