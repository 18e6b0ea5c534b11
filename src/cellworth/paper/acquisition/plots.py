"""The pictures of the study on buying cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellworth.optional import require
from cellworth.paper.acquisition.measures import GAUSSIAN, Measure, Record, random_of
from cellworth.simulation import mean_curves, plot_curves
from cellworth.simulation.runs import frame_of

RANDOM_STYLE = {"color": "0.35", "linestyle": ":", "linewidth": 2.0}


def plot_one(records: Sequence[Record], metric: str, against: str, title: str, path: Path) -> None:
    """Draw the curves of one experiment, with bands."""
    figure = _figure(7.2, 4.4)
    axis = figure.subplots()
    levelled = _levelled(records, metric)
    plot_curves(
        frame_of(levelled, "pandas"), metric, against=(against,), full=_full(records, metric), axes=axis
    )
    _fit_height(axis)
    axis.set_title(title, fontsize="medium")
    _save(figure, path)


def plot_many(results: dict[str, Sequence[Record]], unit: str, path: Path) -> None:
    """Draw AUC against cells or money: a column per table, the paper's family above, the Gaussian's below.

    Parameters
    ----------
    results : records by title
    unit : {"cells", "money"}
    """
    figure = _figure(3.3 * len(results), 6.6)
    axes = figure.subplots(2, len(results), squeeze=False, sharex="col")
    for column, (title, records) in enumerate(results.items()):
        _panel(axes[0, column], [r for r in records if r["strategy"] not in GAUSSIAN], unit)
        _panel(axes[1, column], [r for r in records if r["strategy"] in GAUSSIAN], unit)
        axes[0, column].set_title(title)
        axes[1, column].set_xlabel("share of the cells bought" if unit == "cells" else "dollars spent")
    for row, family in enumerate(("low rank", "joint Gaussian")):
        axes[row, 0].set_ylabel(f"AUC on test rows, {family}")
        handles, names = axes[row, -1].get_legend_handles_labels()
        axes[row, -1].legend(handles, names, fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    _save(figure, path)


def _panel(axis: Any, records: Sequence[Record], unit: str) -> None:
    for place, curve in enumerate(mean_curves(frame_of(_levelled(records, "auc"), "pandas"), "auc", unit)):
        at = curve.at / records[0]["hidden"] if unit == "cells" else curve.at
        is_random = curve.strategy == random_of(curve.strategy)
        style = RANDOM_STYLE if is_random else {"color": f"C{place}", "linewidth": 1.4}
        axis.plot(at, curve.mean, label=curve.strategy, **style)
        lower, upper = curve.mean - curve.half, curve.mean + curve.half
        axis.fill_between(at, lower, upper, color=style["color"], alpha=0.06, linewidth=0)
    axis.axhline(_full(records, "auc"), color="0.5", linestyle="--", linewidth=0.8)
    axis.grid(alpha=0.25)
    axis.locator_params(nbins=5)
    _fit_height(axis)


def _full(records: Sequence[Record], metric: str) -> float:
    """Return what full information reaches, the mean over seeds."""
    by_seed = {r["seed"]: r[f"full_{metric}"] for r in records}
    return float(sum(by_seed.values()) / len(by_seed))


def _levelled(records: Sequence[Record], metric: str) -> list[Record]:
    """Return records in which every seed has the same full information.

    Some splits are easier than others, for all strategies alike; without this the bands would show little
    else.
    """
    full = _full(records, metric)
    return [r | {metric: r[metric] - r[f"full_{metric}"] + full} for r in records]


def _fit_height(axis: Any) -> None:
    """Show the lines, with some room; bands may leave the picture."""
    heights = [y for line in axis.lines for y in line.get_ydata()]
    room = 0.08 * (max(heights) - min(heights))
    axis.set_ylim(min(heights) - room, max(heights) + room)


def plot_gains(measures: dict[str, dict[str, Measure]], path: Path) -> None:
    """Draw how far each strategy runs above random with the same completer, with intervals: a panel each.

    Parameters
    ----------
    measures : by title of the experiment and strategy
    """
    columns = 4
    rows = -(-len(measures) // columns)
    figure = _figure(3.6 * columns, 2.7 * rows)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.ravel()[len(measures) :]:
        axis.set_visible(False)
    for axis, (title, by_strategy) in zip(axes.ravel(), measures.items(), strict=False):
        names = [name for name in by_strategy if name != random_of(name)]
        for place, name in enumerate(names):
            gain = by_strategy[name].gain
            colour = "tab:green" if gain.above_zero else "tab:red" if gain.below_zero else "0.5"
            axis.errorbar(gain.mean, place, xerr=gain.half, fmt="o", color=colour, markersize=4)
        axis.axvline(0, color="0.3", linewidth=0.8)
        axis.set_yticks(range(len(names)), names, fontsize="x-small")
        axis.invert_yaxis()
        axis.tick_params(axis="x", labelsize="x-small")
        axis.locator_params(axis="x", nbins=5)
        axis.set_title(title, fontsize="small")
    figure.supxlabel("mean AUC over the whole curve, above random with the same completer", fontsize="small")
    _save(figure, path)


def _figure(width: float, height: float) -> Any:
    return require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
