"""Average and plot learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.stats import t as student

from cellworth.arrays import Float64Array
from cellworth.errors import ParameterError
from cellworth.optional_packages import require

LABELS = {
    "cells": "cells bought",
    "money": "money spent",
    "accuracy": "accuracy on test rows",
    "auc": "AUC on test rows",
    "log_loss": "log-loss on test rows",
    "reconstruction_error": "reconstruction error",
    "r2": "R² on test rows",
    "rmse": "root mean squared error on test rows",
}
RANGES = {"accuracy": (0.0, 1.0), "auc": (0.0, 1.0), "r2": (-np.inf, 1.0)}
"""Values that a metric can take; those of the others are 0 or more."""
MARGIN = 0.01
"""How far an axis goes beyond these, as a share of its length: enough to show a line at the end."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One strategy's mean curve over seeds.

    Attributes
    ----------
    strategy : str
    at, mean : (points,) arrays
    half : (points,) array
        The half-width of the interval of the mean.
    low, high : (points,) arrays
        The ends of the interval, within the range of the metric.
    seeds : int
    """

    strategy: str
    at: Float64Array
    mean: Float64Array
    half: Float64Array
    low: Float64Array
    high: Float64Array
    seeds: int


def mean_curves(
    frame: Any,
    metric: str | None = None,
    against: str = "cells",
    *,
    level: float = 0.95,
    points: int = 101,
) -> list[Curve]:
    """Average each strategy's curves over its seeds, at common points.

    Parameters
    ----------
    frame : what `simulate` returns
    metric : str, optional
        One of its columns; by default "auc" for classes and "r2" for a number.
    against : {"cells", "money", "round"}
    level : float
        Confidence level of the interval for the mean over seeds (Student's t). With one seed its width is 0.
    points : int
        How many points to evaluate the curves at; they are linear between rounds and end with the shortest
        run.

    Returns
    -------
    list of Curve
        In the order of the strategies in the frame.
    """
    metric = metric or usual_metric(frame)
    curves = []
    for name, by_seed in _runs(frame, metric, against).items():
        runs = list(by_seed.values())
        at = np.linspace(max(x[0] for x, _ in runs), min(x[-1] for x, _ in runs), points)
        values = np.array([np.interp(at, x, v) for x, v in runs])
        mean, half = values.mean(axis=0), half_width(values, level)
        low, high = (np.clip(end, *_range_of(metric)) for end in (mean - half, mean + half))
        curves.append(Curve(name, at, mean, half, low, high, len(runs)))
    return curves


def mean_gain(
    frame: Any, strategy: str, other: str, metric: str, *, level: float = 0.95, points: int = 101
) -> tuple[float, float, float]:
    """Return by how much one strategy's curve is above another's, seed by seed, with its interval.

    Of each seed, the gain is averaged over the money that both have spent. Seeds differ more than strategies
    do, so the interval (Student's t over the seeds) is far narrower than those of the two curves.

    Parameters
    ----------
    frame : what `simulate` returns
    strategy, other : str
    metric : str
    level : float
    points : int
        How many amounts of money to compare the curves at.

    Returns
    -------
    mean, low, high : float
    """
    runs = _runs(frame, metric, "money")
    gains = []
    for seed, (money, scores) in runs[strategy].items():
        spent, reached = runs[other][seed]
        at = np.linspace(0.0, min(money[-1], spent[-1]), points)
        gains.append([np.mean(np.interp(at, money, scores) - np.interp(at, spent, reached))])
    mean, half = float(np.mean(gains)), float(half_width(np.array(gains), level)[0])
    return mean, mean - half, mean + half


def usual_metric(frame: Any) -> str:
    """Return the metric that suits the target of a simulation: "r2" if it was a number, else "auc"."""
    return "r2" if "r2" in nw.from_native(frame, eager_only=True).columns else "auc"


def half_width(values: Float64Array, level: float) -> Float64Array:
    """Return the half-widths (m,) of Student's t intervals for the means of values (seeds, m)."""
    n = len(values)
    if n < 2:
        return np.zeros(values.shape[1])
    return student.ppf((1 + level) / 2, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)


def plot_curves(
    frame: Any,
    metric: str | None = None,
    *,
    against: Sequence[str] = ("cells", "money"),
    level: float = 0.95,
    full: float | None = None,
    axes: Any = None,
) -> Any:
    """Plot each strategy's mean over seeds, with a band, against cells bought and money spent.

    Parameters
    ----------
    frame : what `simulate` returns
    metric : str, optional
        By default "auc" for classes and "r2" for a number.
    against : names, default=("cells", "money")
        One plot each, side by side.
    level : float, default=0.95
        Confidence level of the band, an interval for the mean over seeds.
    full : float, optional
        The score of a model that knows every cell; drawn as a dashed line.
    axes : matplotlib axes, optional
        One for each name in `against`; by default a new figure.

    Returns
    -------
    matplotlib Figure
    """
    metric = metric or usual_metric(frame)
    if axes is None:
        pyplot = require("matplotlib.pyplot")
        _, axes = pyplot.subplots(
            1,
            len(against),
            figsize=(5.2 * len(against), 3.8),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    for axis, unit in zip(axes, against, strict=True):
        for place, curve in enumerate(mean_curves(frame, metric, unit, level=level)):
            colour, dashes = f"C{place % 10}", ("-", "--", ":")[place // 10 % 3]
            axis.plot(curve.at, curve.mean, dashes, color=colour, label=curve.strategy, linewidth=1.6)
            axis.fill_between(curve.at, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        if full is not None:
            axis.axhline(full, color="0.4", linestyle="--", linewidth=1, label="every cell known")
        axis.set_xlabel(LABELS.get(unit, unit))
        axis.grid(alpha=0.25)
    for axis in axes:  # once all is drawn: they may share their limits
        _keep_within(axis, *_range_of(metric))
    axes[0].set_ylabel(LABELS.get(metric, metric))
    axes[-1].legend(fontsize="small", frameon=False)
    return axes[0].figure


def _range_of(metric: str) -> tuple[float, float]:
    """Return the lowest and the highest value that a metric can take."""
    return RANGES.get(metric, (0.0, np.inf))


def _keep_within(axis: Any, least: float, most: float) -> None:
    """Cut off what an axis shows beyond the values that there can be."""
    ends = axis.get_ylim()
    margin = MARGIN * abs(ends[1] - ends[0])
    axis.set_ylim(np.clip(ends, least - margin, most + margin), auto=None)


def _runs(frame: Any, metric: str, against: str) -> dict[str, dict[int, tuple[Float64Array, Float64Array]]]:
    """Return by strategy and seed what was spent and reached, round by round: two (rounds,) arrays."""
    columns = _columns_of(frame, ("strategy", "seed", against, metric))
    found: dict[str, dict[int, tuple[Float64Array, Float64Array]]] = {}
    for name in dict.fromkeys(columns["strategy"].tolist()):
        of_strategy = columns["strategy"] == name
        found[name] = {}
        for seed in np.unique(columns["seed"][of_strategy]).tolist():
            run = of_strategy & (columns["seed"] == seed)
            found[name][seed] = (columns[against][run].astype(float), columns[metric][run].astype(float))
    return found


def _columns_of(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return columns of a frame from any supported library as NumPy arrays, by name."""
    table = nw.from_native(frame, eager_only=True)
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise ParameterError(
            f"the frame has no column {missing[0]!r}; it has {', '.join(table.columns)}. Pass the frame "
            "returned by simulate"
        )
    return {name: table[name].to_numpy() for name in names}
