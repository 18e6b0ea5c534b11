"""The page of the study: shares of the full-information gain by money per row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from studies.money.kept_cases import Record, StartTask
from studies.next_cell.row_policies import SHARES

POLICIES = ("policy", "mutual information", "importance", "random")
LEAST_GAIN = 0.05
"""Shares are averaged over tables where full information brings at least this much."""


def write_page(path: Path, wanted: Sequence[StartTask], kept: Mapping[StartTask, list[Record]]) -> None:
    """Write docs/results/next-cell.md from the finished runs."""
    tables = list(dict.fromkeys(task.table for task in wanted if task in kept))
    found = {
        table: _scores([kept[task] for task in wanted if task.table == table and task in kept])
        for table in tables
    }
    missing = [f"{task.table} (seed {task.seed})" for task in wanted if task not in kept]
    lines = [
        "# The next cell of a new row",
        "",
        "By `python -m studies.next_cell`; the protocol is in `studies/next_cell/PROTOCOL.md`. "
        f"{len(kept)} of {len(wanted)} runs." + (f" Not run yet: {', '.join(missing)}." if missing else ""),
        "",
        *_summary(found),
        "",
        "## By table",
        "",
        "AUC (R2 for a number) with nothing known, with all cells, and at 25 % of the money per row. *Noise* "
        "is the standard error of the difference between *policy* and *mutual information* on the test rows.",
        "",
        "| table | nothing | all cells | " + " | ".join(POLICIES) + " | noise | ms per row and step |",
        "|---|---|---|" + "---|" * (len(POLICIES) + 2),
    ]
    for table, scores in found.items():
        cells = [f"{scores[name, 0.25]:.3f}" for name in POLICIES]
        lines.append(
            f"| {table} | {scores['nothing', 0.0]:.3f} | {scores['all cells', 1.0]:.3f} | "
            + " | ".join(cells)
            + f" | {scores['noise', 0.25]:.3f} | {scores['milliseconds', 0.0]:.1f} |"
        )
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _summary(found: Mapping[str, Mapping[tuple[str, float], float]]) -> list[str]:
    worthwhile = [s for s in found.values() if s["all cells", 1.0] - s["nothing", 0.0] >= LEAST_GAIN]
    lines = [
        f"Mean share of the full-information gain over the {len(worthwhile)} tables where full information "
        f"brings at least {LEAST_GAIN}:",
        "",
        "| money per row | " + " | ".join(POLICIES) + " |",
        "|---|" + "---|" * len(POLICIES),
    ]
    for share in SHARES:
        means = [np.mean([_share(scores, name, share) for scores in worthwhile]) for name in POLICIES]
        lines.append(f"| {share:.0%} | " + " | ".join(f"{mean:.0%}" for mean in means) + " |")
    reached = sum(_share(scores, "policy", 0.25) >= 0.95 for scores in worthwhile)
    behind = [
        f"{table} at {share:.0%}"
        for table, scores in found.items()
        for share in SHARES
        if scores["policy", share] < scores["mutual information", share] - 2 * scores["noise", share]
    ]
    return [
        *lines,
        "",
        f"At a quarter of the money, *policy* has at least 95 % of the gain on {reached} of these "
        f"{len(worthwhile)} tables. Worse than the fixed order by mutual "
        f"information, by more than two standard errors: {', '.join(behind) or 'nowhere'}.",
    ]


def _share(scores: Mapping[tuple[str, float], float], name: str, share: float) -> float:
    start = scores["nothing", 0.0]
    return (scores[name, share] - start) / (scores["all cells", 1.0] - start)


def _scores(runs: Sequence[list[Record]]) -> dict[tuple[str, float], float]:
    """Return the mean score of each policy and share over seeds, and the noise of that of *policy*."""
    values: dict[tuple[str, float], list[float]] = defaultdict(list)
    for records in runs:
        for record in records:
            values[record["policy"], record["share"]].append(record["score"])
            if record["policy"] == "policy":
                values["noise", record["share"]].append(record["noise"] ** 2)
            if "milliseconds" in record:
                values["milliseconds", 0.0].append(record["milliseconds"])
    means = {key: float(np.mean(found)) for key, found in values.items()}
    return {k: float(np.sqrt(v / len(runs))) if k[0] == "noise" else v for k, v in means.items()}
