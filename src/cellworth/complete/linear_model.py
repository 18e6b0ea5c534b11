"""The linear model of the target, fitted to a completed table in memory or over row blocks.

Classes use logistic regression (multinomial for more than two), numbers ridge regression. Columns are
standardised first, so that the penalty does not depend on their units. In memory, scikit-learn fits the
model. Over row blocks, the same objective is minimised by the same method, L-BFGS with the same settings:
each evaluation of the loss is one pass and one small sum. A number takes one pass.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import BoolArray, Float64Array, FloatArray
from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.engine_protocol import Blocks, Engine, Sized, add
from cellworth.blocks.thread_engine import worker_threads
from cellworth.blocks.writing import FilledPart
from cellworth.complete.labels import LabelCode, label_code
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.losses import Loss

if TYPE_CHECKING:
    from cellworth.complete.completed_blocks import CompletedBlocks

INVERSE_PENALTY = 1.0  # C of the logistic regression: sum of losses, standardised columns
RIDGE = 1.0  # of the regression for a number: sum of squares, standardised columns
MAX_ITERATIONS = 200
TOLERANCE = 1e-4  # on the gradient of the mean loss; the same over row blocks as in scikit-learn
LINE_SEARCH_STEPS = 50


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores of rows: ``X @ coefficients + intercepts``.

    Attributes
    ----------
    coefficients : (d, K) array
        Per unit of the column; K classes, or K = 1 for a number, then in units of the target. For two classes
        the two columns are opposites, and their difference is the coefficient of the log-odds.
    intercepts : (K,) array
    is_number : bool
        Whether the target is a number.
    """

    coefficients: Float64Array
    intercepts: Float64Array
    is_number: bool = False

    @property
    def knows_something(self) -> bool:
        """Whether any column matters."""
        return bool(self.coefficients.any())

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the scores (m, K) of complete rows X (m, d); for a number, its prediction (K = 1)."""
        return X @ self.coefficients + self.intercepts

    def probabilities(self, X: FloatArray) -> Float64Array:
        """Return the probabilities (m, K) of the classes of complete rows X (m, d); rows sum to 1."""
        return np.asarray(softmax(self.predict(X), axis=1))

    @classmethod
    def fit(cls, X: FloatArray, y: FloatArray | None, *, is_number: bool) -> LinearModel:
        """Fit to the labelled rows of a completed table X (n, d).

        Without labels, or if all are the same, there is nothing to learn: K = 1, the coefficients are 0, and
        the probabilities are 1. Deterministic. Takes tens of passes over the labelled rows, and K times as
        many for K > 2 classes.

        Parameters
        ----------
        y : (n,) array or None
            The number, or class numbers from 0; NaN where missing.
        """
        labelled = np.zeros(len(X), dtype=bool) if y is None else ~np.isnan(y)
        known = np.empty(0) if y is None else y[labelled]
        if len(np.unique(known)) < 2:
            return cls._nothing(X.shape[1], is_number)
        scaling = Scaling.of(X, "standard")
        fit = _fit_number if is_number else _fit_classes
        with worker_threads(1):  # the same sums on any machine; threads would not help here
            found = fit((X[labelled] - scaling.offset) / scaling.width, known)
        return cls._in_units(*found, scaling, is_number)

    @classmethod
    def fit_blocks(cls, completed: CompletedBlocks) -> LinearModel:
        """Fit to a completed table of row blocks; see `fit`."""
        d, labels = completed.shape[1], completed.summary.labels
        if labels is None or (labels.classes is not None and len(labels.classes) < 2):
            return cls._nothing(d, is_number=False)
        kind: Any = getattr(completed.completer, "target", "auto")
        code = label_code(labels, "squared", kind, f"the target {completed.source.target!r}")
        scaling = Scaling.of_sums(completed.reduce(_column_sums, ColumnSums.merged), np.float64)
        rows = completed.map(_labelled_rows, shared=(scaling, code))
        if code.classes is None:
            found = _fit_number_blocks(completed.engine, rows, d)
        else:
            found = _fit_class_blocks(completed.engine, rows, d, len(code.classes), code.n_labelled)
        return cls._in_units(*found, scaling, code.classes is None)

    @classmethod
    def fit_loss(cls, X: FloatArray, targets: FloatArray, loss: Loss, ridge: float) -> LinearModel:
        """Fit to complete rows X (n, d) by minimising the mean loss of the targets (n, K) plus a ridge.

        Columns are not standardised, and the ridge multiplies half the squared coefficients.
        """
        (n, d), q = X.shape, targets.shape[1]
        extended = np.column_stack([X, np.ones(n)])

        def mean_loss(flat: FloatArray) -> tuple[float, FloatArray]:
            coef = flat.reshape(d + 1, q)
            scores = extended @ coef
            value = loss.value(scores, targets).mean() + ridge / 2 * np.vdot(coef[:d], coef[:d])
            slope = extended.T @ loss.gradient(scores, targets) / n
            slope[:d] += ridge * coef[:d]
            return float(value), slope.ravel()

        start = np.zeros((d + 1) * q)
        found = minimize(mean_loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
        coef = found.x.reshape(d + 1, q)
        return cls(coef[:d], coef[d])

    @classmethod
    def _nothing(cls, n_columns: int, is_number: bool) -> LinearModel:
        return cls(np.zeros((n_columns, 1)), np.zeros(1), is_number)

    @classmethod
    def _in_units(
        cls, coefficients: Float64Array, intercepts: Float64Array, scaling: Scaling, is_number: bool
    ) -> LinearModel:
        """Convert the model of standardised columns to the units of the table."""
        coefficients = coefficients / scaling.width[:, np.newaxis]
        return cls(coefficients, intercepts - scaling.offset @ coefficients, is_number)


def variance_reduction(X: Float64Array, judged: Float64Array, labelled: BoolArray) -> Float64Array:
    """Return by how much each label (n,) reduces the summed variance of predictions, in units of the noise.

    Parameters
    ----------
    X : (n, d) array
    judged : (m, d) array
        The rows whose predictions count.
    labelled : (n,) array of bool
    """
    return VarianceReduction.of(X, judged, labelled).by(X)


@dataclass(frozen=True, eq=False)
class VarianceReduction:
    """By how much the label of a row reduces the summed variance of some predictions.

    Attributes
    ----------
    labelled, judged : (d, d) arrays
        The sums of the outer products of the labelled rows, and of those whose predictions count.
    """

    labelled: Float64Array
    judged: Float64Array

    @classmethod
    def of(cls, X: Float64Array, judged: Float64Array, labelled: BoolArray) -> VarianceReduction:
        """Return that of the labelled ones of rows X (n, d); see `variance_reduction`."""
        known = X[labelled]
        return cls(known.T @ known, judged.T @ judged)

    def by(self, X: Float64Array) -> Float64Array:
        """Return the reduction by the label of each row of X (m, d), in units of the noise; O(m d^2)."""
        H = self.labelled + RIDGE * np.eye(len(self.labelled))
        moved = cho_solve(cho_factor(H), X.T)
        return (moved * (self.judged @ moved)).sum(axis=0) / (1 + (X.T * moved).sum(axis=0))


def _fit_number(X: FloatArray, y: FloatArray) -> tuple[Float64Array, Float64Array]:
    from sklearn.linear_model import Ridge  # slow to import, and rarely needed

    model = Ridge(alpha=RIDGE).fit(X, y)
    return model.coef_[:, np.newaxis], np.atleast_1d(model.intercept_)


def _fit_classes(X: FloatArray, y: FloatArray) -> tuple[Float64Array, Float64Array]:
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # With separable classes convergence is slow, but the direction is known long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=MAX_ITERATIONS).fit(X, y.astype(np.int64))
    return _for_each_class(model.coef_.T, model.intercept_)


def _for_each_class(
    coefficients: Float64Array, intercepts: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return a column for each class, where two classes are given as the log-odds of the second only."""
    if len(intercepts) > 1:
        return coefficients, intercepts
    return np.hstack([-coefficients, coefficients]) / 2, np.hstack([-intercepts, intercepts]) / 2


