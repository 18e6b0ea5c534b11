"""The part of the page on what cells to buy: ratios of money, table by table, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellworth.optional_packages import require
from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, PricesKind, half_of
from studies.money.kept_cases import CaseFolder, Start, what_was_run
from studies.money.money_ratios import GRID, LEAST_WAY, MARKS, PurchaseCase, cases_of, geometric_mean
from studies.money.purchases import FULL, PAPER, RANDOM, Run, play

KINDS: dict[PricesKind, str] = {
    "same": "Every cell costs 1",
    "unequal": "Unequal prices by column; Turney's tables with their fees",
    "visits": "Every cell costs 1, every row touched in a batch 5 more",
}
AIMS = {"same": 0.5, "unequal": 0.35, "visits": 0.5}
"""Of the mean ratio at the shown mark."""
STRATEGIES = ("recommended",)
COLOURS = {"recommended": "#0b6e4f", RANDOM.name: "#8c8c8c", PAPER: "#b3413a"}
LABELS = {
    RANDOM.name: "random cells, same model",
    "recommended": "cellworth",
    PAPER: "the paper, with its linear SVM",
}
SHOWN_MARK = 0.8
FEW_SEEDS = 3
"""With fewer, ratios of single tables have no interval."""

INTRODUCTION = f"""## What cells to buy

