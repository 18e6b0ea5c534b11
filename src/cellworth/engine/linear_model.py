"""The linear model of the target of `cellworth.score.linear_model`, fitted over row blocks.

The problem and the method are those of scikit-learn's ``LogisticRegression`` and ``Ridge`` with the settings
used there. For classes each evaluation of the loss is one pass and one small sum; a number takes one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from cellworth.blocks.column_sums import ColumnSums
from cellworth.blocks.protocol import Blocks, Engine, add
from cellworth.blocks.sizes import Sized
from cellworth.complete.scaling import Scaling
from cellworth.engine.filled import Filled
from cellworth.engine.labels import LabelCode, label_code
from cellworth.score.linear_model import INVERSE_PENALTY, MAX_ITERATIONS, RIDGE, LinearModel

if TYPE_CHECKING:
    from cellworth.engine.outcome import Completed

Array = NDArray[np.float64]

TOLERANCE = 1e-4  # of the gradient of the mean loss
LINE_SEARCH_STEPS = 50


@dataclass(frozen=True)
class Labelled(Sized):
    """The labelled rows of a block, completed and standardised, and their labels.

    Attributes
    ----------
    X : (m, d) array
    y : (m,) array
        Class numbers from 0, or the number itself.
    """

    X: Array
    y: Array


def fit_over_blocks(done: Completed) -> tuple[LinearModel, bool]:
    """Fit a model of the target on the completed table; also tell whether the target is a number.

    Without labels, or where all are the same, K = 1 and the coefficients are 0.
    """
    d, labels = len(done.source.columns), done.summary.labels
    nothing = LinearModel(np.zeros((d, 1)), np.zeros(1))
    if labels is None or (labels.counts is not None and len(labels.counts) < 2):
        return nothing, False
    code = label_code(labels, "squared", done.completer.target, done.source.target)
    moments: ColumnSums = done.reduce(_moments, ColumnSums.merged)
    scaling = _standard(moments)
    rows = done.map(_labelled_rows, shared=(scaling, code))
    if code.classes is None:
        coefficients, intercepts = _fit_number(done.engine, rows, d)
    else:
        coefficients, intercepts = _fit_classes(done.engine, rows, d, len(code.classes), code.n_labelled)
    coefficients = coefficients / scaling.width[:, np.newaxis]
    return LinearModel(coefficients, intercepts - scaling.offset @ coefficients), code.classes is None


def _moments(filled: Filled) -> ColumnSums:
    return ColumnSums.of(filled.completed.astype(np.float64, copy=False))


def _standard(moments: ColumnSums) -> Scaling:
    width = moments.deviation()
    smallest = np.finfo(np.float64).eps * np.maximum(np.abs(moments.mean), np.finfo(np.float64).tiny)
    return Scaling(moments.mean, np.where(width > smallest, width, 1.0))


def _labelled_rows(filled: Filled, scaling: Scaling, code: LabelCode) -> Labelled:
    targets, labelled = code.targets(filled.part.y, len(filled.completed))
    X = (filled.completed[labelled].astype(np.float64, copy=False) - scaling.offset) / scaling.width
    if code.classes is None:
        return Labelled(X, targets[labelled, 0] * code.width + code.centre)
    known = targets[labelled]
    return Labelled(X, (known[:, 0] > 0).astype(float) if known.shape[1] == 1 else known.argmax(axis=1))


def _fit_number(engine: Engine, rows: Blocks, d: int) -> tuple[Array, Array]:
    n, x, y, xx, xy = engine.reduce(_products, add, rows)
    x_mean, y_mean = x / n, y / n
    gram = xx - n * np.outer(x_mean, x_mean) + RIDGE * np.eye(d)
    coefficients = cho_solve(cho_factor(gram), xy - n * x_mean * y_mean)
    return coefficients[:, np.newaxis], np.atleast_1d(y_mean - x_mean @ coefficients)


def _products(rows: Labelled) -> tuple[Any, ...]:
    return len(rows.y), rows.X.sum(axis=0), rows.y.sum(), rows.X.T @ rows.X, rows.X.T @ rows.y


def _fit_classes(engine: Engine, rows: Blocks, d: int, n_classes: int, n: int) -> tuple[Array, Array]:
    """Minimise the mean loss plus the penalty by L-BFGS; two classes have one column of log-odds."""
    outputs = 1 if n_classes == 2 else n_classes
    penalty = 1 / (INVERSE_PENALTY * n)

    def objective(flat: Array) -> tuple[float, Array]:
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
    coefficients, intercepts = weights[:, :d].T, weights[:, d]
    if outputs == 1:
        coefficients = np.hstack([-coefficients, coefficients]) / 2
        intercepts = np.hstack([-intercepts, intercepts]) / 2
    return coefficients, intercepts


def _loss(rows: Labelled, weights: Array) -> tuple[float, Array]:
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
