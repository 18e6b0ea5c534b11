"""Test strategies on the known cells of a table: hide some, buy them back, see which strategy wins.

The labelled rows are dealt into folds. In a play, one fold is held out, half of the known cells of the other
rows are hidden, and each strategy buys some of them back for the same money. The model is trained on what it
then has, and scored on the held-out rows, as they are. All strategies play with the same rows and cells, so
what counts is the difference of their scores.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.thread_engine import one_core
from cellworth.complete.hold_out import hide_cells
from cellworth.model import Candidate, fit_candidate
from cellworth.model.cross_validation import (
    Score,
    area,
    deal,
    mean_score,
    score_predictions,
    scored_classes,
)
from cellworth.progress import Steps
from cellworth.strategy.auto_choice import BuyingTask, Lead
from cellworth.strategy.choose_batch import Adviser
from cellworth.strategy.registry import Strategy

FOLDS = 4
DEALS = 2
"""Times to deal the rows into folds: a backtest has FOLDS * DEALS plays."""
KEPT = 0.5
"""Share of the known cells that stay visible in a play."""
MARKS = (0.3, 0.6)
"""Money spent when the model is scored, as a share of the cost of the hidden cells."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """How strategies did.

    Attributes
    ----------
    names : tuple of str
    by_play : (plays, strategies) array
        AUC or R2 on the held-out rows of a play, averaged over the marks.
    scores : tuple of Score
        Of each strategy, over all plays, with the influence of each row.
    """

    names: tuple[str, ...]
    by_play: Float64Array
    scores: tuple[Score, ...]

    def lead(self, name: str, over: str) -> Lead:
        """Return by how much one strategy is ahead of another.

        The error is that over rows or that over plays, whichever is larger.
        """
        a, b = self.names.index(name), self.names.index(over)
        each = self.by_play[:, a] - self.by_play[:, b]
        paired = self.scores[a].influence - self.scores[b].influence
        of_rows = math.sqrt(float(paired @ paired)) / len(paired)
        of_plays = float(each.std(ddof=1)) / math.sqrt(len(each)) if len(each) > 1 else math.inf
        return Lead(float(each.mean()), max(of_rows, of_plays), int((each > 0).sum()), len(each))


def backtest(
    task: BuyingTask,
    strategies: Sequence[Strategy],
    model: Candidate,
    *,
    seconds: float | None = None,
    progress: Steps | None = None,
) -> Backtest:
    """Play strategies against each other on known cells.

    Parameters
    ----------
    task : BuyingTask
        Only its labelled rows are used; at least two classes must have `LEAST_OF_CLASS` of them.
    strategies : sequence of Strategy
    model : Candidate
        Trained on what each strategy bought.
    seconds : float, optional
        No further deal is begun after this time; the result then depends on the speed of the machine.
    progress : callable, optional
        Called with the number of plays done and the total.

    Returns
    -------
    Backtest
        Of whole deals only.

    Notes
    -----
    Each play costs, for each strategy and mark, a completion, the scores of all cells and a fit of the model,
    on three quarters of the rows.
    """
    rows = task.labelled
    assert task.y is not None
    y, begun = task.y[rows], time.perf_counter()
    n_classes = 1 if task.is_number else int(y.max()) + 1
    by_play: list[list[float]] = []
    scores: list[list[Score]] = []
    with one_core(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(DEALS):
            if number and seconds is not None and time.perf_counter() - begun > seconds:
                break
            fold = deal(y, FOLDS, np.random.default_rng([task.seed, number]), classes=not task.is_number)
            predicted = np.zeros((len(strategies), len(MARKS), len(y), n_classes))
            for k in range(FOLDS):
                held = fold == k
                play = _Play(task, rows, held, [task.seed, number, k])
                for place, strategy in enumerate(strategies):
                    predicted[place][:, held] = play.predictions(strategy, model, n_classes)
                by_play.append([_score_in_fold(y, marks, held, task.is_number) for marks in predicted])
                if progress is not None:
                    progress(number * FOLDS + k + 1, FOLDS * DEALS)
            scores.append(
                [
                    mean_score([score_predictions(y, p, fold, classes=not task.is_number) for p in marks])
                    for marks in predicted
                ]
            )
    together = tuple(mean_score(list(of_deals)) for of_deals in zip(*scores, strict=True))
    return Backtest(tuple(each.name for each in strategies), np.array(by_play), together)


class _Play:
    """One fold held out, and half of the known cells of the other rows hidden."""

    def __init__(self, task: BuyingTask, rows: IntArray, held: BoolArray, seed: list[int]) -> None:
        assert task.y is not None
        self._task, self._seed = task, seed
        self._held = task.X[rows[held]]
        trained = rows[~held]
        self._truth, self._y = task.X[trained], task.y[trained]
        self._prices = task.prices.of_rows(trained)
        known = task.layout.known(self._truth)
        self._hidden = hide_cells(known, np.random.default_rng(seed), keep=KEPT, spare="random")
        self._before = known & ~self._hidden
        self._total = self._prices.cost(np.argwhere(self._hidden), self._before)

    def predictions(self, strategy: Strategy, model: Candidate, n_classes: int) -> Float64Array:
        """Return the model's predictions (marks, m, K) of the held-out rows."""
        task = self._task
        adviser = Adviser(strategy, layout=task.layout, target=task.target, seed=self._seed[-1])
        available, known, spent = self._hidden.copy(), self._before.copy(), 0.0
        X = np.where(task.layout.by_column(known), self._truth, np.nan)
        adviser.complete(X, self._y)
        found = []
        for mark in MARKS:
            adviser.score(self._prices)
            bought = adviser.choose(
                self._prices, available=available, before=known, budget=max(0.0, mark * self._total - spent)
            )
            places = bought.cells[:, 0], bought.cells[:, 1]
            available[places], known[places], spent = False, True, spent + bought.cost
            X = np.where(task.layout.by_column(known), self._truth, np.nan)
            adviser.complete(X, self._y)
            fitted = fit_candidate(
                model, adviser.completer, X, self._y, is_number=task.is_number, n_classes=n_classes
            )
            found.append(fitted.predict(self._held))
        return np.array(found)


def _score_in_fold(y: Float64Array, predicted: Float64Array, held: BoolArray, is_number: bool) -> float:
    """Return the mean over marks of AUC or R2 in one fold; ``predicted`` is (marks, n, K)."""
    if is_number:
        off = (predicted[:, held, 0] - y[held]) ** 2
        return float(1 - off.mean() / y.var())
    one_fold = np.zeros(int(held.sum()), dtype=np.intp)
    of_classes = [y[held] == k for k in scored_classes(y, predicted.shape[2])]
    areas = [
        area(positive, marks[held, k], one_fold).value
        for marks in predicted
        for k, positive in zip(scored_classes(y, predicted.shape[2]), of_classes, strict=True)
        if positive.any() and not positive.all()
    ]
    return float(np.mean(areas))
