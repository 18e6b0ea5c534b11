"""Compare completers by what a model learns from their completions of the training rows.

Both models are tested on the same held-out rows, filled by the same completer. A completer may fill rows that
are nearly empty badly, but suit the training rows, whose labels it knows; what it does to held-out rows with
holes says nothing about complete ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.model import Candidate
from cellworth.model.cross_validation import Score, score_predictions
from cellworth.model.held_out_folds import HeldOutFold, make_folds
from cellworth.strategy.buying_task import BuyingTask
from cellworth.strategy.strategy_choice import Lead

FOLDS = 3


def completer_lead(task: BuyingTask, model: Candidate, completer: Any, over: Any) -> Lead:
    """Return how much higher a model scores if it is trained on another completion.

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
    Costs `FOLDS` fits of each completer and two of the model.
    """
    assert task.y is not None
    settings: dict[str, Any] = {"is_number": task.is_number, "folds": FOLDS, "repeats": 1, "seed": task.seed}
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
