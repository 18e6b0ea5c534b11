"""The learners of the candidates, with settings that suit tables of hundreds to thousands of rows."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array
from cellworth.complete.scaling import Scaling
from cellworth.model.cross_validation import deal

INVERSE_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
INNER_FOLDS = 3
TREES = 100
BOOSTING_ROUNDS = 100


class TunedLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression on standardised columns, with the penalty of least log loss in three inner folds.

    Attributes
    ----------
    classes_ : array
    inverse_penalty_ : float
        One of `INVERSE_PENALTIES`; 1 if a class has fewer rows than there are inner folds.

    Notes
    -----
    Takes 4 x 6 fits, each started from the last; O(n d) per step. Deterministic.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to complete rows X (n, d) and their classes y (n,)."""
        X, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        self._scaling = Scaling.of(X, "standard")
        scaled = (X - self._scaling.offset) / self._scaling.width
        self.classes_, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.inverse_penalty_ = 1.0
        if counts.min() >= INNER_FOLDS:
            losses = self._losses(scaled, codes)
            self.inverse_penalty_ = INVERSE_PENALTIES[int(np.argmin(losses))]
        self._model = _fit_path(scaled, labels, (self.inverse_penalty_,))[0]
        return self

    def predict_proba(self, X: ArrayLike) -> Float64Array:
        """Return the probabilities of the classes (m, K) of complete rows X (m, d)."""
        return np.asarray(self._model.predict_proba(self._scaled(X)))

    def predict(self, X: ArrayLike) -> Any:
        """Return the most probable class of complete rows X (m, d)."""
        return self._model.predict(self._scaled(X))

    def _scaled(self, X: ArrayLike) -> Float64Array:
        return (np.asarray(X, dtype=np.float64) - self._scaling.offset) / self._scaling.width

    @staticmethod
    def _losses(X: Float64Array, codes: Any) -> Float64Array:
        """Return the log loss in held-out rows, one per penalty."""
        fold = deal(codes.astype(np.float64), INNER_FOLDS, np.random.default_rng(0), classes=True)
        losses = np.zeros(len(INVERSE_PENALTIES))
        for number in range(INNER_FOLDS):
            held = fold == number
            models = _fit_path(X[~held], codes[~held], INVERSE_PENALTIES)
            own = np.arange(int(held.sum())), codes[held]
            for k, model in enumerate(models):
                losses[k] -= np.log(np.maximum(model.predict_proba(X[held])[own], 1e-15)).sum()
        return losses


def _fit_path(X: Float64Array, y: Any, inverse_penalties: tuple[float, ...]) -> list[Any]:
    from copy import deepcopy

    from sklearn.linear_model import LogisticRegression  # slow to import

    model = LogisticRegression(max_iter=300, warm_start=True)
    with warnings.catch_warnings():
        # With separable classes convergence is slow, but the direction is known long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [deepcopy(model.set_params(C=C).fit(X, y)) for C in inverse_penalties]


def linear(*, is_number: bool) -> Any:
    """Return logistic regression, or ridge regression, with a tuned penalty."""
    if not is_number:
        return TunedLogistic()
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 5, 15)))


def linear_svm() -> Any:
    """Return a linear support vector machine of standardised columns."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return make_pipeline(StandardScaler(), LinearSVC(C=0.1, dual="auto", max_iter=5000, random_state=0))


def extra_trees(*, is_number: bool) -> Any:
    """Return extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    kind = ExtraTreesRegressor if is_number else ExtraTreesClassifier
    return kind(n_estimators=TREES, min_samples_leaf=2, random_state=0)


def boosted_trees(*, is_number: bool) -> Any:
    """Return histogram gradient boosting; it takes NaN."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    return kind(
        max_iter=BOOSTING_ROUNDS, learning_rate=0.06, max_leaf_nodes=15, early_stopping=False, random_state=0
    )


def with_probabilities(learner: Any) -> Any:
    """Return a classifier with ``predict_proba``: itself, or with a sigmoid fitted to held-out decisions."""
    if hasattr(learner, "predict_proba"):
        return learner
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    return CalibratedClassifierCV(learner, ensemble=False, cv=StratifiedKFold(INNER_FOLDS))
