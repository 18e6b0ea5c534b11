"""The joint Gaussian of the columns and the target: a discriminant or regression fitted by EM."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cellworth.arrays import Float64Array
from cellworth.complete import GaussianCompleter

SHARPEST = 1e4  # inverse penalty of the curve from the label's posterior mean to probabilities


class JointGaussian(BaseEstimator):  # type: ignore[misc]
    """Predict a label as one more column of a joint Gaussian, from whichever cells of a row are known.

    The classes are columns of 0 and 1 (one column for two classes), a number is itself. Prediction is the
    posterior mean of these columns: a linear discriminant, or a linear regression, whose coefficients differ
    by the pattern of holes. A logistic curve, fitted to the training rows without their own label, turns
    posterior means of classes into probabilities.

    Parameters
    ----------
    is_number : bool, default=False
        Whether the target is a number.

    Attributes
    ----------
    classes_ : array
        The distinct labels; of classes only.
    completer_ : GaussianCompleter
        Fitted to the columns followed by those of the label.

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
        else:
            self.classes_ = np.unique(labels)
            targets = (labels[:, np.newaxis] == self.classes_).astype(np.float64)
            targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        self._n_labels = targets.shape[1]
        completer = GaussianCompleter(label_trust=0.0, calibrate=False)
        self.completer_ = completer.fit(np.hstack([X, targets]))
        if not self.is_number:
            self._fit_curve(X, labels)
        return self

    def predict(self, X: ArrayLike) -> Any:
        """Return the numbers, or the most probable classes, of rows X (m, d) with holes."""
        if self.is_number:
            return self._means(X)[:, 0]
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Float64Array:
        """Return the probabilities of the classes (m, K) of rows X (m, d) with holes."""
        return np.asarray(self._curve.predict_proba(self._scaled(self._means(X))))

    def _means(self, X: ArrayLike) -> Float64Array:
        X = np.asarray(X, dtype=np.float64)
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
