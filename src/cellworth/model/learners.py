"""The learners of the candidates, with settings that suit tables of hundreds to thousands of rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete import GaussianCompleter
from cellworth.errors import DataError
from cellworth.model.cross_validation import deal

INVERSE_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
PENALTIES = tuple(np.logspace(-2, 5, 15).tolist())
INNER_FOLDS = 3
LEAST_WIDTH = 1e-12
"""A column whose known cells differ by less, relative to their size, is constant."""
TREES = 100
BOOSTING_ROUNDS = 100


class KnownUnits(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centre and scale filled columns by the mean and standard deviation of their known cells.

    A column that is mostly filled with means varies less than it will in complete rows. In units of its
    filled cells, a penalty would bear least on the columns of which least is known, whose coefficients are
    the least certain: complete rows are then predicted worse than before some columns are bought up. In
    units of the known cells the penalty is the same for all columns.

    The rows have 2 d columns, as of ``View(mask=True)``: the filled cells, then 1 in the holes and 0
    elsewhere. Those of holes are used here and not passed on.
    """

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the units from rows X (n, 2 d), which count as ``sample_weight`` (n,)."""
        filled, holes = _filled_and_holes(X)
        rows = np.ones(len(filled)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        counts = np.where(holes, 0.0, rows[:, np.newaxis])
        counts[:, ~counts.any(axis=0)] = 1.0  # a column without known cells
        counts /= counts.sum(axis=0)
        self._offset = (counts * filled).sum(axis=0)
        width = np.sqrt((counts * (filled - self._offset) ** 2).sum(axis=0))
        self._width = np.where(width > LEAST_WIDTH * np.abs(filled).max(axis=0), width, 1.0)
        return self

    def transform(self, X: ArrayLike) -> Float64Array:
        """Return the filled cells (m, d) of rows X (m, 2 d) in these units."""
        return (_filled_and_holes(X)[0] - self._offset) / self._width


def _filled_and_holes(X: ArrayLike) -> tuple[Float64Array, BoolArray]:
    rows = np.asarray(X, dtype=np.float64)
    d = rows.shape[1] // 2
    return rows[:, :d], rows[:, d:] != 0


class TunedLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression with the penalty of least log loss in three inner folds.

    Attributes
    ----------
    classes_ : array
    inverse_penalty_ : float
        One of `INVERSE_PENALTIES`; 1 if a class has fewer rows than there are inner folds.

    Notes
    -----
    Takes 4 x 6 fits, each started from the last; O(n d) per step. Deterministic.
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to complete rows X (n, d) and their classes y (n,), which count as ``sample_weight`` (n,)."""
        X, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.classes_, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.inverse_penalty_ = 1.0
        if counts.min() >= INNER_FOLDS:
            losses = self._losses(X, codes, weights)
            self.inverse_penalty_ = INVERSE_PENALTIES[int(np.argmin(losses))]
        self._model = _fit_path(X, labels, (self.inverse_penalty_,), weights)[0]
        return self

    def predict_proba(self, X: ArrayLike) -> Float64Array:
        """Return the probabilities of the classes (m, K) of complete rows X (m, d)."""
        return np.asarray(self._model.predict_proba(np.asarray(X, dtype=np.float64)))

    def predict(self, X: ArrayLike) -> Any:
        """Return the most probable class of complete rows X (m, d)."""
        return self._model.predict(np.asarray(X, dtype=np.float64))

    @staticmethod
    def _losses(X: Float64Array, codes: Any, weights: Float64Array | None) -> Float64Array:
        """Return the log loss in held-out rows, one per penalty."""
        fold = deal(codes.astype(np.float64), INNER_FOLDS, np.random.default_rng(0), classes=True)
        losses = np.zeros(len(INVERSE_PENALTIES))
        for number in range(INNER_FOLDS):
            held = fold == number
            trained = None if weights is None else weights[~held]
            models = _fit_path(X[~held], codes[~held], INVERSE_PENALTIES, trained)
            own = np.arange(int(held.sum())), codes[held]
            for k, model in enumerate(models):
                each = np.log(np.maximum(model.predict_proba(X[held])[own], 1e-15))
                losses[k] -= each.sum() if weights is None else weights[held] @ each
        return losses


def _fit_path(
    X: Float64Array, y: Any, inverse_penalties: tuple[float, ...], weights: Float64Array | None
) -> list[Any]:
    from copy import deepcopy

    from sklearn.linear_model import LogisticRegression  # slow to import

    model = LogisticRegression(max_iter=300, warm_start=True)
    with warnings.catch_warnings():
        # With separable classes convergence is slow, but the direction is known long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [deepcopy(model.set_params(C=C).fit(X, y, weights)) for C in inverse_penalties]


