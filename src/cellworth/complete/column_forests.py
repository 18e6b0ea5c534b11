"""One forest of extra trees for each column of a table, on what a Gaussian says of the others.

A tree sees the row as the Gaussian completes it without the column, the Gaussian's guess of the column, and
the guess's standard deviation. So every row has all features, those of new rows and of rows with few cells
too; and where relations are linear, the guess is all that the tree needs.

Trees are grown on bootstrap samples of the rows where the column is observed. The trees that did not see a
row predict it (out of bag). These predictions tell how far to move from the guess towards the forest: by the
weight in [0, 1] with the least squared error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.hold_out import sample_rows

MIN_CELLS = 30  # of a column; with fewer, its guesses are kept
PRIOR_CELLS = 20.0  # weight of the guess against the forest, in cells
MOST_ROWS = 20_000  # to grow a forest on
MOST_FEATURES = 30  # considered for a split
LEAF_CELLS = 3


@dataclass(frozen=True)
class ColumnForest:
    """The forest of one column and its weight beside the Gaussian's guess; no forest if it is 0."""

    forest: Any
    weight: float

    def predict(self, features: FloatArray) -> FloatArray:
        """Return the predictions for rows of features (m, d + 1), in scaled units."""
        guess: FloatArray = features[:, -2]
        if self.forest is None or not len(features):
            return guess
        moved: FloatArray = guess + self.weight * (self.forest.predict(features) - guess)
        return moved


@dataclass(frozen=True)
class ForestFit:
    """The forests of all columns, and the out-of-bag predictions of observed cells.

    Attributes
    ----------
    forests : tuple of ColumnForest
    rows : (m,) int array
        The rows that they were grown on.
    predictions : (m, d) array
        In scaled units; 0 in the holes.
    """

    forests: tuple[ColumnForest, ...]
    rows: IntArray
    predictions: FloatArray


def features_without(
    j: int, fitted: FittedGaussian, cells: Cells, guess: FloatArray, deviation: FloatArray
) -> FloatArray:
    """Return the features (m, d + 1) of column j: the other columns' scores, the guess, its deviation."""
    observed = cells.observed.copy()
    observed[:, j] = False
    scores = fitted.complete(Cells(np.where(observed, cells.scores, 0), observed))
    return np.column_stack([np.delete(scores, j, axis=1), guess, deviation])


def grow_forests(
    fitted: FittedGaussian,
    cells: Cells,
    values: FloatArray,
    guesses: Posterior,
    n_trees: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> ForestFit:
    """Grow the forests.

    Parameters
    ----------
    cells : Cells
        Without labels, (n, d).
    values : (n, d) array
        Scaled.
    guesses : Posterior
        Of each observed cell from the others of its row, in scaled units.

    Notes
    -----
    d completions, then O(t f m log m) for each column: t trees on m rows with f features a split.
    """
    rows = sample_rows(len(values), MOST_ROWS, rng)
    scores, observed, truth = cells.scores[rows], cells.observed[rows], values[rows]
    mean, deviation = guesses.mean[rows], np.sqrt(guesses.variance[rows])
    d = values.shape[1]
    seeds: list[int] = np.asarray(rng.integers(2**31, size=d)).tolist()
    predictions = np.where(observed, mean, 0.0)
    forests = []
    for j in range(d):
        at = observed[:, j]
        part = Cells(scores[at], observed[at])
        if at.sum() < MIN_CELLS or np.ptp(truth[at, j]) == 0 or d == 1:
            forests.append(ColumnForest(None, 0.0))
            continue
        features = features_without(j, fitted, part, mean[at, j], deviation[at, j])
        forest, predictions[at, j] = _grow(features, truth[at, j], n_trees, seeds[j], n_jobs)
        forests.append(forest)
    return ForestFit(tuple(forests), rows, predictions)


def _grow(
    features: FloatArray, truth: FloatArray, n_trees: int, seed: int, n_jobs: int | None
) -> tuple[ColumnForest, FloatArray]:
    """Return the forest of a column, and its out-of-bag predictions (m,) moved from the guess."""
    from sklearn.ensemble import ExtraTreesRegressor  # takes long to import

    forest = ExtraTreesRegressor(
        n_estimators=n_trees,
        min_samples_leaf=LEAF_CELLS,
        max_features=min(1.0, MOST_FEATURES / features.shape[1]),
        bootstrap=True,
        oob_score=True,
        random_state=seed,
        n_jobs=n_jobs,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with few trees some rows are never out of bag
        forest.fit(features, truth)
    forest.set_params(n_jobs=1)  # threads would add up the trees in any order
    guess = features[:, -2]
    seen: BoolArray = forest.oob_prediction_ != 0  # 0 where a row is never out of bag
    step = np.where(seen, forest.oob_prediction_ - guess, 0.0)
    along, square = float(np.vdot(step, truth - guess)), float(np.vdot(step, step))
    weight = min(1.0, max(0.0, along / square)) if square > 0 else 0.0
    weight *= len(truth) / (len(truth) + PRIOR_CELLS)
    kept = ColumnForest(forest if weight > 0 else None, weight)
    return kept, guess + weight * step


def predict_holes(
    forests: tuple[ColumnForest, ...],
    fitted: FittedGaussian,
    cells: Cells,
    mean: FloatArray,
    variance: FloatArray,
) -> FloatArray:
    """Return the table (n, d) in scaled units with its holes predicted by the forests.

    ``mean`` and ``variance`` (n, d) are the Gaussian's, in scaled units. Two completions; O(t log m) for
    each hole.
    """
    scores = fitted.complete(cells)
    filled = mean.copy()
    for j, forest in enumerate(forests):
        at = ~cells.observed[:, j]
        if forest.forest is not None and at.any():
            others = np.delete(scores[at], j, axis=1)
            features = np.column_stack([others, mean[at, j], np.sqrt(variance[at, j])])
            filled[at, j] = forest.predict(features)
    return filled
