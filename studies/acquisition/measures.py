"""Measures of the curves: how much was bought to reach the goal, and how far they are above random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from cellworth.arrays import Float64Array
from studies.paper.samples import Interval, interval

Record = dict[str, Any]

GOAL = 0.99  # share of the AUC with all cells known
GAUSSIAN = ("em-inference", "random-gaussian", "posterior", "posterior-impact", "linear-impact")


class Measure(NamedTuple):
    """One strategy in one experiment, over the seeds.

    Attributes
    ----------
    needed : Interval
        Amount bought when the AUC first reaches `GOAL` times that of full information, as a share of all
        hidden cells (or of their cost).
    saved : Interval
        How much less that is than for the random strategy with the same completer; paired by seed.
    mean_auc : Interval
        Mean over the whole curve, from nothing to everything bought.
    gain : Interval
        How much higher that is than for the random strategy with the same completer; paired by seed.
    """

    needed: Interval
    saved: Interval
    mean_auc: Interval
    gain: Interval


def random_of(strategy: str) -> str:
    """Return the random strategy with the given strategy's completer, or else the paper's."""
    return "random-gaussian" if strategy in GAUSSIAN else "random"


def measure(records: Sequence[Record], unit: str) -> dict[str, Measure]:
    """Measure each strategy of one experiment, in order of appearance.

    Parameters
    ----------
    records : records of one experiment
    unit : {"cells", "money"}
        Unit of purchases.
    """
    needed: dict[str, dict[int, float]] = {}
    areas: dict[str, dict[int, float]] = {}
    for name in dict.fromkeys(r["strategy"] for r in records):
        for seed in sorted({r["seed"] for r in records if r["strategy"] == name}):
            run = [r for r in records if r["strategy"] == name and r["seed"] == seed]
            bought = np.array([r[unit] for r in run]) / run[0]["hidden" if unit == "cells" else "total"]
            auc = np.array([r["auc"] for r in run])
            needed.setdefault(name, {})[seed] = first_reach(bought, auc, GOAL * run[0]["full_auc"])
            areas.setdefault(name, {})[seed] = mean_height(bought, auc)
    return {
        name: Measure(
            interval(list(needed[name].values())),
            _difference(needed.get(random_of(name), {}), needed[name]),
            interval(list(areas[name].values())),
            _difference(areas[name], areas.get(random_of(name), {})),
        )
        for name in needed
    }


def first_reach(bought: Float64Array, values: Float64Array, goal: float) -> float:
    """Return where the piecewise linear curve first reaches the goal; its end if it never does."""
    above = np.flatnonzero(values >= goal)
    if len(above) == 0:
        return float(bought[-1])
    k = int(above[0])
    if k == 0:
        return float(bought[0])
    rise = (goal - values[k - 1]) / (values[k] - values[k - 1])
    return float(bought[k - 1] + rise * (bought[k] - bought[k - 1]))


def mean_height(bought: Float64Array, values: Float64Array) -> float:
    """Return the mean of a curve over the share bought, from 0 to 1; the last value extends to the end."""
    at = np.append(bought, max(1.0, bought[-1]))
    return float(trapezoid(np.append(values, values[-1]), at) / at[-1])


def _difference(larger: dict[int, float], smaller: dict[int, float]) -> Interval:
    return interval([larger[s] - smaller[s] for s in larger if s in smaller])