@contextmanager
def quiet_about_rare_classes() -> Iterator[None]:
    """Keep scikit-learn from saying in each fold, and of each tree, that many classes have few rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%", UserWarning)
        yield


class TunedRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge regression with a tuned penalty, whose predictions stay within the range of its labels.

    Where columns depend on each other, filled rows hardly vary in some directions in which complete rows do.
    Coefficients there rest on little, and predictions of complete rows may be far off. That a label lies
    outside the range of those seen is less likely, so the nearest end of the range is predicted instead.

    Attributes
    ----------
    penalty_ : float
        The one of `PENALTIES` with the least squared error in left-out rows.

    Notes
    -----
    O(n d min(n, d)) for all of `PENALTIES`. Deterministic.
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to complete rows X (n, d) and their numbers y (n,), which count as ``sample_weight`` (n,)."""
        from sklearn.linear_model import RidgeCV  # slow to import

        self._model = RidgeCV(PENALTIES).fit(X, y, sample_weight)
        self.penalty_ = float(self._model.alpha_)
        self._range = _range_of(np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def predict(self, X: ArrayLike) -> Float64Array:
        """Return the numbers (m,) of complete rows X (m, d)."""
        return np.asarray(np.clip(self._model.predict(np.asarray(X, dtype=np.float64)), *self._range))


def _range_of(y: Float64Array, weights: ArrayLike | None = None) -> tuple[float, float]:
    """Return the least and the largest of the numbers (n,) that count."""
    some = y if weights is None else y[np.asarray(weights) > 0]
    return float(some.min()), float(some.max())


def linear(*, is_number: bool) -> Any:
    """Return logistic regression, or ridge regression, with a tuned penalty; of ``View(mask=True)``."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(KnownUnits(), TunedRidge() if is_number else TunedLogistic())


def linear_svm() -> Any:
    """Return a linear support vector machine; of ``View(mask=True)``."""
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return make_pipeline(KnownUnits(), LinearSVC(C=0.1, dual="auto", max_iter=5000, random_state=0))


def extra_trees(*, is_number: bool, leaf: int = 2) -> Any:
    """Return extremely randomised trees with at least ``leaf`` rows in each leaf."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    kind = ExtraTreesRegressor if is_number else ExtraTreesClassifier
    return kind(n_estimators=TREES, min_samples_leaf=leaf, random_state=0)


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


def fit_weighted(learner: Any, X: Float64Array, y: Any, weights: Float64Array) -> None:
    """Fit a learner to complete rows that count as their weights (n,) say; DataError if it takes none.

    In a pipeline, every step that takes weights gets them; its last step must.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    core = getattr(learner, "estimator", learner)  # of one that was given probabilities
    steps = core.steps if isinstance(core, Pipeline) else [("", core)]
    if not has_fit_parameter(steps[-1][1], "sample_weight") or (core is not learner and len(steps) > 1):
        raise DataError(
            f"{type(steps[-1][1]).__name__} cannot be trained with sample_weight here; choose another model, "
            "or leave the weights out."
        )
    if len(steps) == 1:
        learner.fit(X, y, sample_weight=weights)
        return
    taken = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
    learner.fit(X, y, **{f"{name}__sample_weight": weights for name in taken})


SHARPEST = 1e4  # inverse penalty of the curve from the label's posterior mean to probabilities


class JointGaussian(BaseEstimator):  # type: ignore[misc]
    """Predict a label as one more column of a joint Gaussian, from whichever cells of a row are known.

    The classes are columns of 0 and 1 (one column for two classes), a number is itself. Prediction is the
    posterior mean of these columns: a linear discriminant, or a linear regression, whose coefficients differ
    by the pattern of holes; a number is kept within the range of those seen, as by `TunedRidge`. A logistic
    curve, fitted to the training rows without their own label, turns posterior means of classes into
    probabilities.

    Parameters
    ----------
    is_number : bool, default=False
        Whether the target is a number.

    Attributes
    ----------
    classes_ : array
        The distinct labels; of classes only.
    completer_ : GaussianCompleter
        Fitted to the columns with a value, followed by those of the label.

    Notes
    -----
    `fit` costs one fit of a `GaussianCompleter` with d + K columns, prediction one completion.
    """

    def __init__(self, *, is_number: bool = False) -> None:
        self.is_number = is_number

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n, d), NaN in the holes, and their labels y (n,)."""
        X, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        if self.is_number:
            targets = labels.astype(np.float64)[:, np.newaxis]
            self._range = _range_of(targets)
        else:
            self.classes_ = np.unique(labels)
            targets = (labels[:, np.newaxis] == self.classes_).astype(np.float64)
            targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        self._n_labels, self._measured = targets.shape[1], ~np.isnan(X).all(axis=0)  # in labelled rows
        completer = GaussianCompleter(label_trust=0.0, calibrate=False)
        self.completer_ = completer.fit(np.hstack([X[:, self._measured], targets]))
        if not self.is_number:
            self._fit_curve(X, labels)
        return self

    def predict(self, X: ArrayLike) -> Any:
        """Return the numbers, or the most probable classes, of rows X (m, d) with holes."""
        if self.is_number:
            return np.clip(self._means(X)[:, 0], *self._range)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Float64Array:
        """Return the probabilities of the classes (m, K) of rows X (m, d) with holes."""
        return np.asarray(self._curve.predict_proba(self._scaled(self._means(X))))

    def _means(self, X: ArrayLike) -> Float64Array:
        X = np.asarray(X, dtype=np.float64)[:, self._measured]
        unknown = np.full((len(X), self._n_labels), np.nan)
        return np.asarray(self.completer_.transform(np.hstack([X, unknown]))[:, X.shape[1] :])

    def _fit_curve(self, X: Float64Array, labels: Any) -> None:
        from sklearn.linear_model import LogisticRegression  # slow to import

        means = self._means(X)
        self._centre, spread = means.mean(axis=0), means.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        self._curve = LogisticRegression(C=SHARPEST, max_iter=1000).fit(self._scaled(means), labels)

    def _scaled(self, means: Float64Array) -> Float64Array:
        return (means - self._centre) / self._spread
