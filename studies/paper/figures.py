"""Figures 1, 2 and 3 of the paper, redrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cellworth.optional_packages import require
from cellworth.report.figures import save
from cellworth.simulation.plot import half_width
from studies.completion.report import COLOURS
from studies.paper.experiments import Row
from studies.paper.samples import Curve, common_end, curves_of
from studies.published import OURS, dataset_label, label

POINTS = 101
LEAST_SEEDS = 5  # for a band: with fewer seeds, intervals are wide enough to hide the curves
AXES = {"cells": "missing cells bought (%)", "money": "money spent (% of the price of all missing cells)"}

# One colour per method in all figures. The paper's methods are solid, ours dashed.
_COLOUR = {
    "afasmc": "#D55E00",
    "all completions": "#D55E00",
    "qbc": "#0072B2",
    "afasmc-ratio": "#0072B2",
    "stability": "#009E73",
    "afasmc-poss": "#009E73",
    "em-inference": "#CC79A7",
    "qbc, published": "#0072B2",
    "stability, published": "#009E73",
    "em-inference, published": "#CC79A7",
    "random": "#7F7F7F",
    "last 2": COLOURS[1],
    "last 4": "#0072B2",
    "last 8": "#009E73",
    "last 16": "#CC79A7",
    "afasmc-poss-from-ratio": "#009E73",
    "afasmc-knapsack": "#000000",
    "linear-impact": "#000000",
    "random-gaussian": "#7F7F7F",
    "posterior-impact": COLOURS[0],
    "posterior": COLOURS[1],
    "afasmc-window4": "#D55E00",
}
_DASHES = {
    "qbc, published": (0, (1, 1)),
    "stability, published": (0, (1, 1)),
    "em-inference, published": (0, (1, 1)),
    "afasmc-poss-from-ratio": (0, (2, 1.5)),
    "afasmc-knapsack": (0, (1, 1.2)),
    "linear-impact": (0, (5, 1.5)),
    "random-gaussian": (0, (2, 1.5)),
    "posterior-impact": (0, (5, 1.5, 1, 1.5)),
    "posterior": (0, (5, 1.5, 1, 1.5)),
    "afasmc-window4": (0, (2, 1.5)),
}


def draw_curves(rows: Sequence[Row], unit: Literal["cells", "money"], paths: Sequence[Path]) -> None:
    """Draw mean accuracy against the share bought: a panel per data set, a line per method.

    Bands, with five or more seeds, are 95 % intervals of the mean. First, the curves of each seed are shifted
    together so that their common mean equals that of all seeds: some splits are easier than others for all
    methods, which says nothing about the methods.
    """
    curves = curves_of(rows, "accuracy", unit)
    datasets = list(dict.fromkeys(key[0] for key in curves))
    across = min(3, len(datasets))
    down = -(-len(datasets) // across)
    size = (7.6, 5.4) if len(datasets) == 1 else (4.1 * across, 3.1 * down + 0.9)
    figure = require("matplotlib.figure").Figure(figsize=size, layout="constrained")
    panels = figure.subplots(down, across, squeeze=False)
    for panel in panels.flat[len(datasets) :]:
        panel.set_visible(False)
    for dataset, panel in zip(datasets, panels.flat, strict=False):
        of_dataset = {method: by_seed for (name, method), by_seed in curves.items() if name == dataset}
        _draw_panel(panel, of_dataset)
        panel.set_title(dataset_label(dataset), fontsize="medium")
    for panel in panels[-1]:
        panel.set_xlabel(AXES[unit])
    for panel in panels[:, 0]:
        panel.set_ylabel("accuracy on test rows (%)")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(across + 1, 4), frameon=False)
    save(figure, paths)


def _draw_panel(panel: Any, curves: Mapping[str, Mapping[int, Curve]]) -> None:
    end = common_end(*curves.values())
    level = np.mean([[curve.mean(end) for curve in by_seed.values()] for by_seed in curves.values()], axis=0)
    for method, by_seed in curves.items():
        at = np.linspace(0, common_end(by_seed), POINTS)
        heights = np.array([np.interp(at, *curve) for curve in by_seed.values()])
        levelled = 100 * (heights - (level - level.mean())[:, np.newaxis])
        mean, seeds, colour = levelled.mean(axis=0), len(levelled), _COLOUR[method]
        panel.plot(
            100 * at,
            mean,
            color=colour,
            linestyle=_DASHES.get(method, "-"),
            linewidth=1.5 if method in OURS else 1.9,
            label=label(method),
        )
        if seeds >= LEAST_SEEDS:
            half = half_width(levelled, 0.95)
            panel.fill_between(100 * at, mean - half, mean + half, color=colour, alpha=0.08, linewidth=0)
    lines = np.concatenate([line.get_ydata() for line in panel.lines])
    room = max(0.1 * np.ptp(lines), 0.02)
    panel.margins(x=0)
    panel.set(ylim=(lines.min() - room, lines.max() + room))
    panel.ticklabel_format(axis="y", useOffset=False)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
