"""The protocol of the paper's experiments.

Details that the paper omits were inferred by measurement: columns are scaled to [0, 1] over the whole table
before anything else; 70 % of the rows are for training and 30 % for testing; cells of the training rows are
hidden at random, and test rows stay complete; the error is taken over the whole training matrix, with
observed values kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale
from sklearn.svm import LinearSVC

from cellworth.arrays import Float64Array, IntArray
from cellworth.complete.hold_out import hide_cells
from cellworth.datasets import load
from cellworth.datasets.tables import Dataset
from cellworth.select import Poss
from cellworth.strategy import Strategy, get
from cellworth.table import Table

DATASETS = ("abalone", "letter", "image", "chess", "HillValley", "HTRU2")
"""The paper's six tables, in its order."""

TRAIN_SHARE = 0.7


def paper_classifier() -> LinearSVC:
    """Return what the paper judges purchases by: a linear SVM, C = 1, on columns scaled to [0, 1]."""
    return LinearSVC(random_state=0)


def as_published(strategy: str | Strategy) -> Strategy:
    """Return a strategy with the bi-objective search as published: its start, and as many iterations."""
    found = get(strategy)
    if found.name == "afasmc-poss":
        return replace(found, selector=Poss("paper", start="empty"))
    return found


@lru_cache(maxsize=8)
def some_rows(name: str, rows: int | None) -> Dataset:
    """Return a data set of the paper, or a fixed sample of at most ``rows`` of its rows, stratified by class.

    Cached, since a process does many runs; the seven tables take about 10 MB together.
    """
    data = load(name)
    table = data.table
    if rows is None or rows >= len(table.row_ids):
        return data
    X, y = table.values, _classes(data)
    kept, _ = train_test_split(np.arange(len(y)), train_size=rows, stratify=y, random_state=0)
    kept.sort()
    return Dataset(Table.from_arrays(X[kept], y[kept]), data.prices)


def _classes(data: Dataset) -> IntArray:
    assert data.table.y is not None  # all of the paper's tables have labels
    return data.table.y.astype(np.int64)


@dataclass(frozen=True)
class Trial:
    """One random split with holes.

    Attributes
    ----------
    truth : (n_train, d) array
        The training rows without holes, scaled to [0, 1].
    holed : (n_train, d) array
        The same with NaN in the hidden cells.
    y : (n_train,) array
    X_test, y_test : complete test rows and their labels
    """

    truth: Float64Array
    holed: Float64Array
    y: IntArray
    X_test: Float64Array
    y_test: IntArray


def make_trial(data: Dataset, observed_share: float, seed: int) -> Trial:
    """Split the rows, and hide cells of the training rows independently."""
    rng = np.random.default_rng(seed)
    X, y = minmax_scale(data.table.values), _classes(data)
    split_seed = int(rng.integers(2**31))
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=TRAIN_SHARE, random_state=split_seed, stratify=y
    )
    hidden = hide_cells(~np.isnan(X_train), rng, keep=observed_share, spare=None)
    holed = np.where(hidden, np.nan, X_train)
    return Trial(X_train, holed, y_train, X_test, y_test)


def reconstruction_error(completed: Float64Array, truth: Float64Array) -> float:
    """Return ||completed - truth||_F / ||truth||_F."""
    return float(np.linalg.norm(completed - truth) / np.linalg.norm(truth))


def svm_accuracy(completed: Float64Array, trial: Trial) -> float:
    """Return the test accuracy of a linear SVM (C = 1) trained on the completed rows."""
    classifier = LinearSVC(C=1.0, random_state=0, max_iter=10_000).fit(completed, trial.y)
    return float(classifier.score(trial.X_test, trial.y_test))
