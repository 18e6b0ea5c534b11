"""Evaluate a filled table: its reconstruction error, and a model trained on it, tested on unseen rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

from cellworth.arrays import FloatArray
from cellworth.simulation.hidden_truth import World


def judge(world: World, completed: FloatArray, completer: Any, model: Any) -> dict[str, float]:
    """Train a clone of the model on the filled rows, scaled to [0, 1], and evaluate both.

    Returns
    -------
    dict
        ``reconstruction_error`` over the cells whose truth is known; and on the test rows, ``accuracy``,
        ``auc`` and ``log_loss`` for classes or ``r2`` and ``rmse`` for a number.
    """
    completed, truth = world.scaled(completed), world.scaled(world.truth)
    known = ~np.isnan(truth)
    off = np.where(known, completed - truth, 0.0)
    error = float(np.linalg.norm(off) / np.linalg.norm(truth[known]))
    has_holes = bool(np.isnan(world.X_test).any())
    X_test = world.scaled(completer.transform(world.X_test) if has_holes else world.X_test)
    fitted = clone(model).fit(completed, world.y)
    of_model = _of_number if world.target == "number" else _of_classes
    return {"reconstruction_error": error} | of_model(fitted, completed, world.y, X_test, world.y_test)


def _of_number(
    model: Any, X: FloatArray, y: FloatArray, X_test: FloatArray, y_test: FloatArray
) -> dict[str, float]:
    predicted = model.predict(X_test)
    return {
        "r2": float(model.score(X_test, y_test)),
        "rmse": float(root_mean_squared_error(y_test, predicted)),
    }


def _of_classes(
    model: Any, X: FloatArray, y: FloatArray, X_test: FloatArray, y_test: FloatArray
) -> dict[str, float]:
    """Return accuracy, area under the ROC curve (one-vs-rest for several classes) and log loss.

    If the model has no probabilities, a logistic curve fitted on the training rows maps its scores to them.
    """
    several = len(model.classes_) > 2
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X_test)
        scores = probabilities if several else probabilities[:, 1]
    else:
        scores = model.decision_function(X_test)
        curve = LogisticRegression(C=1e6).fit(_as_columns(model.decision_function(X)), y)
        probabilities = curve.predict_proba(_as_columns(scores))
        scores = probabilities if several else scores
    return {
        "accuracy": float(model.score(X_test, y_test)),
        "auc": _area(y_test, scores, model.classes_),
        "log_loss": float(log_loss(y_test, probabilities, labels=model.classes_)),
    }


def _area(y: FloatArray, scores: FloatArray, classes: FloatArray) -> float:
    """Return the area under the ROC curve; NaN if a class is missing from the test rows."""
    if len(np.unique(y)) < len(classes):
        return float("nan")
    if len(classes) == 2:
        return float(roc_auc_score(y, scores))
    return float(roc_auc_score(y, scores, multi_class="ovr", labels=classes))


def _as_columns(scores: FloatArray) -> FloatArray:
    return scores[:, np.newaxis] if scores.ndim == 1 else scores
