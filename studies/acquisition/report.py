"""The page of the study on buying cells: plots, tables, and where buying pays, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.optional_packages import require
from cellworth.simulation import mean_curves, plot_curves
from cellworth.simulation.simulator import frame_of
from studies.acquisition.experiments import ALL
from studies.acquisition.measures import GAUSSIAN, Measure, Record, measure, random_of
from studies.completion.report import markdown_table
from studies.paper.samples import Interval, interval

Tables = dict[str, list[Record]]
Measures = dict[str, Measure]

LOW_RANK = "`random`"
JOINT = "`random-gaussian`"
SHARES = (0.05, 0.1, 0.25, 0.5)
COSTS = ("afasmc", "afasmc-ratio", "afasmc-poss", "afasmc-knapsack")


@dataclass(frozen=True)
class Results:
    """The records of the study, by table; empty ones are left out of the page.

    Attributes
    ----------
    prices, windows : records
        The paper's Figures 2 and 3.
    fees : records by table
        Turney's tables, starting at 20 % observed.
    from_20, from_60 : records by table
        The paper's tables, starting at 20 and 60 % observed.
    """

    prices: list[Record]
    windows: list[Record]
    fees: Tables
    from_20: Tables
    from_60: Tables


def write_report(results: Results, folder: Path, command: str, repeats: int) -> None:
    """Write ``acquisition.md`` and its pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_opening(command, repeats)]
    if results.prices:
        parts.append(_prices([r for r in results.prices if r["strategy"] in COSTS], folder))
    if results.windows:
        own = [r for r in results.windows if r["strategy"].startswith(("last", "all"))]
        parts.append(_windows(own, folder))
    if results.fees:
        parts.append(_fees(results.fees, folder))
    for start, tables in ((0.2, results.from_20), (0.6, results.from_60)):
        if tables:
            parts.append(
                _cells({name: _in_order(records) for name, records in tables.items()}, start, folder)
            )
    (folder / "acquisition.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _in_order(records: list[Record]) -> list[Record]:
    """Return the records of the strategies compared everywhere, in the order of `ALL`."""
    return [r for name in ALL for r in records if r["strategy"] == name]


def _opening(command: str, repeats: int) -> str:
    from cellworth import __version__

    return (
        "# What buying cells brings\n\n"
        f"Made with cellworth {__version__} by\n\n    {command}\n\n"
        "Cells of 70 % of the rows are hidden at random; strategies buy them back round by round; a linear "
        "SVM trained on the filled rows is judged on the other rows, which are complete. "
        f"{repeats} seeds; all strategies of a seed start from the same holes. Bands and ± are 95 % "
        "intervals of the mean over seeds; in the plots, each split is first shifted so that its full "
        "information (the dashed line, the classifier that knows all cells) is that of the mean."
    )


def _prices(records: Sequence[Record], folder: Path) -> str:
    title = "HTRU2 from 60 %, each column 1 to 10 a cell"
    plot_one(records, "accuracy", "money", title, folder / "prices.png")
    rows = []
    for name, runs in _by_strategy(records).items():
        rows.append(
            [
                name,
                *(
                    _text(interval([_at_share(run, "money", "accuracy", s) for run in runs]), 100, 2)
                    for s in SHARES
                ),
                f"{np.mean([_cells_at(run, 0.25) for run in runs]):.0f}",
            ]
        )
    header = ["strategy", *(f"{s:.0%} of the money" for s in SHARES), "cells for 25 % of the money"]
    return (
        "## Prices from 1 to 10\n\nThe paper's Figure 2: accuracy (%) against money on HTRU2. Without regard "
        "to prices, variance per unit of money, the paper's bi-objective search (POSS), and the exact "
        "knapsack.\n\n"
        f"![Accuracy against money](prices.png)\n\n{markdown_table(header, rows)}\n\n{_best_of(records)}"
    )


def _windows(records: Sequence[Record], folder: Path) -> str:
    title = "HTRU2 from 60 %, variance over the last completions"
    plot_one(records, "accuracy", "cells", title, folder / "windows.png")
    rows = [
        [
            name,
            *(
                _text(interval([_at_share(run, "cells", "accuracy", s) for run in runs]), 100, 2)
                for s in SHARES
            ),
        ]
        for name, runs in _by_strategy(records).items()
    ]
    header = ["variance over", *(f"{s:.0%} of the cells" for s in SHARES)]
    return (
        "## How many completions the variance looks at\n\nThe paper's Figure 3: accuracy (%) on HTRU2.\n\n"
        f"![Accuracy against cells](windows.png)\n\n{markdown_table(header, rows)}\n\n{_best_of(records)}"
    )


def _fees(results: dict[str, list[Record]], folder: Path) -> str:
    measures = {name: measure(records, "money") for name, records in results.items()}
    plot_many(dict(results), "money", folder / "fees.png")
    plot_gains(measures, folder / "fees-gains.png")
    return (
        "## Real fees\n\nTurney's five medical tables from 20 % of the cells, at the fees of Ontario's "
        "health insurance in Canadian dollars: tests of one group (a blood draw) are cheaper after the "
        "first.\n\n"
        f"![AUC against dollars](fees.png)\n\n{_tables(measures, 'of the fees of all hidden cells')}\n\n"
        f"![Mean AUC above random](fees-gains.png)\n\n{_where_it_pays(measures)}"
    )


def _cells(results: dict[str, list[Record]], start: float, folder: Path) -> str:
    measures = {name: measure(records, "cells") for name, records in results.items()}
    stem = f"cells-{100 * start:.0f}"
    plot_many(dict(results), "cells", folder / f"{stem}.png")
    plot_gains(measures, folder / f"{stem}-gains.png")
    return (
        f"## The paper's six tables from {start:.0%} observed\n\nEvery cell costs the same.\n\n"
        f"![AUC against cells]({stem}.png)\n\n{_tables(measures, 'of the hidden cells')}\n\n"
        f"![Mean AUC above random]({stem}-gains.png)\n\n{_where_it_pays(measures)}"
    )


def _tables(measures: dict[str, Measures], of_what: str) -> str:
    """Return the amounts needed to reach the goal, and the heights of the curves."""
    names = list(next(iter(measures.values())))
    header = ["strategy", *measures]
    needed = [[n, *(_marked(m[n].needed, m[n].saved, 100, 0) for m in measures.values())] for n in names]
    heights = [[n, *(_marked(m[n].mean_auc, m[n].gain, 1, 4) for m in measures.values())] for n in names]
    return (
        f"Bought until 99 % of the full-information AUC is first reached, in % {of_what}. Bold: less than "
        "random, beyond the 95 % interval of the paired difference; *(worse)*: more. Strategies that "
        f"complete by low rank are compared with {LOW_RANK}, those on the joint Gaussian (from "
        f"`em-inference` on) with {JOINT}. `qbc` and `stability` fill by a committee, which has no random "
        "strategy of its own: their difference is the committee's as well.\n\n"
        f"{markdown_table(header, needed)}\n\nMean AUC over the whole way from nothing to everything bought. "
        "Bold: above random in the same sense; *(worse)*: below.\n\n"
        f"{markdown_table(header, heights)}"
    )


def _where_it_pays(measures: dict[str, Measures]) -> str:
    """Return sentences on which strategies beat random on which tables, and where none does."""
    pays: dict[str, list[str]] = {}
    hurts: dict[str, list[str]] = {}
    none = []
    for table, by_strategy in measures.items():
        winners = [n for n, m in by_strategy.items() if n != random_of(n) and m.gain.above_zero]
        for name in winners:
            pays.setdefault(name, []).append(table)
        for name, m in by_strategy.items():
            if name != random_of(name) and m.gain.below_zero:
                hurts.setdefault(name, []).append(table)
        if not winners:
            none.append(table)
    lines = ["In mean AUC over the whole way, beyond the interval:", ""]
    tried = [n for n in next(iter(measures.values())) if n != random_of(n)]
    for name in tried:
        better, worse = pays.get(name, []), hurts.get(name, [])
        lines.append(
            f"- `{name}` beats random on {len(better)} of {len(measures)}{_list(better)} and is beaten by it "
            f"on {len(worse)}{_list(worse)}."
        )
    if none:
        lines += ["", f"**Choosing does not pay on {', '.join(none)}**: no strategy beats random there."]
    return "\n".join(lines)


def _best_of(records: Sequence[Record]) -> str:
    """Return which strategy has the highest accuracy over the first half, and whether significantly so."""
    halves = {
        name: {
            run[0]["seed"]: float(np.mean([r["accuracy"] for r in run[: len(run) // 2 + 1]])) for run in runs
        }
        for name, runs in _by_strategy(records).items()
    }
    ranked = sorted(halves, key=lambda name: -float(np.mean(list(halves[name].values()))))
    best, second = ranked[0], ranked[1]
    ahead = interval([halves[best][s] - halves[second][s] for s in halves[best]])
    verdict = "beyond noise" if ahead.above_zero else "not beyond noise"
    order = ", ".join(f"{name} {100 * np.mean(list(halves[name].values())):.2f}" for name in ranked)
    return (
        f"Mean accuracy (%) over the first half of the rounds: {order}. The first is ahead of the second by "
        f"{_text(ahead, 100, 3)} points: {verdict}."
    )


def _by_strategy(records: Sequence[Record]) -> dict[str, list[list[Record]]]:
    """Return the runs of each strategy, each a list of records by round."""
    runs: dict[str, dict[int, list[Record]]] = {}
    for record in records:
        runs.setdefault(record["strategy"], {}).setdefault(record["seed"], []).append(record)
    return {name: list(by_seed.values()) for name, by_seed in runs.items()}


def _at_share(run: Sequence[Record], unit: str, metric: str, share: float) -> float:
    total = run[0]["hidden" if unit == "cells" else "total"]
    return float(np.interp(share * total, [r[unit] for r in run], [r[metric] for r in run]))


def _cells_at(run: Sequence[Record], share: float) -> float:
    return float(np.interp(share * run[0]["total"], [r["money"] for r in run], [r["cells"] for r in run]))


def _marked(value: Interval, better: Interval, unit: float, digits: int) -> str:
    text = _text(value, unit, digits)
    if better.above_zero:
        return f"**{text}**"
    return f"{text} *(worse)*" if better.below_zero else text


def _text(value: Interval, unit: float, digits: int) -> str:
    return f"{unit * value.mean:.{digits}f} ± {unit * value.half:.{digits}f}"


def _list(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


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
    """Draw AUC against cells or money: a column per table, low-rank strategies above, Gaussian ones below.

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
    """Return the score under full information, averaged over seeds."""
    by_seed = {r["seed"]: r[f"full_{metric}"] for r in records}
    return float(sum(by_seed.values()) / len(by_seed))


def _levelled(records: Sequence[Record], metric: str) -> list[Record]:
    """Shift the records so that every seed has the same score under full information.

    Some splits are easier than others for all strategies; without the shift, the bands would show little
    else.
    """
    full = _full(records, metric)
    return [r | {metric: r[metric] - r[f"full_{metric}"] + full} for r in records]


def _fit_height(axis: Any) -> None:
    """Fit the axis to the lines, with some margin; bands may be cut off."""
    heights = [y for line in axis.lines for y in line.get_ydata()]
    room = 0.08 * (max(heights) - min(heights))
    axis.set_ylim(min(heights) - room, max(heights) + room)


def plot_gains(measures: dict[str, dict[str, Measure]], path: Path) -> None:
    """Draw each strategy's gain over random with the same completer, with intervals: a panel per experiment.

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
