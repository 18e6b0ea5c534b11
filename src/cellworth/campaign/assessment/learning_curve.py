"""The learning curve of a campaign: the scores of its table over time, on the same rows and folds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.cell_events import Told
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import Log
from cellworth.campaign.state import State
from cellworth.model.cross_validation import Score, deal, mean_score, rows_to_score, scorable
from cellworth.progress import Steps, portion
from cellworth.table import Table, Target
from cellworth.table.target import Metric, metric_of

MOST_ROUNDS = 12
"""Points of a learning curve, and of the past that a forecast looks at, by default."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A campaign after one of its events.

    Attributes
    ----------
    number : int
        Of the last event that changed the table; 0 before the first.
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

    metric: Metric
    note: str
    snapshots: list[Snapshot]
    scores: list[Score]


def snapshot(state: State) -> Snapshot:
    """Return a snapshot of the campaign after its last event."""
    bought = int((state.status == CellStatus.TOLD).sum())
    return Snapshot(state.table_number, len(state.rounds), state.money.spent, bought, state.table())


def take_snapshots(
    original: Table,
    events: Sequence[Event],
    most: int,
    purchases_by: Mapping[int, tuple[float, int]] | None = None,
) -> list[Snapshot]:
    """Return snapshots of the start, the newest table, and points between; at most ``most`` (2 or more).

    There is one after each event that changed the table. If that is more than ``most``, they are thinned to
    be evenly spaced in money, or in number if nothing was spent: the first after each multiple of a power of
    two. So points of a later curve are points of the curves before, or their ends, and need not be scored
    again. O(events), plus O(n p) per snapshot. If the events tell of a sample of rows,
    ``purchases_by`` has the money and the cells of all rows, by the numbers of the events.
    """
    changes = [event for event in events if event.content.changes_table]
    costs = [
        spent_by_event(each) if purchases_by is None else purchases_by[each.number][0] for each in changes
    ]
    spent = np.cumsum([0.0, *costs]).tolist()
    wanted = _thin([0, *(event.number for event in changes)], spent, most)
    state = State(original)
    found = [snapshot(state)]
    for event in events:
        state.apply(event)
        if event.number in wanted:
            found.append(snapshot(state))
    if purchases_by is not None:
        numbers = [0, *(event.number for event in changes)]
        told = np.cumsum([0, *(purchases_by[each.number][1] for each in changes)]).tolist()
        of = dict(zip(numbers, zip(spent, told, strict=True), strict=True))
        found = [replace(shot, spent=of[shot.number][0], bought=of[shot.number][1]) for shot in found]
    return found


def snapshots_of(log: Log, most: int = MOST_ROUNDS) -> list[Snapshot]:
    """Return snapshots of a campaign's past, the last of its newest table; see `take_snapshots`."""
    return take_snapshots(log.original, list(log.events()), max(2, most), log.purchases_by())


def learning_curve(
    snapshots: Sequence[Snapshot],
    model: str,
    *,
    folds: int,
    repeats: int | None,
    seed: int,
    cache: AssessmentCache,
    progress: Steps | None = None,
) -> LearningCurve:
    """Score the candidate of this name at each snapshot; the last one is the newest table.

    The scored rows are the labelled ones that were in the first snapshot; rows added later are only trained
    on. Snapshots with fewer than half of today's labelled rows are left out, so that few rows do not stand in
    for many, and so are those with too few labels to train on. A row is trained on if its label was known. No
    score depends on the other snapshots.

    Notes
    -----
    Each snapshot that is not in the cache costs a completion, and ``folds * repeats`` fits of the candidate;
    at most 2,000 labelled rows are used, and as many others.
    """
    target = snapshots[-1].table.target
    if target is None:
        return LearningCurve("AUC", "the table has no target", [], [])
    classes = not target.is_number
    metric = metric_of(is_number=target.is_number)
    rows = rows_to_score(target.values, seed)
    y = target.values[rows]
    labelled = ~np.isnan(y)
    size = int(labelled.sum())
    kept = [
        shot
        for shot in snapshots
        if 2 * (rows[labelled] < shot.table.shape[0]).sum() >= size and _can_train(shot.table, classes)
    ]
    scored = labelled & (rows < kept[0].table.shape[0]) if kept else labelled
    of_classes = scorable(y[scored], classes=classes) if kept else []
    if not of_classes:
        return LearningCurve(metric, _too_few(target), [], [])
    deals = _deals(y, scored, labelled, folds, repeats or _repeats(size), seed, classes=classes)
    known = cache.points(_key(model, rows, y, scored, deals))
    for done, shot in enumerate(reversed(kept)):
        if progress is not None:
            progress(done, len(kept))
        if shot.number not in known:
            with portion(done / len(kept), (done + 1) / len(kept)):
                known[shot.number] = _score(shot.table, model, rows, y, scored, deals, seed)
    if progress is not None:
        progress(len(kept), len(kept))
    scores = [known[shot.number] for shot in kept]
    note = _note(target, model, folds, len(deals), int(scored.sum()), len(of_classes))
    return LearningCurve(metric, note, kept, scores)