@dataclass(frozen=True)
class Labelled(Sized):
    """The labelled rows of a block, completed and standardised, and their labels.

    Attributes
    ----------
    X : (m, d) array
    y : (m,) array
        Class numbers from 0, or the number itself.
    """

    X: Float64Array
    y: Float64Array


def _column_sums(filled: FilledPart) -> ColumnSums:
    return ColumnSums.of(filled.completed.astype(np.float64, copy=False))


def _labelled_rows(filled: FilledPart, scaling: Scaling, code: LabelCode) -> Labelled:
    targets, labelled = code.targets(filled.part.y, len(filled.completed))
    X = (filled.completed[labelled].astype(np.float64, copy=False) - scaling.offset) / scaling.width
    if code.classes is None:
        return Labelled(X, targets[labelled, 0] * code.width + code.centre)
    known = targets[labelled]
    return Labelled(X, (known[:, 0] > 0).astype(float) if known.shape[1] == 1 else known.argmax(axis=1))


def _fit_number_blocks(engine: Engine, rows: Blocks, d: int) -> tuple[Float64Array, Float64Array]:
    n, x, y, xx, xy = engine.reduce(_products, add, rows)
    x_mean, y_mean = x / n, y / n
    gram = xx - n * np.outer(x_mean, x_mean) + RIDGE * np.eye(d)
    coefficients = cho_solve(cho_factor(gram), xy - n * x_mean * y_mean)
    return coefficients[:, np.newaxis], np.atleast_1d(y_mean - x_mean @ coefficients)


