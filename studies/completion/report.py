"""The page of the completion study: tables, plots, and which claims hold, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cellworth.errors import MissingDependencyError
from studies.completion.study import Coverage, Outcome
from studies.published import TABLE_1, WITHOUT_NOISE

CLOSE = 0.015  # tolerance on the paper's error, which has two digits
GOALS = {"abalone": 0.09, "letter": 0.155, "image": 0.20, "chess": 0.40}  # errors at 60 % observed


class Summary(NamedTuple):
    """Mean and standard deviation over seeds."""

    error: float
    error_sd: float
    accuracy: float
    accuracy_sd: float
    seconds: float


Summaries = dict[tuple[str, float, str], Summary]


def write_report(
    outcomes: Sequence[Outcome], coverages: Sequence[Coverage], folder: Path, command: str
) -> None:
    """Write ``completion.md``, ``completion.png`` and ``coverage.png``."""
    summaries = summarise(outcomes)
    (folder / "completion.md").write_text(page(summaries, coverages, command), encoding="utf-8")
    errors = {key: (s.error, s.error_sd) for key, s in summaries.items()}
    plot_errors(errors, folder / "completion.png")
    plot_calibration(coverages, folder / "coverage.png")


def summarise(outcomes: Iterable[Outcome]) -> Summaries:
    """Return the summaries by (data set, share, method), in order of appearance."""
    groups: dict[tuple[str, float, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.dataset, outcome.share, outcome.method), []).append(outcome)
    return {key: _summary(group) for key, group in groups.items()}


def _summary(group: list[Outcome]) -> Summary:
    errors, accuracies = [o.error for o in group], [o.accuracy for o in group]
    seconds = float(np.mean([o.seconds for o in group]))
    return Summary(float(np.mean(errors)), _sd(errors), float(np.mean(accuracies)), _sd(accuracies), seconds)


def _sd(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def page(summaries: Summaries, coverages: Sequence[Coverage], command: str) -> str:
    """Return the page as Markdown."""
    from cellworth import __version__

    repeats = len({c.seed for c in coverages})
    parts = [
        "# How well tables are completed",
        f"Made with cellworth {__version__} by\n\n    {command}\n",
        "The paper's six tables, scaled to [0, 1]; HillValley in both its versions, for the paper does not "
        "say which it took (plain: with noise). 70 % of the rows train; means over "
        f"{repeats} random splits and sets of holes, ± their standard deviation. The paper's own figures "
        "(its Table 1) stand in brackets; its AFASMC is `SupervisedCompleter` here. All methods run as they "
        "come. Every figure per seed is in `completion.csv`.",
        "## What holds, and what does not",
        *claims(summaries, coverages),
        "## Reconstruction error",
        "Norm of the difference over the norm of the complete training table; observed cells are kept. The "
        "least of each row is bold.",
        _table(summaries, _error_cell, best=min, field=lambda s: s.error),
        "![Errors by method and table](completion.png)",
        "## Accuracy of a linear SVM on complete test rows, in %",
        "Trained on the completed training rows. The largest of each row is bold.",
        _table(summaries, _accuracy_cell, best=max, field=lambda s: s.accuracy),
        "## Coverage of the Gaussian's intervals",
        "Share of the hidden cells within the intervals of each level, mean over seeds, in %.",
        _coverage_table(coverages),
        "![Covered share against nominal level](coverage.png)",
        "## Seconds per fit",
        "On one thread each, on a machine that was busy with other work: a rough guide only.",
        _table(summaries, lambda key, s: f"{s.seconds:.2f}"),
    ]
    return "\n\n".join(parts) + "\n"


def claims(summaries: Summaries, coverages: Sequence[Coverage]) -> list[str]:
    """Return a paragraph per claim: what was expected, and where it holds."""
    return [
        _supervised_as_in_the_paper(summaries),
        _gaussian_reaches_its_goals(summaries),
        _auto_is_never_much_worse(summaries),
        _intervals_cover(coverages),
    ]


def _verdict(claim: str, holds: list[str], fails: list[str], skipped: str = "") -> str:
    total = len(holds) + len(fails)
    text = f"**{claim}** Holds in {len(holds)} of {total}{skipped}."
    if fails:
        return f"{text} Not in: {'; '.join(fails)}."
    return text


def _supervised_as_in_the_paper(summaries: Summaries) -> str:
    """State the claim for HillValley with noise and, if it was studied, for the version without."""
    claim = f"The paper's method errs as the paper says, within {CLOSE}."
    verdict = _verdict(claim, *_near_the_paper(summaries, leave_out=WITHOUT_NOISE))
    if not any(dataset == WITHOUT_NOISE for dataset, _, _ in summaries):
        return verdict
    holds, fails = _near_the_paper(summaries, leave_out="HillValley")
    where = f" (not in: {'; '.join(fails)})" if fails else ""
    return (
        f"{verdict} With HillValley without noise in its place: in {len(holds)} of "
        f"{len(holds) + len(fails)}{where}."
    )


def _near_the_paper(summaries: Summaries, leave_out: str) -> tuple[list[str], list[str]]:
    holds: list[str] = []
    fails: list[str] = []
    for (dataset, share, method), s in summaries.items():
        if method == "Supervised" and dataset != leave_out:
            figure = TABLE_1[dataset, share, method]
            entry = f"{dataset} at {share:.0%}: {s.error:.3f} against {figure.error:.2f}"
            (holds if abs(s.error - figure.error) <= CLOSE else fails).append(entry)
    return holds, fails


def _gaussian_reaches_its_goals(summaries: Summaries) -> str:
    goals = ", ".join(f"{name} {goal:g}" for name, goal in GOALS.items())
    holds: list[str] = []
    fails: list[str] = []
    for name, goal in GOALS.items():
        if (name, 0.6, "Gaussian") in summaries:
            error = summaries[name, 0.6, "Gaussian"].error
            (holds if error <= goal else fails).append(f"{name}: {error:.3f}")
    claim = f"The Gaussian errs at most as much as its goals at 60 % observed ({goals})."
    reached = f" ({'; '.join(holds)})" if holds else ""
    return _verdict(claim, holds, fails, reached)


def _auto_is_never_much_worse(summaries: Summaries) -> str:
    holds: list[str] = []
    fails: list[str] = []
    for dataset, share in dict.fromkeys(key[:2] for key in summaries):
        cells = {k[2]: s for k, s in summaries.items() if k[:2] == (dataset, share)}
        auto = cells.pop("Auto")
        name, best = min(cells.items(), key=lambda item: item[1].error)
        excess = auto.error - best.error
        entry = f"{dataset} at {share:.0%}: {excess:.4f} above {name}, whose sd is {best.error_sd:.4f}"
        (holds if excess <= best.error_sd else fails).append(entry)
    claim = "AutoCompleter is never worse than the best single method by more than that one's sd over seeds."
    return _verdict(claim, holds, fails)


def _intervals_cover(coverages: Sequence[Coverage]) -> str:
    covered: dict[str, list[float]] = {}
    for c in coverages:
        if c.level == 0.9 and c.share == 0.6:
            covered.setdefault(c.dataset, []).append(c.covered)
    entries = "; ".join(f"{name} {np.mean(v):.1%} ± {_sd(v):.1%}" for name, v in covered.items())
    return f"**The Gaussian's 90 % intervals at 60 % observed cover:** {entries}."


def _error_cell(key: tuple[str, float, str], s: Summary) -> str:
    paper = f" [{TABLE_1[key].error:.2f}]" if key in TABLE_1 else ""
    return f"{s.error:.3f} ± {s.error_sd:.3f}{paper}"


def _accuracy_cell(key: tuple[str, float, str], s: Summary) -> str:
    paper = f" [{100 * TABLE_1[key].accuracy:.1f}]" if key in TABLE_1 else ""
    return f"{100 * s.accuracy:.1f} ± {100 * s.accuracy_sd:.1f}{paper}"


def _table(
    summaries: Summaries,
    cell: Callable[[tuple[str, float, str], Summary], str],
    best: Callable[[Iterable[float]], float] | None = None,
    field: Callable[[Summary], float] = lambda s: s.error,
) -> str:
    """Return a row per data set and share and a column per method; the ``best`` of a row is bold."""
    methods = list(dict.fromkeys(key[2] for key in summaries))
    rows = []
    for dataset, share in dict.fromkeys(key[:2] for key in summaries):
        keys = [(dataset, share, method) for method in methods]
        target = None if best is None else best(round(field(summaries[k]), 3) for k in keys)
        texts = [cell(k, summaries[k]) for k in keys]
        bold = [
            f"**{t}**" if round(field(summaries[k]), 3) == target else t
            for k, t in zip(keys, texts, strict=True)
        ]
        rows.append([dataset, f"{share:.0%}", *bold])
    return markdown_table(["table", "observed", *methods], rows)


def _coverage_table(coverages: Sequence[Coverage]) -> str:
    levels = sorted({c.level for c in coverages})
    groups: dict[tuple[str, float], dict[float, list[float]]] = {}
    for c in coverages:
        groups.setdefault((c.dataset, c.share), {}).setdefault(c.level, []).append(c.covered)
    rows = [
        [name, f"{share:.0%}", *(f"{100 * np.mean(by_level[v]):.1f}" for v in levels)]
        for (name, share), by_level in groups.items()
    ]
    return markdown_table(["table", "observed", *(f"{v:.0%}" for v in levels)], rows)


# Okabe and Ito's palette, safe for colour-blind readers.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#7F7F7F", "#0072B2", "#D55E00")
PUBLISHED = ", published"  # ends the name of a method by its published recipe
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

    A method by its published recipe has the colour of the method, hatched, and the paper's figure, too.
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
    plain = [method for method in methods if not method.endswith(PUBLISHED)]
    for j, method in enumerate(methods):
        name = method.removesuffix(PUBLISHED)
        x = np.arange(len(shares)) + (j - (len(methods) - 1) / 2) * width
        mean, sd = np.array([errors[dataset, share, method] for share in shares]).T
        panel.bar(
            x,
            mean,
            width,
            yerr=sd,
            color=COLOURS[plain.index(name) % len(COLOURS)],
            hatch="////" if name != method else None,
            edgecolor="white",
            linewidth=0.5,
            error_kw={"elinewidth": 0.9, "capsize": 1.5},
            label=method,
        )
        for place, share in zip(x, shares, strict=True):
            if (dataset, share, name) in TABLE_1:
                places.append(place)
                papers.append(TABLE_1[dataset, share, name].error)
    _draw_paper(panel, np.array(places), np.array(papers), 1.4 * highest)
    panel.set_title(dataset)
    panel.set_xticks(np.arange(len(shares)), [f"{share:.0%} observed" for share in shares])
    panel.set_ylim(0, 1.4 * highest)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_paper(panel: Any, places: Any, papers: Any, top: float) -> None:
    """Mark the paper's figures; those above the panel with an arrow at its top and their value."""
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
    """Draw the coverage of the intervals against their level: a panel per share."""
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


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with the first column left-aligned and the others right-aligned."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])
