"""A linear model of the target, fitted on a completed table: what the label scorers look through."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.blocks import workers
from cellworth.score.round import Round

INVERSE_PENALTY = 1.0  # C of the logistic regression, on the sum of the losses, columns standardised
RIDGE = 1.0  # of the regression on a number, on the sum of the squares, columns standardised
MAX_ITERATIONS = 200


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores of rows: ``X @ coefficients + intercepts``.

    Attributes
    ----------
    coefficients : (d, K) array
        Per unit of the column; K classes, or K = 1 for a number, then in units of the target. For two classes
        the two columns are opposites, and their difference is the coefficient of the log-odds.
    intercepts : (K,) array
    """

    coefficients: Float64Array
    intercepts: Float64Array

    @property
    def knows_something(self) -> bool:
        """Whether any column matters."""
        return bool(self.coefficients.any())

    def predict(self, X: Float64Array) -> Float64Array:
        """Return the scores (m, K) of complete rows X (m, d): for a number, the number itself (K = 1)."""
        return X @ self.coefficients + self.intercepts

    def probabilities(self, X: Float64Array) -> Float64Array:
        """Return the probabilities (m, K) of the classes of complete rows X (m, d); rows sum to 1."""
        return softmax(self.predict(X), axis=1)


def fit_linear_model(this_round: Round) -> LinearModel:
    """Fit a model of the target on the completed table, on the rows that have labels.

    Logistic regression for classes (multinomial for several), ridge regression for a number; columns are
    standardised first, so that the penalty does not depend on their units. Without labels, or where all are
    the same, there is nothing to learn: then K = 1, the coefficients are 0, and so the probabilities 1.
    Deterministic. Costs some tens of passes over the labelled rows, and K times that for K > 2 classes.
    """
    X = this_round.completed
    labelled = np.zeros(len(X), dtype=bool) if this_round.y is None else ~np.isnan(this_round.y)
    y = np.empty(0) if this_round.y is None else this_round.y[labelled]
    if this_round.target is None or len(np.unique(y)) < 2:
        return LinearModel(np.zeros((X.shape[1], 1)), np.zeros(1))
    scaling = Scaling.of(X, "standard")
    fit = _fit_number if this_round.target == "number" else _fit_classes
    with workers(1):  # the same sums on any machine; threads would not pay here
        coefficients, intercepts = fit((X[labelled] - scaling.offset) / scaling.width, y)
    coefficients = coefficients / scaling.width[:, np.newaxis]
    return LinearModel(coefficients, intercepts - scaling.offset @ coefficients)


def _fit_number(X: Float64Array, y: Float64Array) -> tuple[Float64Array, Float64Array]:
    from sklearn.linear_model import Ridge  # takes a while to import, and few need it

    model = Ridge(alpha=RIDGE).fit(X, y)
    return model.coef_[:, np.newaxis], np.atleast_1d(model.intercept_)


def _fit_classes(X: Float64Array, y: Float64Array) -> tuple[Float64Array, Float64Array]:
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # Classes that can be told apart fully are approached slowly; the direction is known long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=MAX_ITERATIONS).fit(X, y.astype(np.int64))
    coefficients, intercepts = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn gives the log-odds of the second class only
        coefficients = np.hstack([-coefficients, coefficients]) / 2
        intercepts = np.hstack([-intercepts, intercepts]) / 2
    return coefficients, intercepts