def _products(rows: Labelled) -> tuple[Any, ...]:
    return len(rows.y), rows.X.sum(axis=0), rows.y.sum(), rows.X.T @ rows.X, rows.X.T @ rows.y


def _fit_class_blocks(
    engine: Engine, rows: Blocks, d: int, n_classes: int, n: int
) -> tuple[Float64Array, Float64Array]:
    """Minimise the mean loss plus the penalty by L-BFGS; two classes have one column of log-odds."""
    outputs = 1 if n_classes == 2 else n_classes
    penalty = 1 / (INVERSE_PENALTY * n)

    def objective(flat: Float64Array) -> tuple[float, Float64Array]:
        weights = flat.reshape((outputs, d + 1), order="F")
        loss, slope = engine.reduce(_loss, add, rows, shared=(weights,))
        value = loss / n + 0.5 * penalty * float(np.vdot(weights[:, :d], weights[:, :d]))
        slope = slope / n
        slope[:, :d] += penalty * weights[:, :d]
        return value, slope.ravel(order="F")

    options = {
        "maxiter": MAX_ITERATIONS,
        "maxls": LINE_SEARCH_STEPS,
        "gtol": TOLERANCE,
        "ftol": 64 * np.finfo(float).eps,
    }
    start = np.zeros(outputs * (d + 1))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    weights = found.x.reshape((outputs, d + 1), order="F")
    return _for_each_class(weights[:, :d].T, weights[:, d])


def _loss(rows: Labelled, weights: Float64Array) -> tuple[float, Float64Array]:
    """Return the sum of the losses of a block's rows and its derivative, (n_outputs, d + 1)."""
    d = rows.X.shape[1]
    scores = rows.X @ weights[:, :d].T + weights[:, d]
    if len(weights) == 1:
        signed = np.where(rows.y[:, None] > 0, -scores, scores)
        loss = float(np.logaddexp(0, signed).sum())
        slopes = 1 / (1 + np.exp(-np.clip(scores, -700, 700))) - rows.y[:, None]
    else:
        one_hot = rows.y[:, None] == np.arange(len(weights))
        loss = -float(log_softmax(scores, axis=1)[one_hot].sum())
        slopes = softmax(scores, axis=1) - one_hot
    return loss, np.hstack([slopes.T @ rows.X, slopes.sum(axis=0)[:, None]])
