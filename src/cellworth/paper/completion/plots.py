"""The plots of the completion study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.errors import MissingDependencyError
from cellworth.paper.completion.results import Coverage
from cellworth.paper.completion.table1 import TABLE_1

# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#7F7F7F", "#0072B2", "#D55E00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingDependencyError(
            'plots need matplotlib; install it with: pip install "cellworth[plot]"'
        ) from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def plot_errors(errors: Mapping[tuple[str, float, str], tuple[float, float]], path: Path) -> None:
    """Draw mean errors with standard deviations: a panel per table, a group per share, a bar per method.

    ``errors`` gives (mean, standard deviation) by (data set, share, method).
    """
    plt = _pyplot()
    datasets, shares, methods = (list(dict.fromkeys(key[i] for key in errors)) for i in range(3))
    columns = min(3, len(datasets))
    rows = -(-len(datasets) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4.2 * columns, 3.1 * rows + 0.8), squeeze=False, layout="constrained"
    )
    for panel in axes.flat[len(datasets) :]:
        panel.set_visible(False)
    for dataset, panel in zip(datasets, axes.flat, strict=False):
        _draw_panel(panel, dataset, shares, methods, errors)
    for panel in axes[:, 0]:
        panel.set_ylabel("reconstruction error")
    handles, names = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(8, len(names)), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_panel(
    panel: Any,
    dataset: Any,
    shares: Sequence[Any],
    methods: Sequence[Any],
    errors: Mapping[tuple[str, float, str], tuple[float, float]],
) -> None:
    width = 0.8 / len(methods)
    highest = max(sum(errors[dataset, share, m]) for share in shares for m in methods)
    places, papers = [], []
    for j, method in enumerate(methods):
        x = np.arange(len(shares)) + (j - (len(methods) - 1) / 2) * width
        mean, sd = np.array([errors[dataset, share, method] for share in shares]).T
        panel.bar(
            x,
            mean,
            width,
            yerr=sd,
            color=COLOURS[j % len(COLOURS)],
            edgecolor="white",
            linewidth=0.5,
            error_kw={"elinewidth": 0.9, "capsize": 1.5},
            label=method,
        )
        for place, share in zip(x, shares, strict=True):
            if (dataset, share, method) in TABLE_1:
                places.append(place)
                papers.append(TABLE_1[dataset, share, method].error)
    _draw_paper(panel, np.array(places), np.array(papers), 1.4 * highest)
    panel.set_title(dataset)
    panel.set_xticks(np.arange(len(shares)), [f"{share:.0%} observed" for share in shares])
    panel.set_ylim(0, 1.4 * highest)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_paper(panel: Any, places: Any, papers: Any, top: float) -> None:
    """Mark the paper's figures; those beyond the panel by an arrow at its top with their value."""
    within = papers < top
    panel.plot(
        places[within],
        papers[within],
        linestyle="none",
        marker="_",
        markersize=9,
        markeredgewidth=2,
        color="black",
        label="the paper's figure",
    )
    for place, value in zip(places[~within], papers[~within], strict=True):
        panel.annotate(
            f"{value:.2f}",
            (place, top),
            (place, 0.9 * top),
            ha="center",
            va="top",
            fontsize=7,
            rotation=90,
            arrowprops={"arrowstyle": "->", "linewidth": 0.8},
        )


def plot_calibration(coverages: Sequence[Coverage], path: Path) -> None:
    """Draw the share of hidden cells that intervals cover against their level: a panel per share."""
    plt = _pyplot()
    shares = sorted({c.share for c in coverages})
    datasets = list(dict.fromkeys(c.dataset for c in coverages))
    levels = np.array(sorted({c.level for c in coverages}))
    figure, axes = plt.subplots(
        1, len(shares), figsize=(4.4 * len(shares), 5.3), squeeze=False, sharey=True, layout="constrained"
    )
    for share, panel in zip(shares, axes.flat, strict=True):
        panel.plot([45, 100], [45, 100], color="black", linewidth=1, linestyle="--", label="exact")
        for j, dataset in enumerate(datasets):
            covered = [
                [c.covered for c in coverages if (c.dataset, c.share, c.level) == (dataset, share, level)]
                for level in levels
            ]
            panel.plot(
                100 * levels,
                [100 * float(np.mean(values)) for values in covered],
                color=COLOURS[j % len(COLOURS)],
                marker=MARKERS[j % len(MARKERS)],
                markersize=5,
                linewidth=1.3,
                label=dataset,
            )
        panel.set_title(f"{share:.0%} observed")
        panel.set_xlabel("level of the intervals (%)")
        panel.set(xlim=(45, 100), ylim=(45, 100), aspect="equal")
        panel.grid(alpha=0.3)
    axes[0, 0].set_ylabel("hidden cells within them (%)")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
