"""The scores of a campaign at moments of its past, on the same rows and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.threads import worker_threads
from cellworth.campaign.moments import Snapshot
from cellworth.campaign.validation import Score, cross_validate, deal, mean_score, scorable
from cellworth.complete import GaussianCompleter
from cellworth.progress import Steps
from cellworth.table import Target

Array = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_ROWS = 20_000
"""Rows that take part; an area from so many has an error of some thousandths."""


@dataclass(frozen=True)
class Course:
    """How a score went.

    Attributes
    ----------
    metric : {"AUC", "R2"}
    note : str
        How the scores came about, or why there are none.
    shots : list of Snapshot
        Those that have a score.
    scores : list of Score
        One each, of the same rows.
    """

    metric: Literal["AUC", "R2"]
    note: str
    shots: list[Snapshot]
    scores: list[Score]


def course_of(
    shots: Sequence[Snapshot],
    *,
    folds: int,
    repeats: int | None,
    seed: int,
    progress: Steps | None = None,
) -> Course:
    """Score each snapshot; the last one is the newest table.

    Rows are scored that are labelled and were there at the first snapshot; rows that were added later train.
    Snapshots with less than half of the labelled rows of now are left out, so that few rows do not speak for
    many. The newest table is completed first and does not depend on the others.
    """
    target = shots[-1].table.target
    if target is None:
        return Course("AUC", "the table has no target", [], [])
    classes = target.kind != "number"
    metric: Literal["AUC", "R2"] = "AUC" if classes else "R2"
    rows = _rows(target.values, seed)
    y = target.values[rows]
    kept = [shot for shot in shots if 2 * (rows < shot.table.shape[0]).sum() >= len(rows)]
    scored = rows < kept[0].table.shape[0]
    of_classes = scorable(y[scored], classes=classes)
    if not of_classes:
        return Course(metric, _too_few(target), [], [])
    deals = _deals(y, scored, folds, repeats or _repeats(len(rows)), seed, classes=classes)
    scores = []
    completer = GaussianCompleter(label_trust=0.0, calibrate=False, warm_start=True)
    with worker_threads(1):
        for done, shot in enumerate(reversed(kept)):
            if progress is not None:
                progress(done, len(kept))
            there = rows < shot.table.shape[0]
            filled = completer.fit(shot.table.encode().X).completed_
            X, labels, tested = filled[rows[there]].astype(np.float64, copy=False), y[there], scored[there]
            each = [cross_validate(X, labels, fold[there], tested, classes=classes) for fold in deals]
            scores.append(mean_score(each))
    if progress is not None:
        progress(len(kept), len(kept))
    note = _note(target, folds, len(deals), int(scored.sum()), len(of_classes))
    return Course(metric, note, kept, scores[::-1])


def _rows(labels: Array, seed: int) -> Places:
    """Return the labelled rows that take part, in order."""
    rows = np.flatnonzero(~np.isnan(labels))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    return rows


def _repeats(n: int) -> int:
    """Return how often to deal: few rows make the luck of one deal count."""
    return max(1, min(10, 2000 // n))


def _deals(
    y: Array, scored: NDArray[np.bool_], folds: int, repeats: int, seed: int, *, classes: bool
) -> list[Places]:
    """Return the fold of each row, once per repeat; scored rows and others are spread each by themselves."""
    rng = np.random.default_rng(seed)
    deals = []
    for _ in range(repeats):
        fold = np.empty(len(y), dtype=np.intp)
        for part in (scored, ~scored):
            fold[part] = deal(y[part], folds, rng, classes=classes)
        deals.append(fold)
    return deals


def _too_few(target: Target) -> str:
    if target.kind == "number":
        return f"too few rows have a label of {target.name!r}"
    return f"too few rows of each class of {target.name!r} are labelled"


def _note(target: Target, folds: int, repeats: int, n: int, of_classes: int) -> str:
    several = ""
    if target.kind == "several classes":
        several = f"mean of {of_classes} classes, each against the rest; "
    times = "" if repeats == 1 else f" dealt {repeats} times"
    return f"{several}cross-validated on {n} rows in {folds} folds{times}, holes filled without labels"
