"""The page of the study: shares of the full-information gain by money per row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from studies.money.kept_cases import Record, StartTask
from studies.next_cell.learned_report import learned_section
from studies.next_cell.row_policies import HALVES, SHARES
from studies.next_cell.whole_table import MOST_COLUMNS

POLICIES = ("policy", "policy, row by row", "mutual information", "importance", "random", "hindsight")
WHOLE_TABLE = "whole table"
FIXED = ("mutual information", "importance")
LEAST_GAIN = 0.05
"""Shares are averaged over tables where full information brings at least this much."""


def write_page(
    path: Path,
    wanted: Sequence[StartTask],
    kept: Mapping[StartTask, list[Record]],
    learned: Mapping[StartTask, list[Record]] | None = None,
) -> None:
    """Write docs/results/next-cell.md from the finished runs, and those of the learned policy."""
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
        f"{len(kept)} of {len(wanted)} runs, {len({task.seed for task in kept})} of the protocol's two seeds."
        + (f" Not run yet: {', '.join(missing)}." if missing else ""),
        "",
        *_summary(found),
        "",
        "*policy* shares the money among rows; *policy, row by row* has a limit for each row, as fixed "
        "orders have. *hindsight* is a fixed order that was chosen with the labels of the test rows: not a "
        "policy, but about the best that a fixed order could do. Where it stays below 95 %, the cells that "
        "tell most cost more than the limit.",
        "",
        *_reachable(found),
        *learned_section(found, learned or {}),
    ]
    for share in SHARES:
        lines += ["", *_by_table(found, share)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _reachable(found: Mapping[str, Mapping[tuple[str, float], float]]) -> list[str]:
    """Return in words what planning to the end reaches on the tables where it was tried."""
    lines = []
    for share in SHARES:
        tried = {table: scores for table, scores in found.items() if (WHOLE_TABLE, share) in scores}
        if tried:
            shown = (
                f"{table} {_share(scores, WHOLE_TABLE, share):.0%} "
                f"(*policy* {_share(scores, 'policy', share):.0%})"
                for table, scores in tried.items()
            )
            lines += [f"At {share:.0%} of the money: {', '.join(shown)}.", ""]
    if not lines:
        return []
    return [
        f"What could be reached was looked for on tables of at most {MOST_COLUMNS} columns. *{WHOLE_TABLE}* "
        "plans to the end instead of step by step, and knows how cells depend on each other in all rows of "
        "the table, the test rows included, where *policy* has training rows with half of their cells; both "
        "predict by the same model. It aims at the squared error, so that *policy* may pass it by chance. "
        "Shares of the full-information gain:",
        "",
        *lines,
    ]


def _by_table(found: Mapping[str, Mapping[tuple[str, float], float]], share: float) -> list[str]:
    lines = [
        f"## By table, at {share:.0%} of the money",
        "",
        "AUC (R2 for a number). *Spent*: by *policy*, as a share of what all cells cost. *Noise*: the "
        "standard error of the difference between *policy* and the better fixed order on the test rows. "
        "Milliseconds are processor time of *policy* per row and step.",
        "",
        "| table | nothing | all cells | "
        + " | ".join([*POLICIES, WHOLE_TABLE])
        + " | spent | noise | milliseconds |",
        "|---|---|---|" + "---|" * (len(POLICIES) + 4),
    ]
    for half, tables in HALVES.items():
        for table in [name for name in tables if name in found]:
            scores = found[table]
            cells = [f"{scores[name, share]:.3f}" for name in POLICIES]
            cells.append(f"{scores[WHOLE_TABLE, share]:.3f}" if (WHOLE_TABLE, share) in scores else "")
            lines.append(
                f"| {table} ({half}) | {scores['nothing', 0.0]:.3f} | {scores['all cells', 1.0]:.3f} | "
                + " | ".join(cells)
                + f" | {scores['spent', share]:.0%} | {scores['noise', share]:.3f} | "
                f"{scores['milliseconds', share]:.1f} |"
            )
    return lines


def _summary(found: Mapping[str, Mapping[tuple[str, float], float]]) -> list[str]:
    """Return the mean shares of both halves, and where the policy is behind."""
    lines = [
        "Mean share of the full-information gain, over tables where full information brings at least "
        f"{LEAST_GAIN}:",
        "",
        "| money | half | tables | " + " | ".join(POLICIES) + " | spent by *policy* |",
        "|---|---|---|" + "---|" * (len(POLICIES) + 1),
    ]
    worthwhile = {
        table: scores
        for table, scores in found.items()
        if scores["all cells", 1.0] - scores["nothing", 0.0] >= LEAST_GAIN
    }
    for share in SHARES:
        for half, tables in HALVES.items():
            some = [worthwhile[table] for table in tables if table in worthwhile]
            if not some:
                continue
            means = [np.mean([_share(scores, name, share) for scores in some]) for name in POLICIES]
            spent = np.mean([scores["spent", share] for scores in some])
            lines.append(
                f"| {share:.0%} | {half} | {len(some)} | "
                + " | ".join(f"{mean:.0%}" for mean in means)
                + f" | {spent:.0%} |"
            )
    reached = [name for name, scores in worthwhile.items() if _share(scores, "policy", 0.25) >= 0.95]
    could = [name for name, scores in worthwhile.items() if _share(scores, "hindsight", 0.25) >= 0.95]
    behind = [
        f"{table} at {share:.0%}"
        for table, scores in found.items()
        for share in SHARES
        if scores["policy", share] < _best_fixed(scores, share) - 2 * scores["noise", share]
    ]
    return [
        *lines,
        "",
        f"At a quarter of the money, *policy* has at least 95 % of the gain on {len(reached)} of these "
        f"{len(worthwhile)} tables ({', '.join(reached) or 'none'}); the fixed order of *hindsight* on "
        f"{len(could)}. Worse than the better fixed order by more than two standard errors: "
        f"{', '.join(behind) or 'nowhere'}.",
    ]


def _best_fixed(scores: Mapping[tuple[str, float], float], share: float) -> float:
    return max(scores[name, share] for name in FIXED)


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
                values["spent", record["share"]].append(record["money"])
                values["milliseconds", record["share"]].append(record["milliseconds"])
    means = {key: float(np.mean(found)) for key, found in values.items()}
    return {k: float(np.sqrt(v / len(runs))) if k[0] == "noise" else v for k, v in means.items()}
