"""Cross-validate a candidate on rows that are filled once, without labels, for all folds."""

from __future__ import annotations

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.model.candidates import Candidate
from cellworth.model.cross_validation import Score, score_predictions, widened
from cellworth.model.fitted_model import FittedModel, fit_learners, one_core
from cellworth.model.row_views import ViewedRows


def cross_validate(
    candidate: Candidate,
    rows: ViewedRows,
    y: Float64Array,
    fold: IntArray,
    scored: BoolArray,
    *,
    is_number: bool,
) -> Score:
    """Score a candidate for one assignment of rows to folds.

    Parameters
    ----------
    candidate : Candidate
    rows : ViewedRows
        n rows, filled without labels, so that no row's label leaks into its own features.
    y : (n,) array
        Class numbers from 0, or numbers; NaN where missing: these rows are not used.
    fold : (n,) array of int
    scored : (n,) array of bool
        Labelled rows to score; the others are only trained on.
    is_number : bool

    Returns
    -------
    Score
        With the influence of the scored rows, in order.

    Notes
    -----
    One fit of the candidate per fold, and one prediction of each scored row.
    """
    labelled = ~np.isnan(y)
    n_classes = 1 if is_number else int(y[labelled].max()) + 1
    predicted = np.zeros((len(y), n_classes))
    for number in np.unique(fold[scored]):
        tested = scored & (fold == number)
        trained = np.flatnonzero(labelled & (fold != number))
        learners = fit_learners(candidate, rows, trained, y[trained], is_number=is_number)
        with one_core():
            model = FittedModel(candidate, None, is_number, n_classes, learners)
            predicted[tested] = model.predict_viewed(rows.with_rows(tested))
    score = score_predictions(y[scored], predicted[scored], fold[scored], classes=not is_number)
    return widened(score, rows.X.shape[1], int(labelled.sum()) * (1 - 1 / len(np.unique(fold[labelled]))))