def _score(
    table: Table,
    model: str,
    rows: IntArray,
    y: Float64Array,
    scored: BoolArray,
    deals: list[IntArray],
    seed: int,
) -> Score:
    """Return the score of a table in which some of the rows may not be yet."""
    from cellworth.blocks.thread_engine import worker_threads
    from cellworth.complete import GaussianCompleter
    from cellworth.model.candidates import candidate_named
    from cellworth.model.feature_views import ViewedRows
    from cellworth.model.fitted_model import cross_validate

    assert table.target is not None
    there = rows < table.shape[0]
    known = ~np.isnan(table.target.values[rows[there]])  # labels may have been bought since
    X = table.encode(prior=True).X[rows[there]]
    X = X[:, ~np.isnan(X).all(axis=0)]  # a rare column may have no value in these rows
    with worker_threads(1):
        completer = GaussianCompleter(label_trust=0.0, calibrate=False).fit(X)
        filled = ViewedRows.trained_on(completer, X, seed)
        is_number = table.target.is_number
        candidate = candidate_named(model, is_number=is_number)
        return mean_score(
            [
                cross_validate(
                    *(candidate, filled, y[there], fold[there], scored[there]),
                    is_number=is_number,
                    trained_on=known,
                )
                for fold in deals
            ]
        )


def _can_train(table: Table, classes: bool) -> bool:
    """Return whether enough labels were known then; more may have been bought since."""
    assert table.target is not None
    return bool(scorable(table.target.values[~np.isnan(table.target.values)], classes=classes))


def _key(model: str, rows: IntArray, y: Float64Array, scored: BoolArray, deals: list[IntArray]) -> str:
    """Return what tells scores apart that are of the same event."""
    digest = hashlib.sha256(model.encode())
    for array in (rows, y, scored, *deals):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def spent_by_event(event: Event) -> float:
    """Return what the answers of an event cost."""
    return sum(cell.price for cell in event.content.cells) if isinstance(event.content, Told) else 0.0


def _thin(numbers: list[int], spent: list[float], most: int) -> set[int]:
    if len(numbers) <= most:
        return set(numbers)
    ends = {numbers[0], numbers[-1]}
    if most < 3:
        return ends
    place = np.array(spent) if spent[-1] > 0 else np.arange(len(numbers), dtype=float)
    width = 2.0 ** math.ceil(math.log2(place[-1] / (most - 2)))
    chosen = np.searchsorted(place, np.arange(width, place[-1], width))
    return {numbers[k] for k in chosen} | ends


def _repeats(n: int) -> int:
    """Return how often to repeat the split: with few rows, the luck of one split matters."""
    return max(1, min(2, 200 // n))


def _deals(
    y: Float64Array,
    scored: BoolArray,
    labelled: BoolArray,
    folds: int,
    repeats: int,
    seed: int,
    *,
    classes: bool,
) -> list[IntArray]:
    """Return the fold of each row, once per repeat, -1 without a label; scored rows are spread separately."""
    rng = np.random.default_rng(seed)
    deals = []
    for _ in range(repeats):
        fold = np.full(len(y), -1, dtype=np.intp)
        for part in (scored, labelled & ~scored):
            fold[part] = deal(y[part], folds, rng, classes=classes)
        deals.append(fold)
    return deals


def _too_few(target: Target) -> str:
    if target.is_number:
        return f"too few rows have a label for {target.name!r}"
    return f"too few rows are labelled in each class of {target.name!r}"


def _note(target: Target, model: str, folds: int, repeats: int, n: int, of_classes: int) -> str:
    several = ""
    if target.kind == "several classes":
        several = f"mean of {of_classes} classes, each against the rest; "
    times = "" if repeats == 1 else f" dealt {repeats} times"
    how = f"cross-validated on {n} rows in {folds} folds{times}, holes filled without labels"
    return f"{several}{model}, {how}"
