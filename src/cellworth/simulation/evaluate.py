"""Evaluate a filled table: its reconstruction error, and a model trained on it, tested on unseen rows.

The model of a simulation is a function of its world, so the same for all strategies.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, r2_score, roc_auc_score, root_mean_squared_error

from cellworth.arrays import AnyArray, FloatArray
from cellworth.blocks.thread_engine import one_core
from cellworth.complete import GaussianCompleter
from cellworth.errors import ParameterError
from cellworth.messages import shorten
from cellworth.model import Candidate, choose_model, fit_candidate
from cellworth.model.candidates import candidate_named
from cellworth.model.cross_validation import scorable
from cellworth.simulation.hidden_truth import World
from cellworth.table import Table

FOLDS = 3
LEAST_TO_SPLIT = 40
"""Boosted trees have 20 rows in a leaf: with fewer rows than two leaves they say the same of all."""
MOST_REMEMBERED = 100
_chosen: dict[bytes, Candidate] = {}


def judge(
    world: World,
    X: FloatArray,
    completed: FloatArray,
    completer: Any,
    model: Any,
    y: FloatArray | None = None,
) -> dict[str, float]:
    """Train a model on the training rows, and evaluate it and the completion.

    Parameters
    ----------
    world : World
    X : (n, d) array
        The training rows as they are now, NaN in the holes.
    completed : (n, d) array
        The same, filled.
    completer : estimator or None
        Fitted to X; None if neither X nor the test rows have holes.
    model : Candidate or estimator
        A candidate of `cellworth.model` is trained as `fit_candidate` does. Of an estimator, a clone is
        trained on the filled rows, scaled to [0, 1].
    y : (n,) array, optional
        The labels as they are now, NaN where missing: these rows are not trained on. By default all of them.

    Returns
    -------
    dict
        ``reconstruction_error`` over the cells whose truth is known; and on the test rows, ``accuracy``,
        ``auc`` and ``log_loss`` for classes or ``r2`` and ``rmse`` for a number.
    """
    error = {"reconstruction_error": _reconstruction_error(world, completed)}
    y = world.y if y is None else y
    if isinstance(model, Candidate):
        return error | _of_candidate(world, X, y, completer, model)
    labelled = ~np.isnan(y)
    completed, y = world.scaled(completed[labelled]), y[labelled]
    has_holes = bool(np.isnan(world.X_test).any())
    X_test = world.scaled(completer.transform(world.X_test) if has_holes else world.X_test)
    fitted = clone(model).fit(completed, y)
    if world.target == "number":
        return error | _of_numbers(world.y_test, fitted.predict(X_test))
    return error | _of_classifier(fitted, completed, y, X_test, world.y_test)


def check_model(table: Table, model: Any | None) -> None:
    """Raise ParameterError if a classifier is to predict a number, or a regressor classes."""
    if model is None or table.target is None or isinstance(model, Candidate):
        return
    name, target = type(model).__name__, f"the target {shorten(table.target.name)}"
    if table.target.is_number and is_classifier(model):
        raise ParameterError(
            f"{target} is a number, but {name} predicts classes. Pass a regressor, such as Ridge(), or leave "
            "classifier out. If the numbers are classes, make the Table with target_kind='several classes'."
        )
    if not table.target.is_number and is_regressor(model):
        raise ParameterError(
            f"{target} has {table.target.kind}, but {name} predicts numbers. Pass a classifier, such as "
            "LogisticRegression(), or leave it out. For a number, make the Table with target_kind='number'."
        )


def name_of(model: Any) -> str:
    """Return the name of a candidate, or of the class of an estimator."""
    return model.name if isinstance(model, Candidate) else type(model).__name__


def _reconstruction_error(world: World, completed: FloatArray) -> float:
    completed, truth = world.scaled(completed), world.scaled(world.truth)
    known = ~np.isnan(truth)
    off = np.where(known, completed - truth, 0.0)
    return float(np.linalg.norm(off) / np.linalg.norm(truth[known]))


def _of_candidate(
    world: World, X: FloatArray, y: FloatArray, completer: Any, model: Candidate
) -> dict[str, float]:
    is_number = world.target == "number"
    # A class may be in the test rows alone.
    classes = np.unique(np.concatenate([world.y, world.y_test])).astype(np.intp)
    n_classes = None if is_number else int(classes.max()) + 1
    fitted = fit_candidate(model, completer, X, y, is_number=is_number, n_classes=n_classes)
    with one_core():
        predicted = fitted.predict(world.X_test)
    if is_number:
        return _of_numbers(world.y_test, predicted[:, 0])
    probabilities = predicted[:, classes]
    right = classes[probabilities.argmax(axis=1)] == world.y_test
    return {
        "accuracy": float(right.mean()),
        "auc": _area(world.y_test, probabilities if len(classes) > 2 else probabilities[:, 1], classes),
        "log_loss": float(log_loss(world.y_test, probabilities, labels=classes)),
    }


def _of_numbers(y: FloatArray, predicted: FloatArray) -> dict[str, float]:
    return {"r2": float(r2_score(y, predicted)), "rmse": float(root_mean_squared_error(y, predicted))}


def _of_classifier(
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


def _area(y: FloatArray, scores: FloatArray, classes: AnyArray) -> float:
    """Return the area under the ROC curve; NaN if a class is missing from the test rows."""
    if len(np.unique(y)) < len(classes):
        return float("nan")
    if len(classes) == 2:
        return float(roc_auc_score(y, scores))
    return float(roc_auc_score(y, scores, multi_class="ovr", labels=classes))


def _as_columns(scores: FloatArray) -> FloatArray:
    return scores[:, np.newaxis] if scores.ndim == 1 else scores


def judges(*, is_number: bool) -> list[Candidate]:
    """Return the models to choose from: a linear one and two of trees, all trained on the completion.

    Views of the holes themselves are left out: a judge should see what a strategy's completer makes of the
    purchases, and a model that is trained again in every round should be cheap.
    """
    linear = "ridge regression" if is_number else "logistic regression"
    return [candidate_named(name, is_number=is_number) for name in (linear, "extra trees", "boosted trees")]


def choose_judge(world: World, seed: int) -> Candidate:
    """Return the model that cross-validation on the training rows, as they are at the start, chooses.

    Holes are filled by ``GaussianCompleter(label_trust=0.0)``, whatever a strategy's completer is. With too
    few labels to choose on, it is the linear model; with few, no boosted trees are tried.

    Notes
    -----
    Costs `FOLDS` fits of the completer and of each model; see `choose_model`. The choice is remembered, as
    strategies are played in the same worlds one after another.
    """
    mark = hashlib.sha256(repr((world.start.shape, world.target, world.layout, seed)).encode())
    mark.update(world.start.tobytes() + world.y_at_start.tobytes())
    if mark.digest() not in _chosen:
        if len(_chosen) >= MOST_REMEMBERED:
            _chosen.clear()
        _chosen[mark.digest()] = _choose(world, seed)
    return _chosen[mark.digest()]


def _choose(world: World, seed: int) -> Candidate:
    is_number = world.target == "number"
    models = judges(is_number=is_number)
    labels = world.y[~world.hidden_labels]
    if not scorable(labels, classes=not is_number):
        return models[0]
    if len(labels) * (1 - 1 / FOLDS) < LEAST_TO_SPLIT:
        models = [each for each in models if each.name != "boosted trees"]
    return choose_model(
        world.start,
        world.y_at_start,
        is_number=is_number,
        completer=GaussianCompleter(label_trust=0.0),
        candidates=models,
        averages=False,
        folds=FOLDS,
        seed=seed,
        cell_of=world.layout.owner,
    ).candidate
