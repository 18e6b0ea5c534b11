"""The strategy "auto": completer, model and strategy chosen on the user's own table, before purchases begin.

The model is chosen by cross-validation. Then the rival plays against the fallback on known cells that are
hidden and bought back, see `cellworth.strategy.backtest`, and is chosen only if it leads by more than
`NEEDED` standard errors. Last, the completer: the supervised one only if the model scores higher by as much
when it has learned from its completion, see `completer_lead`; on tables in row blocks, where the pair of
completions that this needs does not run, the completer is not in question. The choice is a function of the
table, the prices and the seed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.thread_engine import one_core
from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.complete.paired_completer import PairedCompleter
from cellworth.errors import DataError
from cellworth.model import Candidate, choose_model
from cellworth.model.candidates import candidate_named
from cellworth.model.cross_validation import Score, scorable, score_predictions
from cellworth.model.held_out_folds import HeldOutFold, make_folds
from cellworth.strategy.auto_choice import BuyingTask, Lead, StrategyChoice
from cellworth.strategy.backtest import FOLDS, backtest
from cellworth.strategy.registry import Strategy, get
from cellworth.table.target import metric_of

FALLBACK, RIVAL = "recommended", "linear-impact"
MOST_ROWS = 1_000
"""The most labelled rows to choose on; a sample of longer tables is used."""
LEAST_ROWS = 80
"""With fewer labelled rows nothing is played: differences of AUC would have errors of 0.05 and more."""
LEAST_KNOWN = 200
"""With fewer known cells in labelled rows nothing is played."""
MODEL_FOLDS = 3  # to choose the model, and the completer
LINEAR = ("logistic regression", "ridge regression")
TREES = ("extra trees", "boosted trees")
NEEDED = 2.0
"""Standard errors by which the rival, or the supervised completer, must lead; set on half of the study."""


@dataclass(frozen=True, eq=False)
class AutomaticStrategy(Strategy):
    """A strategy whose parts are chosen on a table; until then they are those of the fallback.

    Attributes
    ----------
    seconds : float or None
        No further part of the choice is begun after this time; what is then known decides. The choice then
        depends on the speed of the machine.

    Notes
    -----
    Costs, on at most `MOST_ROWS` labelled rows: three folds with a fit of the completer and of three models;
    eight plays, each with four completions, scorings of all cells and fits of the model, on half of the known
    cells; and three folds with the supervised completer. So it is about 40 rounds of `recommended`, each
    O(n d^2) for the completion and d predictions of 400 rows for the scores: on one core 3 to 30 seconds for
    1,000 rows and up to 100 columns, and 3 minutes for 60 categories that become 287 columns.
    """

    seconds: float | None = None

    is_open: ClassVar[bool] = True

    def settled(self, task: BuyingTask) -> Strategy:
        """Choose completer, model and strategy; see `StrategyChoice`."""
        with one_core():
            return self.recalled(choose_on(task, seconds=self.seconds))

    def recalled(self, choice: StrategyChoice) -> Strategy:
        """Return the strategy of a choice made earlier."""
        base = get(choice.strategy)
        completer = base.completer
        if choice.completer == "supervised":
            completer = PairedCompleter(SupervisedCompleter(), completer)
        elif choice.completer != "Gaussian":
            raise DataError(
                f"the recorded choice names a completer {choice.completer!r} that this version of cellworth "
                "does not know. Use a newer version."
            )
        return Strategy(self.name, completer, base.scorer, base.selector, choice.sentence, choice)


def make_automatic() -> AutomaticStrategy:
    """Return the built-in "auto"."""
    base = get(FALLBACK)
    summary = f"chosen on your table by hiding and buying back known cells; {FALLBACK} unless clearly beaten"
    return AutomaticStrategy("auto", base.completer, base.scorer, base.selector, summary)


def choose_on(task: BuyingTask, *, seconds: float | None = None) -> StrategyChoice:
    """Choose completer, model and strategy for a table; see `AutomaticStrategy` for the cost.

    Parameters
    ----------
    task : BuyingTask
    seconds : float, optional
        No further part of the choice is begun after this time.
    """
    metric = metric_of(is_number=task.is_number)
    thin = _too_thin(task)
    if thin:
        return StrategyChoice(FALLBACK, FALLBACK, "Gaussian", "", metric, RIVAL, None, NEEDED, note=thin)
    begun = time.perf_counter()
    task = _sampled(task)
    assert task.y is not None
    model = choose_model(
        task.X,
        task.y,
        is_number=task.is_number,
        completer=_gaussian(),
        candidates=_models(task),
        averages=False,
        folds=MODEL_FOLDS,
        seconds=seconds,
        seed=task.seed,
        cell_of=task.layout.owner,
    ).candidate
    choice = StrategyChoice(
        FALLBACK,
        FALLBACK,
        "Gaussian",
        model.name,
        metric,
        RIVAL,
        None,
        NEEDED,
        note=f"choosing a model took more than the {seconds} seconds allowed",
    )
    left = None if seconds is None else seconds - (time.perf_counter() - begun)
    if left is not None and left <= 0:
        return choice
    played = backtest(task, [get(FALLBACK), get(RIVAL)], model, seconds=left)
    lead = played.lead(RIVAL, over=FALLBACK)
    choice = decided(replace(choice, lead=lead, note=""))
    left = None if seconds is None else seconds - (time.perf_counter() - begun)
    if task.in_blocks or (left is not None and left <= 0):
        return choice
    of_completer = completer_lead(task, model, SupervisedCompleter(), over=_gaussian())
    return decided(replace(choice, completer_lead=of_completer))


def decided(choice: StrategyChoice) -> StrategyChoice:
    """Return the choice that its leads call for."""
    ahead = choice.lead is not None and choice.lead.errors > NEEDED
    other = choice.completer_lead is not None and choice.completer_lead.errors > NEEDED
    return replace(
        choice,
        strategy=RIVAL if ahead else FALLBACK,
        completer="supervised" if other else "Gaussian",
        needed=NEEDED,
    )


def completer_lead(task: BuyingTask, model: Candidate, completer: Any, over: Any) -> Lead:
    """Return how much higher a model scores if it is trained on another completion.

    Both models are tested on the same held-out rows, filled by the same completer. A completer may fill rows
    that are nearly empty badly, but suit the training rows, whose labels it knows; what it does to held-out
    rows with holes says nothing about complete ones.

    Parameters
    ----------
    task : BuyingTask
        With labels, at least two classes of which can be scored.
    model : Candidate
    completer, over : estimators
        Unfitted. The held-out rows are filled by ``over`` for both.

    Returns
    -------
    Lead
        With the standard error over rows.

    Notes
    -----
    Costs `MODEL_FOLDS` fits of each completer and two of the model.
    """
    assert task.y is not None
    settings: dict[str, Any] = {
        "is_number": task.is_number,
        "folds": MODEL_FOLDS,
        "repeats": 1,
        "seed": task.seed,
    }
    deals, tested = make_folds(task.X, task.y, over, cell_of=task.layout.owner, **settings)
    _, trained = make_folds(task.X, task.y, completer, cell_of=task.layout.owner, **settings)
    y = task.y[task.labelled]
    n_classes = 1 if task.is_number else int(y.max()) + 1
    scores: list[Score] = []
    for folds in (trained[0], tested[0]):
        predicted = np.zeros((len(y), n_classes))
        for of_model, of_rows in zip(folds, tested[0], strict=True):
            predicted[of_rows.held[task.labelled]] = _predict(of_model, of_rows, model, n_classes)
        scores.append(score_predictions(y, predicted, deals[0], classes=not task.is_number))
    paired = scores[0].influence - scores[1].influence
    return Lead(scores[0].value - scores[1].value, float(np.sqrt(paired @ paired)) / len(paired))


def _predict(of_model: HeldOutFold, of_rows: HeldOutFold, model: Candidate, n_classes: int) -> Float64Array:
    """Train on one completion; predict the held-out rows as the other completer fills them."""
    return of_rows.predict_at_hand(of_model.train(model, n_classes))


def _too_thin(task: BuyingTask) -> str:
    """Return why there is too little to play with; "" if there is enough."""
    if task.y is None:
        return "the table has no target"
    rows = task.labelled
    if len(rows) < LEAST_ROWS:
        return f"{len(rows)} labelled rows are too few to compare strategies on ({LEAST_ROWS} are needed)"
    if not task.is_number:
        counts = np.unique(task.y[rows], return_counts=True)[1]
        if (counts >= 2 * FOLDS).sum() < 2:
            return f"too few classes have {2 * FOLDS} labelled rows (two are needed)"
    elif not scorable(task.y[rows], classes=False):
        return "all labels are alike"
    known = task.known[rows]
    if known.sum() < LEAST_KNOWN or (known.sum(axis=0) < FOLDS).any():
        return f"too few cells are known to hide some ({LEAST_KNOWN}, {FOLDS} in each column, are needed)"
    return ""


def _sampled(task: BuyingTask) -> BuyingTask:
    """Return the task of the labelled rows, at most `MOST_ROWS`."""
    rows: IntArray = task.labelled
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(task.seed).choice(rows, MOST_ROWS, replace=False))
    assert task.y is not None
    return replace(task, X=task.X[rows], y=task.y[rows], prices=task.prices.of_rows(rows))


def _models(task: BuyingTask) -> list[Candidate]:
    """Return the models to choose from: a linear one and two of trees, all trained on the completion."""
    linear = LINEAR[1 if task.is_number else 0]
    return [candidate_named(name, is_number=task.is_number) for name in (linear, *TREES)]


def _gaussian() -> GaussianCompleter:
    return GaussianCompleter(label_trust=0.0)
