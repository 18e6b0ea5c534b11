"""Write the page of the study: what labels and cells bring at several prices, and where it does not pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from studies.labels.runs import CELLS, JOINT, LABELLED, LABELS, MOST_ROWS, OBSERVED, RATIOS, TABLES

TOLERANCE = 0.01
Record = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """`recommended` against the better pure strategy, on one table at one price.

    ``difference`` is the mean over seeds and ``error`` its standard error, NaN with one seed.
    """

    table: str
    ratio: float
    better: str
    difference: float
    error: float

    @property
    def is_worse(self) -> bool:
        """Whether it is worse by more than `TOLERANCE` and, if it can be told, by two standard errors."""
        clearly = np.isnan(self.error) or self.difference < -2 * self.error
        return bool(self.difference < -TOLERANCE and clearly)


def compare(records: Sequence[Record], table: str, ratio: float) -> Comparison:
    """Compare in pairs of the same seed."""
    scores = {
        name: np.array([each["score"] for each in _of(records, table, ratio, name)])
        for name in (JOINT, CELLS, LABELS)
    }
    better = max((CELLS, LABELS), key=lambda name: float(scores[name].mean()))
    each = scores[JOINT] - scores[better]
    error = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")
    return Comparison(table, ratio, better, float(each.mean()), error)


def _of(records: Sequence[Record], table: str, ratio: float, name: str) -> list[Record]:
    found = [
        each
        for each in records
        if each["table"] == table and each["ratio"] == ratio and each["strategy"] == name
    ]
    return sorted(found, key=lambda each: each["seed"])


def interval(differences: Float64Array, seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """Return a 90 % interval for the mean by bootstrap over tables."""
    rng = np.random.default_rng(seed)
    means = rng.choice(differences, size=(draws, len(differences))).mean(axis=1)
    low, high = np.quantile(means, [0.05, 0.95])
    return float(low), float(high)


def write_page(records: Sequence[Record], page: Path) -> None:
    """Write the page."""
    names = list(dict.fromkeys(each["strategy"] for each in records))
    seeds = sorted({each["seed"] for each in records})
    found = {
        half: [
            compare(records, table, ratio)
            for ratio in RATIOS
            for table in tables
            if _of(records, table, ratio, JOINT)
        ]
        for half, tables in TABLES.items()
    }
    lines = [*_head(len(seeds), names), *_differences(found), *_worse(found), *_scores(records, names)]
    page.write_text("\n".join([*lines, *_bought(records)]) + "\n", encoding="utf-8")


def _head(seeds: int, names: Sequence[str]) -> list[str]:
    one = seeds == 1
    return [
        "# Labels beside cells",
        "",
        "What is the next euro better spent on, a label or a cell? [The explanation]"
        "(../explanation/labels-and-cells.md) derives one currency",
        "for both; this page measures what it brings. Made by",
        f"`python -m studies.labels --runs runs/labels --seeds {seeds} --strategies {' '.join(names)}`,",
        "by the protocol in `studies/labels/PROTOCOL.md`, which was written first.",
        "",
        f"Ten tables of at most {MOST_ROWS} training rows, {OBSERVED:.0%} of the cells and {LABELLED:.0%}",
        "of the labels known. A cell costs 1, a label 0.1 to 100. Each strategy gets the same money, up to",
        "80 % of what all labels or all cells cost, whichever is less, in four purchases.",
        f"{'**One seed**' if one else f'**{seeds} seeds**'} (the protocol says ten)"
        + ("; the noise of a single case is then unknown, only that over tables." if one else "."),
        "Scores are AUC (R2 for airfoil) on complete test rows, the mean after the four purchases. Cases",
        "that are not in the tables below have not been run yet: the command, with the same folder, goes on.",
        "",
    ]


def _differences(found: dict[str, list[Comparison]]) -> list[str]:
    lines = [
        "## The joint strategy against the better pure one",
        "",
        "`recommended` minus the better of `cells-only` and `labels-only` on each table (known only",
        "afterwards), mean over the tables of a half that were run, with a 90 % interval by bootstrap over",
        "tables. The strategy was changed three times after a look at the tuning half: its figures there are",
        "selected. `labels-only` ranks labels as `recommended` does since that half was looked at again:",
        "where labels alone pay, as at 0.1, the two are the same. The protocol has its former order, too.",
        "",
        "| a label costs | tuning half | report half | the better pure one |",
        "|---|---|---|---|",
    ]
    for ratio in RATIOS:
        cells = []
        for comparisons in found.values():
            each = np.array([one.difference for one in comparisons if one.ratio == ratio])
            if not len(each):
                cells.append("not run")
                continue
            low, high = interval(each)
            cells.append(f"{each.mean():+.3f} ({low:+.3f} to {high:+.3f}; {len(each)} tables)")
        better = [one.better for part in found.values() for one in part if one.ratio == ratio]
        counts = f"cells {better.count(CELLS)}, labels {better.count(LABELS)} times"
        lines.append(f"| {ratio:g} | {' | '.join(cells)} | {counts} |")
    return [*lines, ""]


def _worse(found: dict[str, list[Comparison]]) -> list[str]:
    every = [(half, one) for half, part in found.items() for one in part]
    worse = [(half, one) for half, one in every if one.is_worse]
    lines = ["## Where it does not pay", ""]
    if not worse:
        return [
            *lines,
            f"In none of the {len(every)} cases is it worse by more than {TOLERANCE}, beyond noise.",
            "",
        ]
    lines += [
        f"In {len(worse)} of the {len(every)} cases `recommended` is worse than the better pure strategy",
        f"by more than {TOLERANCE}"
        + (", beyond two standard errors" if not np.isnan(worse[0][1].error) else "")
        + ":",
        "",
        "| half | table | a label costs | better | difference | standard error |",
        "|---|---|---|---|---|---|",
    ]
    for half, one in worse:
        error = "unknown" if np.isnan(one.error) else f"{one.error:.3f}"
        lines.append(
            f"| {half} | {one.table} | {one.ratio:g} | {one.better} | {one.difference:+.3f} | {error} |"
        )
    return [*lines, ""]


def _scores(records: Sequence[Record], names: Sequence[str]) -> list[str]:
    lines = [
        "## All strategies",
        "",
        "The mean score over the seeds; `start` is before any purchase.",
        "",
        f"| table | a label costs | start | {' | '.join(names)} |",
        "|" + "---|" * (3 + len(names)),
    ]
    for tables in TABLES.values():
        for table in tables:
            for ratio in RATIOS:
                runs = {name: _of(records, table, ratio, name) for name in names}
                if not runs[JOINT]:
                    continue
                means = [np.mean([each["score"] for each in runs[name]]) for name in names]
                start = np.mean([each["start"] for each in runs[names[0]]])
                best = max(means)
                shown = [f"**{mean:.3f}**" if mean == best else f"{mean:.3f}" for mean in means]
                lines.append(f"| {table} | {ratio:g} | {start:.3f} | {' | '.join(shown)} |")
    return [*lines, ""]


def _bought(records: Sequence[Record]) -> list[str]:
    lines = [
        "## What the joint strategy bought",
        "",
        "Labels as a share of the money of `recommended`, mean over tables and seeds:",
        "",
        "| a label costs | share of the money for labels |",
        "|---|---|",
    ]
    for ratio in RATIOS:
        some = [each for each in records if each["strategy"] == JOINT and each["ratio"] == ratio]
        share = np.mean([each["labels"] * ratio / max(each["money"], 1e-9) for each in some])
        lines.append(f"| {ratio:g} | {share:.0%} |")
    return lines
