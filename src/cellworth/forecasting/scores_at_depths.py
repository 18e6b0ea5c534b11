"""Scores of a model at several depths: known cells are hidden again, and the model is trained on the rest.

Each depth has two scores. One is on complete rows: the held-out rows are drawn complete once, by a completer
fitted to all known cells of the other rows, and all depths are scored on the same draws, rows and folds. So
depths differ by what the model was trained on and by little else. The other is on held-out rows whose cells
are hidden, too. It is measured, not estimated, and meets the first where all cells are known.

Where cells were bought, the table as it was before is one more depth: the purchases are undone, the model is
trained on what was known then, and scored on the rows as they are known now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete import GaussianCompleter
from cellworth.complete.gaussian.fit_gaussian import MarginKind
from cellworth.errors import DataError
from cellworth.forecasting.curve_by_share import LEAST_LEFT, level_error
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import Score, score_predictions, widened
from cellworth.model.held_out_folds import HeldOutFold, make_folds
from cellworth.model.score_on_complete_rows import complete_rows_score, row_counts, unknown_share
from cellworth.progress import Steps, portion, report

DEPTHS = (0.33, 0.45, 0.6, 0.8)
"""Shares of the known cells to keep, besides all."""
MASKS = 1
"""Times to hide cells anew."""
LARGEST_OFF = 6.0
"""Chance alone exceeds it once in 500 million tables."""
LEAST_PER_COLUMN = 10
"""Columns with at most this many known cells keep them all."""

EarlierRows = tuple[Float64Array, Float64Array]
"""Rows (n, d) and their labels (n,) as they were."""


@dataclass(frozen=True, eq=False)
class DepthScores:
    """Scores of one model trained on fewer and fewer of the known cells.

    Attributes
    ----------
    shares : (k,) array
        Share of all cells that the model was trained on; the last is what is known now.
    complete_rows, thinned : tuple of k Score
        On complete rows, estimated, and on held-out rows of which the same share is known; all on the same
        rows.
    unknown : float
        The share of the variance of predictions that is not known of the rows that the scores on complete
        rows come from, as a ratio to that of all rows: 1 if rows are alike, 0 if complete ones are enough.
    earlier : tuple of Score
        Of the model trained on the table as it was, on the same complete rows; oldest first.
    """

    shares: Float64Array
    complete_rows: tuple[Score, ...]
    thinned: tuple[Score, ...]
    unknown: float = 1.0
    earlier: tuple[Score, ...] = ()


def scores_at_depths(
    X: Float64Array,
    y: Float64Array,
    owner: IntArray,
    candidate: Candidate,
    *,
    is_number: bool,
    completer: Any = None,
    depths: Sequence[float] = DEPTHS,
    earlier: Sequence[EarlierRows] = (),
    masks: int = MASKS,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Steps | None = None,
) -> DepthScores:
    """Score a candidate at several depths.

    Parameters
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array
        Class numbers from 0, or numbers; NaN where missing.
    owner : (d,) array of int
        The cell column of each column of X, which are hidden together.
    candidate : Candidate
    is_number : bool
    completer : estimator, optional
        By default ``GaussianCompleter(label_trust=0.0)``.
    depths : sequence of float
        Shares of the known cells to keep, increasing, below 1; all are used besides.
    earlier : sequence of (X, y)
        The same rows as they were before purchases, oldest first; NaN in what was not known then.
    masks : int
        Times to hide cells anew. Those of one mask are nested.
    folds, seed : int
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with the number of depths done and the total.

    Returns
    -------
    DepthScores
        Of ``masks * len(depths) + 1`` depths.

    Raises
    ------
    DataError
        If no cell is known in the rows outside a fold.

    Notes
    -----
    Each depth costs, per fold, a fit of the completer and of the candidate, and `DRAWN` + 1 predictions of
    the held-out rows.
    """
    labelled = ~np.isnan(y)
    labels = y[labelled]
    n_classes = 1 if is_number else int(labels.max()) + 1
    with portion(0.0, 0.2):
        deals, made = make_folds(X, y, completer, is_number=is_number, folds=folds, repeats=1, seed=seed)
    fold, whole = deals[0], made[0]
    for each in whole:
        _check_known(each)
    thinner = [np.where(keep[:, owner], X, np.nan) for keep in _masks(X, owner, depths, masks, seed)]
    tables: list[EarlierRows] = [*((thin, y) for thin in thinner), *earlier, (X, y)]
    trained_on = len(labels) * (1 - 1 / folds)
    found: list[tuple[Float64Array, ...]] = []
    shares = []
    with worker_threads(int(effective_n_jobs(n_jobs))) as pool:
        run = map if pool is None else pool.map
        for number, (thin, of_then) in enumerate(tables):

            def predict(
                place: int, thin: Float64Array = thin, of_then: Float64Array = of_then
            ) -> tuple[Float64Array, ...]:
                full = whole[place]
                if thin is X:
                    at_hand, drawn = full.predict(candidate, n_classes)
                    return at_hand, at_hand, drawn
                filler = completer or _like(full.completer)
                part = HeldOutFold(thin, of_then, full.held, filler, is_number=is_number, seed=seed + place)
                _check_known(part)
                model = part.train(candidate, n_classes)
                report((place + 1) / folds)
                return part.predict_at_hand(model), *full.predictions_of(model, part.columns)

            with portion(0.2 + 0.8 * number / len(tables), 0.2 + 0.8 * (number + 1) / len(tables)):
                parts = list(run(predict, range(folds)))
            found.append(tuple(_joined(whole, labelled, each) for each in zip(*parts, strict=True)))
            shares.append(_share(thin, owner))
            if progress is not None:
                progress(number + 1, len(tables))
    _, present, now = found[-1]
    counts = _counts(labels, present, now, fold, _holes(X[labelled], owner), classes=not is_number)
    complete, thinned = [], []
    for less, here, drawn in found:
        score = score_predictions(labels, here, fold, classes=not is_number)
        on_complete = complete_rows_score(labels, drawn, fold, score, classes=not is_number, counts=counts)
        complete.append(widened(on_complete, X.shape[1], trained_on))
        score = score_predictions(labels, less, fold, classes=not is_number)
        thinned.append(widened(score, X.shape[1], trained_on))
    unknown = unknown_share(now, counts) / max(unknown_share(now), 1e-12)
    now_at = [*range(len(thinner)), len(tables) - 1]  # and the earlier ones between
    return DepthScores(
        np.array(shares)[now_at],
        tuple(complete[k] for k in now_at),
        tuple(thinned[k] for k in now_at),
        unknown,
        tuple(complete[len(thinner) : -1]),
    )


def _counts(
    y: Float64Array,
    at_hand: Float64Array,
    drawn: Float64Array,
    fold: IntArray,
    holes: BoolArray,
    *,
    classes: bool,
) -> Float64Array:
    """Return how much rows count: more if they are nearly complete, where that makes the error smaller."""
    here = score_predictions(y, at_hand, fold, classes=classes)
    alike, errors = np.ones(len(y)), []
    counts = row_counts(y, drawn, holes, classes=classes)
    for each in (alike, counts):
        score = complete_rows_score(y, drawn, fold, here, classes=classes, counts=each)
        left = max(1 - score.value, LEAST_LEFT)
        hidden = float(holes.mean()) * unknown_share(drawn, each) / max(unknown_share(drawn), 1e-12)
        of_rows = replace(score, method_error=0.0).error / left
        errors.append(level_error(float(np.log(left)), hidden, of_rows))
    return counts if errors[1] < errors[0] else alike


def _check_known(fold: HeldOutFold) -> None:
    if not fold.columns.any():
        raise DataError("too few cells are known to forecast from: none in some folds. Fill in more cells.")


def _joined(folds: Sequence[HeldOutFold], labelled: BoolArray, parts: Sequence[Float64Array]) -> Float64Array:
    """Return the predictions of all labelled rows, (..., n, K), from those of each fold."""
    shape = (*parts[0].shape[:-2], int(labelled.sum()), parts[0].shape[-1])
    together = np.empty(shape)
    for fold, part in zip(folds, parts, strict=True):
        together[..., fold.held[labelled], :] = part
    return together


def _like(fitted: GaussianCompleter) -> GaussianCompleter:
    """Return a completer for fewer cells, which need not choose its settings again and draws nothing."""
    return GaussianCompleter(
        label_trust=0.0,
        margins=cast(MarginKind, fitted.margins_),
        shrinkage=fitted.shrinkage_,
        calibrate=False,
    )


def _masks(
    X: Float64Array, owner: IntArray, depths: Sequence[float], masks: int, seed: int
) -> list[BoolArray]:
    """Return which cells (n, p) to keep, one mask after the other, deepest first."""
    _, first = np.unique(owner, return_index=True)
    few = (~np.isnan(X[:, first])).sum(axis=0) <= LEAST_PER_COLUMN
    found = []
    known = ~np.isnan(X[:, first])
    for number in range(masks):
        chance = _chance(known, [seed, number])
        found += [(chance < depth) | few for depth in depths]
    return found


def _chance(known: BoolArray, seed: list[int]) -> Float64Array:
    """Return a uniform number for each cell (n, p) that has nothing to do with which cells are known.

    A table whose holes were made by the same generator, as in many an example, would be thinned to nothing.
    So the numbers are drawn anew while their mean over the known cells is off by more than `LARGEST_OFF`
    standard errors.
    """
    while True:
        chance = np.random.default_rng(seed).random(known.shape)
        error = np.sqrt(1 / 12 / max(1, int(known.sum())))
        if not known.any() or abs(float(chance[known].mean()) - 0.5) <= LARGEST_OFF * error:
            return chance
        seed = [*seed, 1]


def _holes(X: Float64Array, owner: IntArray) -> BoolArray:
    """Return the cells (n, p) that are missing."""
    _, first = np.unique(owner, return_index=True)
    return np.isnan(X[:, first])


def _share(X: Float64Array, owner: IntArray) -> float:
    return float((~_holes(X, owner)).mean())
