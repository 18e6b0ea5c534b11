"""The learning curve of a campaign: scores of its tables so far, on the same rows and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.threads import worker_threads
from cellworth.campaign.cross_validation import Score, cross_validate, deal, mean_score, scorable
from cellworth.campaign.events import Corrected, Event, Extended, Told
from cellworth.campaign.state import CellStatus, State
from cellworth.complete import GaussianCompleter
from cellworth.progress import Steps
from cellworth.table import Table, Target

MOST_ROWS = 20_000
"""Most rows that take part; an area from that many has an error of some thousandths."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A campaign after one of its events.

    Attributes
    ----------
    number : int
        Of the event; 0 before the first.
    round : int
        Rounds asked by then.
    spent : float
        Money.
    bought : int
        Cells that were told.
    table : Table
    """

    number: int
    round: int
    spent: float
    bought: int
    table: Table


@dataclass(frozen=True)
class LearningCurve:
    """How the score went.

    Attributes
    ----------
    metric : {"AUC", "R2"}
    note : str
        How the scores came about, or why there are none.
    snapshots : list of Snapshot
        Those that have a score.
    scores : list of Score
        One each, of the same rows.
    """

    metric: Literal["AUC", "R2"]
    note: str
    snapshots: list[Snapshot]
    scores: list[Score]


def snapshot(state: State) -> Snapshot:
    """Return a campaign as it is after its last event."""
    bought = int((state.status == CellStatus.TOLD).sum())
    return Snapshot(state.number, len(state.rounds), state.money.spent, bought, state.table())


def take_snapshots(original: Table, events: Sequence[Event], most: int) -> list[Snapshot]:
    """Return the beginning, the newest table, and others between, at most ``most`` (2 or more) in all.

    One after each event that changed the table; of more than ``most``, some that are evenly spaced in money,
    or in number where nothing was spent. O(events), and O(n p) a snapshot.
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

    Rows are scored that are labelled and were there at the first snapshot; rows that were added later train.
    Snapshots with less than half of the labelled rows of now are left out, so that few rows do not speak for
    many. The newest table is completed first and does not depend on the others.
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
    """Return the labelled rows that take part, in order."""
    rows = np.flatnonzero(~np.isnan(labels))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    return rows


def _repeats(n: int) -> int:
    """Return how often to deal: few rows make the luck of one deal count."""
    return max(1, min(10, 2000 // n))


def _deals(
    y: Float64Array, scored: BoolArray, folds: int, repeats: int, seed: int, *, classes: bool
) -> list[IntArray]:
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
    if target.label_kind == "number":
        return f"too few rows have a label of {target.name!r}"
    return f"too few rows of each class of {target.name!r} are labelled"


def _note(target: Target, folds: int, repeats: int, n: int, of_classes: int) -> str:
    several = ""
    if target.kind == "several classes":
        several = f"mean of {of_classes} classes, each against the rest; "
    times = "" if repeats == 1 else f" dealt {repeats} times"
    return f"{several}cross-validated on {n} rows in {folds} folds{times}, holes filled without labels"
