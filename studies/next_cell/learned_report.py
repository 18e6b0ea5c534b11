"""The part of the page about the published learned policy, DIME."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from studies.money.kept_cases import Record, StartTask
from studies.next_cell.row_policies import HALVES, SHARES

NAMES = {"completed": "DIME, completed", "truth": "DIME, truth"}
TRIED = (
    "No package on the index has a published policy: `afabench`, `afa-bench`, `afa-benchmark`, `afa`, "
    "`active-feature-acquisition`, `dime-afa`, `dynamic-selection`, `gdfs`, `gsmrl`, `aaco`, `acflow` and "
    "`cwcf` do not exist; `eddi` (light shows), `dime` 0.1.3 (does not build), `pvae` (another autoencoder) "
    "and `invase` (explains predictions of complete rows) are something else. The authors' own code is not "
    "on an index. PyTorch is: so DIME (Gadgil, Covert and Lee, ICLR 2024) was written anew from its paper, "
    "with the settings of its published experiments, in `studies/next_cell/learned_policy.py`. **These are "
    "figures of our re-implementation, not of the authors' code.**"
)

Scores = Mapping[tuple[str, float], float]


def learned_section(found: Mapping[str, Scores], learned: Mapping[StartTask, list[Record]]) -> list[str]:
    """Return the lines of the section, given the scores of the other policies by table."""
    lines = ["## Beside a published learned policy", "", TRIED]
    if not learned:
        return [*lines, "", "Not run yet: `python -m studies.next_cell --learned`, with `torch` installed."]
    scores = _scores(learned)
    tables = [(half, table) for half, names in HALVES.items() for table in names if table in scores]
    lines += [
        "",
        "DIME learns from complete rows only. *Completed*: the training table with its holes filled, as "
        "*policy* has it. *Truth*: the table without the holes of the study, which *policy* never saw. All "
        "share the money among rows. Left: which cells are bought, all predicted by the same model. "
        "Right: DIME's own network, with all cells and with those that it bought. By "
        f"`python -m studies.next_cell --learned`, {len(learned)} runs.",
    ]
    for share in SHARES:
        lines += [
            "",
            f"At {share:.0%} of the money, AUC (R2 for a number):",
            "",
            "| table | all cells | policy | DIME, completed | DIME, truth | own network, completed: all "
            "cells | bought | own network, truth: all cells | bought "
            "| spent by *policy* | completed | truth |",
            "|---|" + "---|" * 11,
        ]
        for half, table in tables:
            ours, theirs = found[table], scores[table]
            shown = [ours["all cells", 1.0], ours["policy", share]]
            shown += [theirs[name, "score", share] for name in NAMES.values()]
            for name in NAMES.values():
                shown += [theirs[name, "own", 1.0], theirs[name, "own", share]]
            money = [ours["spent", share], *(theirs[name, "money", share] for name in NAMES.values())]
            cells = [*(f"{each:.3f}" for each in shown), *(f"{each:.0%}" for each in money)]
            lines.append(f"| {table} ({half}) | " + " | ".join(cells) + " |")
        lines += ["", _in_words(found, scores, share)]
    return lines


def _in_words(
    found: Mapping[str, Scores], scores: Mapping[str, Mapping[tuple[str, str, float], float]], share: float
) -> str:
    parts = []
    for name in NAMES.values():
        gaps = np.array([found[t]["policy", share] - of[name, "score", share] for t, of in scores.items()])
        error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
        parts.append(
            f"*policy* minus *{name}*: {gaps.mean():+.3f} on average (standard error over tables "
            f"{error:.3f}), ahead on {int((gaps > 0).sum())} of {len(gaps)}"
        )
    return "; ".join(parts) + "."


def _scores(
    learned: Mapping[StartTask, list[Record]],
) -> dict[str, dict[tuple[str, str, float], float]]:
    """Return the means over seeds, by table; keys are policy, what is measured, and the share of money."""
    values: dict[str, dict[tuple[str, str, float], list[float]]] = defaultdict(lambda: defaultdict(list))
    for task, records in learned.items():
        for record in records:
            for what in ("score", "own", "money"):
                values[task.table][record["policy"], what, record["share"]].append(record[what])
    return {table: {key: float(np.mean(of)) for key, of in by.items()} for table, by in values.items()}
