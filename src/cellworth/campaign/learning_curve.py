"""The learning curve of a campaign: the scores of its table over time, on the same rows and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.threads import worker_threads
from cellworth.campaign.events import Corrected, Event, Extended, Told
from cellworth.campaign.state import CellStatus, State
from cellworth.complete import GaussianCompleter
from cellworth.model.cross_validation import Score, cross_validate, deal, mean_score, scorable
from cellworth.progress import Steps
from cellworth.table import Table, Target

MOST_ROWS = 20_000
"""The most rows to use; at this size the error of an area is a few thousandths."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A campaign after one of its events.

    Attributes
    ----------
    number : int
        The event's number; 0 before the first.
    round : int
        Rounds asked by then.
    spent : float
        Money spent by then.
    bought : int
        Cells told by then.
    table : Table
    """

    number: int
    round: int
    spent: float
    bought: int
    table: Table


@dataclass(frozen=True)
class LearningCurve:
    """How the score changed.

    Attributes
    ----------
    metric : {"AUC", "R2"}
    note : str
        How the scores were computed, or why there are none.
    snapshots : list of Snapshot
        The snapshots that have a score.
    scores : list of Score
        One per snapshot, all on the same rows.
    """

    metric: Literal["AUC", "R2"]
    note: str
    snapshots: list[Snapshot]
    scores: list[Score]


def snapshot(state: State) -> Snapshot:
    """Return a snapshot of the campaign after its last event."""
    bought = int((state.status == CellStatus.TOLD).sum())
    return Snapshot(state.number, len(state.rounds), state.money.spent, bought, state.table())


def take_snapshots(original: Table, events: Sequence[Event], most: int) -> list[Snapshot]:
    """Return snapshots of the start, the newest table, and points between; at most ``most`` (2 or more).

    There is one after each event that changed the table. If that is more than ``most``, they are thinned to
    be evenly spaced in money, or in number if nothing was spent. O(events), plus O(n p) per snapshot.
    """
    changes = [event for event in events if isinstance(event.content, Told | Corrected | Extended)]
    spent = np.cumsum([0.0, *map(_spent_by, changes)]).tolist()
    wanted = _thin([0, *(event.number for event in changes)], spent, most)
    state = State(original)
    found = [snapshot(state)]
    for event in events:
        state.apply(event)
        if event.number in wanted:
            found.append(snapshot(state))
    return found


def learning_curve(
    snapshots: Sequence[Snapshot],
    *,
    folds: int,
    repeats: int | None,
    seed: int,
    progress: Steps | None = None,
) -> LearningCurve:
    """Score each snapshot; the last one is the newest table.

    The scored rows are the labelled ones that were in the first snapshot; rows added later are only trained
    on. Snapshots with fewer than half of today's labelled rows are left out, so that few rows do not stand in
    for many. The newest table is completed first and does not depend on the others.
    """
    target = snapshots[-1].table.target
    if target is None:
        return LearningCurve("AUC", "the table has no target", [], [])
    classes = target.label_kind == "classes"
    metric: Literal["AUC", "R2"] = "AUC" if classes else "R2"
    rows = _rows(target.values, seed)
    y = target.values[rows]
    kept = [shot for shot in snapshots if 2 * (rows < shot.table.shape[0]).sum() >= len(rows)]
    scored = rows < kept[0].table.shape[0]
    of_classes = scorable(y[scored], classes=classes)
    if not of_classes:
        return LearningCurve(metric, _too_few(target), [], [])
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
    return LearningCurve(metric, note, kept, scores[::-1])


def _spent_by(event: Event) -> float:
    return sum(cell.price for cell in event.content.cells) if isinstance(event.content, Told) else 0.0


def _thin(numbers: list[int], spent: list[float], most: int) -> set[int]:
    if len(numbers) <= most:
        return set(numbers)
    place = np.array(spent) if spent[-1] > 0 else np.arange(len(numbers), dtype=float)
    chosen = np.searchsorted(place, np.linspace(0, place[-1], most)[:-1])
    return {numbers[k] for k in chosen} | {numbers[0], numbers[-1]}


def _rows(labels: Float64Array, seed: int) -> IntArray:
    """Return the labelled rows to use, in order."""
    rows = np.flatnonzero(~np.isnan(labels))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    return rows


def _repeats(n: int) -> int:
    """Return how often to repeat the split: with few rows, the luck of one split matters."""
    return max(1, min(10, 2000 // n))


def _deals(
    y: Float64Array, scored: BoolArray, folds: int, repeats: int, seed: int, *, classes: bool
) -> list[IntArray]:
    """Return the fold of each row, once per repeat; scored rows and other rows are spread separately."""
    rng = np.random.default_rng(seed)
    deals = []
    for _ in range(repeats):
        fold = np.empty(len(y), dtype=np.intp)
        for part in (scored, ~scored):
            fold[part] = deal(y[part], folds, rng, classes=classes)
        deals.append(fold)
    return deals


def _too_few(target: Target) -> str:
    if target.label_kind == "number":
        return f"too few rows have a label for {target.name!r}"
    return f"too few rows are labelled in each class of {target.name!r}"


def _note(target: Target, folds: int, repeats: int, n: int, of_classes: int) -> str:
    several = ""
    if target.kind == "several classes":
        several = f"mean of {of_classes} classes, each against the rest; "
    times = "" if repeats == 1 else f" dealt {repeats} times"
    return f"{several}cross-validated on {n} rows in {folds} folds{times}, holes filled without labels"
