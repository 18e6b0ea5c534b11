"""The protocol of the paper's experiments, in one place.

What the text omits was recovered by measurement: features are scaled to [0, 1] over the whole table
before anything else, 70 % of the rows train and 30 % test, cells of the training rows are hidden at
random, test rows stay complete, and the error is taken over the whole training matrix with the observed
values kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale
from sklearn.svm import LinearSVC

from cellworth.complete import SupervisedCompleter
from cellworth.paper.datasets import DataSet
from cellworth.prices import Prices
from cellworth.score import Variance
from cellworth.select import Top
from cellworth.strategy import Strategy
from cellworth.table import Table

Array = NDArray[np.float64]

TRAIN_SHARE = 0.7
WINDOWS = (2, 4, 8, 16, None)
"""Over how many of the last completions the variance goes in Figure 3; None: over all."""


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

    truth: Array
    holed: Array
    y: NDArray[np.int64]
    X_test: Array
    y_test: NDArray[np.int64]


def make_trial(data: DataSet, observed_share: float, seed: int) -> Trial:
    """Split the rows and hide cells of the training rows, each independently of all others."""
    rng = np.random.default_rng(seed)
    X = minmax_scale(data.X)
    split_seed = int(rng.integers(2**31))
    X_train, X_test, y_train, y_test = train_test_split(
        X, data.y, train_size=TRAIN_SHARE, random_state=split_seed, stratify=data.y
    )
    holed = np.where(rng.random(X_train.shape) < observed_share, X_train, np.nan)
    return Trial(X_train, holed, y_train, X_test, y_test)


def reconstruction_error(completed: Array, truth: Array) -> float:
    """Return ||completed - truth||_F / ||truth||_F."""
    return float(np.linalg.norm(completed - truth) / np.linalg.norm(truth))


def svm_accuracy(completed: Array, trial: Trial) -> float:
    """Return the share of test rows that a linear SVM (C = 1) trained on the completed rows gets right."""
    classifier = LinearSVC(C=1.0, random_state=0, max_iter=10_000).fit(completed, trial.y)
    return float(classifier.score(trial.X_test, trial.y_test))


def one_to_ten(table: Table, seed: int) -> Prices:
    """Return the prices of Figure 2: a whole number from 1 to 10 for each column, drawn at random."""
    drawn = np.random.default_rng([seed, 1]).integers(1, 11, size=len(table.columns))
    return Prices.per_column(dict(zip(table.column_names, drawn.astype(float).tolist(), strict=True)))


def windows() -> tuple[Strategy, ...]:
    """Return the strategies of Figure 3: the variance over the last 2, 4, 8, 16 and all completions."""
    return tuple(
        Strategy(
            "all completions" if m is None else f"last {m}", SupervisedCompleter(), Variance(window=m), Top()
        )
        for m in WINDOWS
    )