The money that first reaches a share of the way from the start to full information, as a ratio to what random
cells need for the same, with the same completer and the same model: 0.5 means half of the money. Geometric
means over the tables with at least {LEAST_WAY} to gain, with 90% intervals over tables and seeds. Aims: at
most {AIMS["same"]} at the {SHOWN_MARK:.0%} mark, {AIMS["unequal"]} with unequal prices, and on no table
worse than random cells beyond its interval. How much a buyer could save who sees the test rows, and takes the
best of eight batches each time, `python -m studies.money.peeking_bound` shows."""


def purchases_part(starts: Sequence[Start], kind: PricesKind, folder: CaseFolder, pictures: Path) -> str:
    """Return the section on one kind of prices, and write its picture into a folder."""
    runs = [
        Run(table, observed, kind, strategy, seed)
        for table, observed, seed in starts
        for strategy in (FULL, RANDOM.name, *STRATEGIES)
    ]
    records = play(runs, folder)
    found = {(record["table"], record["observed"], record["seed"]) for record in records}
    cases = cases_of(records)
    parts = [f"### {KINDS[kind]}", what_was_run(starts, found)]
    if cases:
        picture = f"money-{kind}.png"
        draw_curves(cases, STRATEGIES, pictures / picture)
        parts += [
            ratios_table(cases, STRATEGIES),
            _verdict(cases, AIMS[kind]),
            _by_table(cases, STRATEGIES),
            f"![Score by money, table by table]({picture})",
        ]
    return "\n\n".join(parts)


def _verdict(cases: Sequence[PurchaseCase], aim: float) -> str:
    """Return whether `recommended` meets the aim on the halves."""
    parts = []
    for half, names in HALVES.items():
        mean = geometric_mean([case for case in cases if case.table in names], STRATEGIES[0], SHOWN_MARK)
        if mean is not None:
            met = "met" if mean.value <= aim else "missed"
            parts.append(f"{met} on the {half} half ({mean.value:.2f}, {mean.low:.2f} to {mean.high:.2f})")
    words = " and ".join(parts) or "not judged: no table has enough to gain"
    return f"Aim: at most {aim} of the money of random cells for {SHOWN_MARK:.0%} of the way. It is {words}."


def draw_first_picture(
    start: tuple[str, float], seeds: Sequence[int], folder: CaseFolder, file: Path
) -> bool:
    """Draw money against AUC: ours, random cells, and the paper; return whether there are runs to draw."""
    runs = [
        Run(*start, "same", strategy, seed)
        for seed in seeds
        for strategy in (FULL, RANDOM.name, STRATEGIES[0], PAPER)
    ]
    cases = cases_of(play(runs, folder))
    for case in cases:
        draw_one(case, (STRATEGIES[0], RANDOM.name, PAPER), file)
    return bool(cases)


def ratios_table(cases: Sequence[PurchaseCase], strategies: Sequence[str]) -> str:
    """Return the mean ratios of strategies by half and share known."""
    rows = []
    for half, names in HALVES.items():
        for observed in sorted({case.observed for case in cases}):
            chosen = [case for case in cases if case.table in names and case.observed == observed]
            for strategy in strategies:
                means = [geometric_mean(chosen, strategy, mark) for mark in MARKS]
                if None in means:
                    continue
                texts = [f"{m.value:.2f} ({m.low:.2f} to {m.high:.2f})" for m in means if m is not None]
                rows.append(
                    [strategy, half, f"{observed:.0%}", str(means[0].tables if means[0] else 0), *texts]
                )
    header = ["strategy", "half", "known at the start", "tables", *(f"to {mark:.0%}" for mark in MARKS)]
    return markdown_table(header, rows)


def _by_table(cases: Sequence[PurchaseCase], strategies: Sequence[str]) -> str:
    rows = []
    for case in cases:
        texts = [_ratio(case, strategy) for strategy in strategies]
        rows.append(
            [
                case.table,
                half_of(case.table),
                f"{case.observed:.0%}",
                f"{case.start:.3f}",
                f"{case.full:.3f}",
                *texts,
            ]
        )
    header = ["table", "half", "known", "start", "full information", *strategies]
    note = (
        f"Money to {SHOWN_MARK:.0%} of the way, as a ratio to random cells, with its 90 % interval over "
        f"seeds if there are {FEW_SEEDS} or more; bold where it is worse than random beyond that. A dash "
        "where there is less than 0.02 to gain."
    )
    return "\n\n".join(
        [note, markdown_table(header, rows), *(_does_not_pay(cases, name) for name in strategies)]
    )


def _does_not_pay(cases: Sequence[PurchaseCase], strategy: str) -> str:
    """Return a sentence that names the tables on which random cells were the better buy."""
    worse = [
        f"{case.table} ({case.observed:.0%} known: {case.ratio(strategy, SHOWN_MARK):.2f})"
        for case in cases
        if case.counts and strategy in case.curves and case.ratio(strategy, SHOWN_MARK) > 1
    ]
    counted = sum(case.counts and strategy in case.curves for case in cases)
    named = ", ".join(worse) if worse else "none"
    return f"Where `{strategy}` needed more money than random cells: {len(worse)} of {counted}: {named}."


def _ratio(case: PurchaseCase, strategy: str) -> str:
    if not case.counts or strategy not in case.curves:
        return "-"
    ratio = f"{case.ratio(strategy, SHOWN_MARK):.2f}"
    if len(case.curves[strategy]) < FEW_SEEDS:
        return ratio
    low, high = case.interval(strategy, SHOWN_MARK)
    text = f"{ratio} ({low:.2f} to {high:.2f})"
    return f"**{text}**" if low > 1 else text


def draw_curves(cases: Sequence[PurchaseCase], strategies: Sequence[str], file: Path) -> None:
    """Draw the score by money, one small picture for each case."""
    require("matplotlib")
    import matplotlib.pyplot as plt

    columns = 5
    height = -(-len(cases) // columns)
    figure, axes = plt.subplots(
        height, columns, figsize=(14, 2.4 * height), squeeze=False, layout="constrained"
    )
    for axis, case in zip(axes.flat, cases, strict=False):
        _draw_case(axis, case, (RANDOM.name, *strategies))
        axis.set_title(f"{case.table}, {case.observed:.0%} known", fontsize=8)
        axis.tick_params(labelsize=7)
    for axis in axes.flat[len(cases) :]:
        axis.axis("off")
    axes.flat[0].legend(fontsize=6, frameon=False, loc="lower right")
    figure.supxlabel("money, as a share of what all missing cells cost", fontsize=9)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw_one(case: PurchaseCase, strategies: Sequence[str], file: Path) -> None:
    """Draw one case large enough to be looked at: ours, random cells and the paper."""
    require("matplotlib")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    _draw_case(axis, case, strategies)
    axis.axhline(case.full, color="black", linewidth=0.8, linestyle=":")
    place = {"xytext": (0, -6), "textcoords": "offset points"}
    axis.annotate("all cells known", (0.99, case.full), ha="right", va="top", fontsize=8, **place)
    axis.set_xlabel("money spent, as a share of what all missing cells cost")
    axis.set_ylabel("AUC on complete rows")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="lower right")
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _draw_case(axis: Any, case: PurchaseCase, strategies: Sequence[str]) -> None:
    for strategy in strategies:
        if strategy in case.curves:
            mean = case.curves[strategy].mean(axis=0)
            label = LABELS.get(strategy, strategy)
            last = slice(None) if strategy != PAPER else slice(int(0.8 * len(GRID)))
            axis.plot(GRID[last], mean[last], color=COLOURS.get(strategy), label=label, linewidth=1.6)
    axis.grid(alpha=0.25, linewidth=0.5)
