"""A candidate fitted to a table with holes, which predicts rows with and without holes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import BoolArray, Float64Array, FloatArray, IntArray
from cellworth.blocks.thread_engine import one_core
from cellworth.errors import DataError
from cellworth.model.candidates import Candidate, candidate_named
from cellworth.model.cross_validation import Score, score_predictions, widened
from cellworth.model.feature_views import View, ViewedRows, complete_features
from cellworth.model.learners import fit_weighted, with_probabilities


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted candidate.

    Attributes
    ----------
    candidate : Candidate
    completer : estimator
        Fills the holes of the rows to predict.
    is_number : bool
    n_classes : int
        K; 1 for a number.
    learners : tuple of (View, estimator)
        Fitted; their predictions are averaged.
    seed : int
        Of the draws, if the view has any.
    """

    candidate: Candidate
    completer: Any
    is_number: bool
    n_classes: int
    learners: tuple[tuple[View, Any], ...]
    seed: int = 0

    def predict(self, X: FloatArray) -> Float64Array:
        """Return the probabilities (m, K) of the classes, or the numbers (m, 1), of rows X (m, d).

        X may have holes, NaN. Rows are filled without labels. Cost: a completion if a view needs one, draws
        if it needs them, and the learner's predictions, `N_DRAWS` times for draws.
        """
        rows = np.asarray(X, dtype=np.float64)
        return self.predict_viewed(ViewedRows.new(self.completer, rows, self.seed))

    def predict_viewed(self, rows: ViewedRows) -> Float64Array:
        """Return the same for rows whose fills are shared with other models."""
        if not rows.has_holes:
            return self.predict_complete(rows.X)
        total = np.zeros((len(rows.X), self.n_classes))
        for view, learner in self.learners:
            features = rows.features(view)
            flat = self._of_learner(learner, features.reshape(-1, features.shape[2]))
            total += flat.reshape(len(features), -1, self.n_classes).mean(axis=0)
        return total / len(self.learners)

    def predict_complete(self, X: Float64Array) -> Float64Array:
        """Return the same for rows X (m, d) without holes; the completer is not used."""
        total = np.zeros((len(X), self.n_classes))
        for view, learner in self.learners:
            total += self._of_learner(learner, complete_features(X, view))
        return total / len(self.learners)

    def _of_learner(self, learner: Any, features: Float64Array) -> Float64Array:
        if self.is_number:
            return np.asarray(learner.predict(features), dtype=np.float64).reshape(-1, 1)
        found = np.zeros((len(features), self.n_classes))
        # A class without training rows has no probability.
        found[:, learner.classes_.astype(np.intp)] = learner.predict_proba(features)
        return found


def fit_candidate(
    candidate: str | Candidate,
    completer: Any,
    X: FloatArray,
    y: FloatArray,
    *,
    is_number: bool,
    n_classes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    weights: Float64Array | None = None,
) -> FittedModel:
    """Fit a candidate to rows with holes, using a completer that is already fitted.

    Parameters
    ----------
    candidate : str or Candidate
        A name of `default_models`, names joined with " + " for their average, or a candidate.
    completer : estimator
        Fitted to X, or to other rows with the same columns. Its completion of X is used as it is.
    X : (n, d) array
        NaN in the holes.
    y : (n,) array
        Class numbers from 0, or numbers; NaN where missing: these rows are left out.
    is_number : bool
    n_classes : int, optional
        K; by default one more than the largest class number.
    seed : int
        Of the draws, if the view has any.
    n_jobs : int or None
        Threads of learners that can use them; the result does not depend on it.
    weights : (n,) array, optional
        How much each row counts in training; DataError if the learner cannot take them.

    Returns
    -------
    FittedModel

    Notes
    -----
    Costs a fit of the learner, on `N_DRAWS` times the rows for draws. "joint Gaussian" also fits a Gaussian
    of its own.
    """
    table, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(table) != len(labels):
        raise DataError(f"X has {len(X)} rows and y {len(y)} labels; expected as many of both.")
    if isinstance(candidate, str):
        candidate = candidate_named(candidate, is_number=is_number)
    labelled = np.flatnonzero(~np.isnan(labels))
    if not len(labelled):
        raise DataError("no row has a label, so there is nothing to learn from; give some labels.")
    rows = ViewedRows.trained_on(completer, table, seed)
    K = 1 if is_number else int(labels[labelled].max()) + 1 if n_classes is None else n_classes
    counts = None if weights is None else weights[labelled]
    fitted = fit_learners(
        candidate, rows, labelled, labels[labelled], is_number=is_number, n_jobs=n_jobs, weights=counts
    )
    return FittedModel(candidate, completer, is_number, K, fitted, seed)


def fit_learners(
    candidate: Candidate,
    rows: ViewedRows,
    labelled: Any,
    y: Float64Array,
    *,
    is_number: bool,
    n_jobs: int | None = None,
    weights: Float64Array | None = None,
) -> tuple[tuple[View, Any], ...]:
    """Fit the learner of a candidate, or those of its members, to the labelled rows.

    ``y`` holds their labels and ``weights`` how much they count.
    """
    if candidate.members:
        settings: Any = {"is_number": is_number, "n_jobs": n_jobs, "weights": weights}
        return tuple(
            pair
            for member in candidate.members
            for pair in fit_learners(member, rows, labelled, y, **settings)
        )
    learner = clone(candidate.learner)
    parallel = n_jobs is not None and learner.get_params(deep=False).get("n_jobs", 1) is None
    if parallel:
        learner.set_params(n_jobs=n_jobs)
    whole = learner if is_number else with_probabilities(learner)
    if candidate.view.fill == "draws" and rows.has_holes:
        known = np.full(len(rows.X), np.nan)
        known[labelled] = y
        rows = rows.given_labels(known, is_number=is_number)
    features = rows.features(candidate.view, labelled)
    labels = np.tile(y if is_number else y.astype(np.intp), len(features))
    with one_core():
        flat = features.reshape(-1, features.shape[2])
        if weights is None:
            whole.fit(flat, labels)
        else:
            fit_weighted(whole, flat, labels, np.tile(weights, len(features)))
    if parallel:
        learner.set_params(n_jobs=None)  # threads add predictions of trees in any order
    return ((candidate.view, whole),)


def cross_validate(
    candidate: Candidate,
    rows: ViewedRows,
    y: Float64Array,
    fold: IntArray,
    scored: BoolArray,
    *,
    is_number: bool,
    trained_on: BoolArray | None = None,
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
    trained_on : (n,) array of bool, optional
        Labelled rows to train on, by default all of them.

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
        trained = np.flatnonzero(
            (labelled if trained_on is None else labelled & trained_on) & (fold != number)
        )
        learners = fit_learners(candidate, rows, trained, y[trained], is_number=is_number)
        with one_core():
            model = FittedModel(candidate, None, is_number, n_classes, learners)
            predicted[tested] = model.predict_viewed(rows.with_rows(tested))
    score = score_predictions(y[scored], predicted[scored], fold[scored], classes=not is_number)
    return widened(score, rows.X.shape[1], int(labelled.sum()) * (1 - 1 / len(np.unique(fold[labelled]))))
