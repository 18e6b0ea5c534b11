"""Choose a model for a table with holes by cross-validation on its own rows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs

from cellworth.arrays import Float64Array, FloatArray, IntArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.errors import DataError, ParameterError
from cellworth.model.candidates import Candidate, average_of, default_models
from cellworth.model.cross_validation import (
    LEAST_OF_CLASS,
    LEAST_ROWS,
    Score,
    mean_score,
    rows_to_score,
    scorable,
    score_predictions,
    widened,
)
from cellworth.model.held_out_folds import HeldOutFold, HeldOutPredictions, make_folds
from cellworth.model.learners import quiet_about_rare_classes
from cellworth.model.score_on_complete_rows import complete_rows_score, on_scale
from cellworth.progress import portion, report
from cellworth.table.target import Metric, metric_of

MOST_ROWS = 4_000
"""The most labelled rows to choose on; a sample of longer tables is used."""
CLEARLY = 2.0
"""Standard errors by which a candidate that is left out of the average scores lower than the best."""
STEP_SHARE = 0.3
"""How much of the estimated step to complete rows counts when choosing for complete rows: it is noisy."""

DecidingRows = Literal["complete", "as they are"]


@dataclass(frozen=True)
class ModelProgress:
    """Progress of a search, passed to its callback.

    Attributes
    ----------
    done, total : int
        Candidates tried and planned.
    name : str
        The candidate just tried.
    score : float
        Its score on the rows to choose for; NaN if it failed.
    seconds : float
        Time since the search began.
    """

    done: int
    total: int
    name: str
    score: float
    seconds: float


@dataclass(frozen=True, eq=False)
class TriedModel:
    """A candidate that was tried.

    Attributes
    ----------
    candidate : Candidate
    at_hand : Score or None
        On held-out rows as they are; None if the candidate failed.
    complete_rows : Score or None
        On complete rows, estimated.
    seconds : float
    reason : str
        Why it failed; "" if it did not.
    """

    candidate: Candidate
    at_hand: Score | None
    complete_rows: Score | None
    seconds: float
    reason: str = ""

    def rank(self, rows: DecidingRows) -> float:
        """Return what candidates are ranked by: larger is better; NaN if this one failed.

        The score at hand as log-odds, or -log(1 - R2) for a number; for complete rows, plus
        `STEP_SHARE` of the step to them.
        """
        if self.at_hand is None or self.complete_rows is None:
            return math.nan
        classes = self.at_hand.pairs > 0
        here, there = (on_scale(s.value, classes=classes)[0] for s in (self.at_hand, self.complete_rows))
        return here + (STEP_SHARE * (there - here) if rows == "complete" else 0.0)

    def is_clearly_worse(self, other: TriedModel) -> bool:
        """Return whether its score at hand is lower by more than `CLEARLY` standard errors."""
        if self.at_hand is None or other.at_hand is None:
            return self.at_hand is None
        paired = self.at_hand.influence - other.at_hand.influence
        error = float(np.sqrt(paired @ paired)) / len(paired)
        return other.at_hand.value - self.at_hand.value > CLEARLY * error


@dataclass(frozen=True, eq=False)
class ChosenModel:
    """The result of a search.

    Attributes
    ----------
    candidate : Candidate
        The chosen one: fit it with `fit_candidate`.
    best : TriedModel
        Its scores.
    tried : list of TriedModel
        All candidates that were tried, in order; the average last.
    left_out : list of str
        Names of candidates that there was no time for.
    metric : {"AUC", "R2"}
    """

    candidate: Candidate
    best: TriedModel
    tried: list[TriedModel]
    left_out: list[str]
    metric: Metric

    @property
    def name(self) -> str:
        """The name of the chosen candidate."""
        return self.candidate.name

    @classmethod
    def unscored(cls, candidates: Sequence[Candidate], *, is_number: bool) -> ChosenModel:
        """Return the first candidate, where there are too few labels to score any."""
        first = TriedModel(candidates[0], None, None, 0.0)
        left_out = [each.name for each in candidates[1:]]
        return cls(first.candidate, first, [first], left_out, metric_of(is_number=is_number))


@quiet_about_rare_classes()
def choose_model(
    X: FloatArray,
    y: FloatArray,
    *,
    is_number: bool,
    completer: Any = None,
    candidates: Sequence[Candidate] | None = None,
    averages: bool = True,
    rows: DecidingRows = "complete",
    folds: int = 5,
    repeats: int = 1,
    seconds: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    cell_of: IntArray | None = None,
    callback: Callable[[ModelProgress], object] | None = None,
    weights: Float64Array | None = None,
) -> ChosenModel:
    """Choose a model by cross-validation.

    Parameters
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array
        Class numbers from 0, or numbers; NaN where missing: these rows only help to fill holes.
    is_number : bool
    completer : estimator, optional
        By default ``GaussianCompleter(label_trust=0.0)``. A clone is fitted to the rows outside each fold.
    candidates : sequence of Candidate, optional
        By default `default_models`; tried in this order.
    averages : bool
        Whether to average the best candidate and those that are not clearly worse: the rows at hand cannot
        tell them apart. If there are any, the average is chosen.
    rows : {"complete", "as they are"}
        What to choose for: complete rows, or rows with holes like those of X; see `TriedModel.rank`.
    folds, repeats : int
        Rows are dealt into folds, ``repeats`` times.
    seconds : float, optional
        No further candidate is tried after this time; at least one is. The choice then depends on the
        speed of the machine.
    n_jobs : int or None
        Folds to work on at the same time, on threads; None is one, -1 one per core. The result does not
        depend on it, unless there is a limit on time.
    seed : int
    cell_of : (d,) array of int, optional
        The cell that each column of X belongs to, as `ColumnLayout.owner`: several columns of 0 and 1 can be
        one cell, a category. Then the complete rows that the score is estimated on have one 1 in each.
    callback : callable, optional
        Called with a `ModelProgress` after each candidate; returning true ends the search.
    weights : (n,) array, optional
        How much each row counts when a candidate is trained. Scores count all rows alike. A candidate that
        takes no weights fails, and its reason says so.

    Returns
    -------
    ChosenModel

    Notes
    -----
    Costs, per repeat and fold: one fit of the completer, `N_DRAWS` + `DRAWN` draws, and for each candidate
    one fit of its learner and `DRAWN` + 1 predictions of the held-out rows (`DRAWN` + `N_DRAWS` for draws).
    Fills and draws are shared by all candidates. At most `MOST_ROWS` labelled rows are used, the same number
    of unlabelled ones, and all draws of a fold are in memory: O((N_DRAWS + DRAWN) n d).
    """
    labels = np.asarray(y, dtype=np.float64)
    check_labels(labels, is_number=is_number, folds=folds)
    if cell_of is not None and np.shape(cell_of) != np.shape(X)[1:]:
        raise ParameterError(
            f"cell_of must have one number for each of the {np.shape(X)[1]} columns of X; got the shape "
            f"{np.shape(cell_of)}"
        )
    some = rows_to_score(labels, seed, MOST_ROWS)
    table, labels = np.asarray(X, dtype=np.float64)[some], labels[some]
    counts = None if weights is None else weights[some]
    tried: list[TriedModel] = []
    planned = default_models(is_number=is_number) if candidates is None else list(candidates)
    with worker_threads(int(effective_n_jobs(n_jobs))) as pool:
        search = _CrossValidation(
            table, labels, completer, is_number, folds, repeats, seed, pool, cell_of, counts
        )
        begun = time.perf_counter()
        for number, candidate in enumerate(planned):
            if tried and seconds is not None and time.perf_counter() - begun > seconds:
                break
            with portion(number / len(planned), (number + 1) / len(planned)):
                tried.append(search.tries(candidate))
            if callback is not None:
                spent = time.perf_counter() - begun
                score = tried[-1].complete_rows if rows == "complete" else tried[-1].at_hand
                value = math.nan if score is None else score.value
                if callback(ModelProgress(number + 1, len(planned), candidate.name, value, spent)):
                    break
        left_out = [each.name for each in planned[len(tried) :]]
        best = _best_of(tried, rows)
        equals = [each for each in tried if averages and not each.is_clearly_worse(best)]
        if len(equals) > 1:
            best = search.average(sorted(equals, key=lambda each: -each.rank(rows)))
            tried.append(best)
    return ChosenModel(best.candidate, best, tried, left_out, metric_of(is_number=is_number))


def _best_of(tried: Sequence[TriedModel], rows: DecidingRows) -> TriedModel:
    """Return the candidate of the highest rank."""
    working = [each for each in tried if not each.reason]
    if not working:
        reasons = "; ".join(f"{each.candidate.name}: {each.reason}" for each in tried)
        raise DataError(f"no candidate could be trained; expected at least one. {reasons}")
    return max(working, key=lambda each: each.rank(rows))  # the first, so the cheapest, of equals


class _CrossValidation:
    """Folds of one table, and the predictions of candidates in them."""

    def __init__(
        self,
        X: Float64Array,
        y: Float64Array,
        completer: Any,
        is_number: bool,
        folds: int,
        repeats: int,
        seed: int,
        pool: ThreadPoolExecutor | None,
        cell_of: IntArray | None,
        weights: Float64Array | None,
    ) -> None:
        labelled = ~np.isnan(y)
        self._y, self._pool, self._is_number = y[labelled], pool, is_number
        self._n_classes = 1 if is_number else int(self._y.max()) + 1
        self._labelled, self._width = labelled, X.shape[1]
        self._known = float((~np.isnan(X[labelled])).mean())
        self._trained_on = len(self._y) * (1 - 1 / folds)
        settings: Any = {"seed": seed, "cell_of": cell_of, "weights": weights}
        self._deals, self._folds = make_folds(
            X, y, completer, is_number=is_number, folds=folds, repeats=repeats, **settings
        )
        self._predictions: dict[str, list[HeldOutPredictions]] = {}

    def tries(self, candidate: Candidate) -> TriedModel:
        """Cross-validate a candidate."""
        begun = time.perf_counter()
        flat = [fold for of_repeat in self._folds for fold in of_repeat]
        try:
            run = map if self._pool is None else self._pool.map
            parts = []
            for part in run(lambda fold: self._predict(fold, candidate), flat):
                parts.append(part)
                report(len(parts) / len(flat))
        except Exception as error:  # another candidate may work
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            return TriedModel(candidate, None, None, time.perf_counter() - begun, reason)
        size = len(self._folds[0])
        found = [
            self._joined(of_repeat, parts[r * size : (r + 1) * size])
            for r, of_repeat in enumerate(self._folds)
        ]
        self._predictions[candidate.name] = found
        return self._scored(candidate, found, begun)

    def average(self, tried: Sequence[TriedModel]) -> TriedModel:
        """Score the average of some candidates, from predictions already made."""
        begun = time.perf_counter()
        members = [each.candidate for each in tried]
        found = [
            HeldOutPredictions(
                np.mean([each.at_hand for each in together], axis=0),
                np.mean([each.drawn for each in together], axis=0),
                np.mean([each.thinned for each in together], axis=0),
            )
            for together in zip(*(self._predictions[each.name] for each in members), strict=True)
        ]
        return self._scored(average_of(members), found, begun)

    def _predict(self, fold: HeldOutFold, candidate: Candidate) -> tuple[Float64Array, ...]:
        """Return what `HeldOutPredictions` holds, for the rows of a fold; all of it for classes only."""
        model = fold.train(candidate, self._n_classes)
        at_hand, drawn = fold.predictions_of(model, fold.columns)
        if self._is_number or self._known == 1:
            return at_hand, drawn, np.empty((0, *at_hand.shape))
        return at_hand, drawn, fold.predict_thinned(model)

    def _joined(self, folds: list[HeldOutFold], parts: list[tuple[Float64Array, ...]]) -> HeldOutPredictions:
        of_rows = len(self._y), self._n_classes
        at_hand, drawn, thinned = (np.empty((*each.shape[:-2], *of_rows)) for each in parts[0])
        for fold, part in zip(folds, parts, strict=True):
            held = fold.held[self._labelled]
            at_hand[held], drawn[:, held], thinned[:, held] = part
        return HeldOutPredictions(at_hand, drawn, thinned)

    def _scored(self, candidate: Candidate, found: list[HeldOutPredictions], begun: float) -> TriedModel:
        classes = not self._is_number
        at_hand, complete = [], []
        for fold, each in zip(self._deals, found, strict=True):
            at_hand.append(score_predictions(self._y, each.at_hand, fold, classes=classes))
            thinned = [score_predictions(self._y, less, fold, classes=classes).value for less in each.thinned]
            settings: Any = {"classes": classes, "thinned": thinned, "known": self._known}
            complete.append(complete_rows_score(self._y, each.drawn, fold, at_hand[-1], **settings))
        spent = time.perf_counter() - begun
        return TriedModel(candidate, self._mean(at_hand), self._mean(complete), spent)

    def _mean(self, scores: list[Score]) -> Score:
        return widened(mean_score(scores), self._width, self._trained_on)


def check_labels(y: Float64Array, *, is_number: bool, folds: int) -> None:
    """Raise unless there are enough labels to cross-validate."""
    if folds < 2:
        raise ParameterError(f"folds must be a whole number of at least 2; got {folds!r}")
    known = y[~np.isnan(y)]
    if not len(known):
        raise DataError("no row has a label, so there is nothing to learn from; give some labels.")
    if scorable(known, classes=not is_number):
        return
    if is_number:
        raise DataError(
            f"{len(known)} labelled rows with {len(np.unique(known))} distinct numbers are too few to choose "
            f"a model on; expected at least {LEAST_ROWS} rows with different numbers."
        )
    if len(np.unique(known)) < 2:
        raise DataError("all labels are of one class; expected at least two. Add rows of another class.")
    raise DataError(
        f"too few labelled rows to choose a model on; expected at least {LEAST_OF_CLASS} in each of two "
        "classes. Label more rows."
    )
