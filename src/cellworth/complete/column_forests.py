"""Forests of extra trees for the columns of a table, on what a Gaussian says of the others.

A tree sees the row as it is completed without the column, the Gaussian's guess of the column, and the guess's
standard deviation. So every row has all features, those of new rows and of rows with few cells too; and where
relations are linear, the guess is all that the tree needs.

In the first round the Gaussian completes the row, in each further one the forests of the round before, which
never see the cell that is to be predicted. A tree sees four fifths of the rows where the column is observed,
and the trees that did not see a row predict it. These predictions tell how far to move from those of the
round before (the guesses, in the first) towards the forest: by the weight in [0, 1] with the least squared
error. A round that gains little is the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from joblib import effective_n_jobs

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.thread_engine import worker_threads
from cellworth.complete.extra_trees import ExtraTrees, grow_trees
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian, Posterior
from cellworth.complete.hold_out import sample_rows

MIN_CELLS = 30  # of a column; with fewer, its guesses are kept
PRIOR_CELLS = 20.0  # weight of the guess against the forest, in cells
MOST_ROWS = 20_000  # to grow a forest on
MOST_FEATURES = 30  # considered for a split
LEAF_CELLS = 2
SHARE_OF_ROWS = 0.8  # that a tree sees
ROUNDS = 3
FEATURE_TREES = 15  # of a forest that completes the rows of the next round: more do not help it
LEAST_GAIN = 0.02  # of the squared error, for another round
FAR = 5.0  # standard deviations: larger errors count as this for the gain
GROUP_CELLS = 100_000  # of the rows of columns that are completed together
MOST_KEPT = 10_000_000  # numbers: rows are kept as a round has completed them, unless they are more


@dataclass(frozen=True)
class ColumnForest:
    """The forest of one column in one round and its weight beside the prediction before; None if it is 0."""

    forest: ExtraTrees | None
    weight: float

    def predict(self, features: FloatArray, before: FloatArray) -> FloatArray:
        """Return predictions (m,), scaled, given features (m, d + 1) and those of the round before."""
        if self.forest is None or not len(features):
            return before
        moved: FloatArray = before + self.weight * (self.forest.predict(features) - before)
        return moved

    def for_features(self) -> ColumnForest:
        """Return it with as many trees as the features of another round need."""
        forest = None if self.forest is None else self.forest.first(FEATURE_TREES)
        return ColumnForest(forest, self.weight)


Round = tuple[ColumnForest, ...]


@dataclass(frozen=True)
class ForestFit:
    """The forests of all columns, and their predictions of observed cells that they did not see.

    Attributes
    ----------
    rounds : list of tuples of ColumnForest
    rows : (m,) int array
        The rows that they were grown on.
    predictions : (m, d) array
        In scaled units; 0 in the holes.
    """

    rounds: list[Round]
    rows: IntArray
    predictions: FloatArray

    @property
    def weights(self) -> FloatArray:
        """How far each column moved from the guess towards its forests, (d,)."""
        kept = [[1 - forest.weight for forest in forests] for forests in self.rounds]
        return 1 - np.prod(np.array(kept), axis=0)

    def gain(
        self, cells: Cells, values: FloatArray, guesses: Posterior, columns: IntArray
    ) -> tuple[float, float]:
        """Return the share of the guesses' squared error that the forests take away, and its standard error.

        The arguments are those of `grow_forests`. Misses by more than `FAR` deviations count as that; the
        standard error is over rows.
        """
        observed = cells.observed[self.rows] & np.isin(np.arange(values.shape[1]), columns)
        losses = [
            (np.clip(mean - values[self.rows], -FAR, FAR) ** 2 * observed).sum(axis=1)
            for mean in (guesses.mean[self.rows], self.predictions)
        ]
        total, less = float(losses[0].sum()), losses[0] - losses[1]
        if total == 0:
            return 0.0, 0.0
        return float(less.sum()) / total, float(less.std()) * len(less) ** 0.5 / total


def grow_forests(
    fitted: FittedGaussian,
    cells: Cells,
    values: FloatArray,
    guesses: Posterior,
    n_trees: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    n_rounds: int = ROUNDS,
    columns: IntArray | None = None,
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
    n_rounds : int
        At most; fewer if they gain little.
    columns : (k,) int array, optional
        Those to grow forests for; all by default. The others keep their guesses.

    Notes
    -----
    For each round and column a completion and O(t f m log m), with t trees on m rows and f features a split.
    After the first round also O(m d log m): the holes of all rows, without the column.
    """
    rows = sample_rows(len(values), MOST_ROWS, rng)
    cells, values = Cells(cells.scores[rows], cells.observed[rows]), values[rows]
    mean, deviation = guesses.mean[rows], np.sqrt(guesses.variance[rows])
    predictions = np.where(cells.observed, mean, 0.0)
    rounds: list[Round] = []

    def grow(job: tuple[list[int], list[np.random.Generator]]) -> list[ColumnForest]:
        group, draws = job
        part = kept.pop(group[0], None) or PartlyFilled.without(group, fitted, cells, values)
        part = part.after(before)
        if keep:
            kept[group[0]] = part
        forests = []
        for j, others, draw in zip(group, part.of_columns(), draws, strict=True):
            at = cells.observed[:, j]
            features = _features(others, j, mean[at, j], deviation[at, j])
            forest, predictions[at, j] = _grow(features, predictions[at, j], values[at, j], n_trees, draw)
            forests.append(forest)
        return forests

    grown_for = _with_forests(np.arange(values.shape[1]) if columns is None else columns, values, cells)
    groups = _groups(grown_for, cells.observed)
    keep = n_rounds > 1 and 4 * cells.observed.sum() * values.shape[1] <= MOST_KEPT
    kept: dict[int, PartlyFilled] = {}
    error = _error(predictions, values, cells)
    with worker_threads(int(effective_n_jobs(n_jobs))) as pool:
        while len(rounds) < n_rounds:
            before = [tuple(forest.for_features() for forest in forests) for forests in rounds]
            draws = rng.spawn(values.shape[1])
            jobs = [(group, [draws[j] for j in group]) for group in groups]
            forests = [ColumnForest(None, 0.0)] * values.shape[1]
            found = (map if pool is None else pool.map)(grow, jobs)
            for j, forest in zip(grown_for, chain.from_iterable(found), strict=True):
                forests[j] = forest
            rounds.append(tuple(forests))
            last, error = error, _error(predictions, values, cells)
            if not error < (1 - LEAST_GAIN) * last:
                break
    return ForestFit(rounds, rows, predictions)


def _with_forests(columns: IntArray, values: FloatArray, cells: Cells) -> list[int]:
    """Return those of some columns that get a forest, ascending: enough cells, and not all the same."""
    if values.shape[1] == 1:
        return []
    known = ((j, values[cells.observed[:, j], j]) for j in np.sort(columns).tolist())
    return [j for j, cells_of in known if len(cells_of) >= MIN_CELLS and np.ptp(cells_of) > 0]


def _groups(columns: Sequence[int], observed: BoolArray) -> list[list[int]]:
    """Return the columns in groups, the known rows of which have about `GROUP_CELLS` cells together."""
    groups: list[list[int]] = []
    room, counts = 0, observed.sum(axis=0) * observed.shape[1]
    for j in columns:
        if not groups or counts[j] > room:
            groups.append([])
            room = GROUP_CELLS
        groups[-1].append(j)
        room -= int(counts[j])
    return groups


@dataclass(frozen=True)
class PartlyFilled:
    """Rows with holes, and what the rounds so far say of these.

    Attributes
    ----------
    fitted : FittedGaussian
    cells : Cells
        (m, d).
    values : (m, d) array
        The cells, scaled, with anything in the holes.
    others : (m, d) array
        The features of the next round: the Gaussian's scores before the first, then values in scaled units.
    guesses : Posterior or None
        The Gaussian's, in scaled units; None before the first round.
    filled : (m, d) array or None
        After the rounds so far; likewise.
    n_rounds : int
    ends : tuple of int
        Where the rows of each column end, if they are those of `without`.
    """

    fitted: FittedGaussian
    cells: Cells
    values: FloatArray
    others: FloatArray
    guesses: Posterior | None = None
    filled: FloatArray | None = None
    n_rounds: int = 0
    ends: tuple[int, ...] = ()

    @classmethod
    def without(
        cls, columns: Sequence[int], fitted: FittedGaussian, cells: Cells, values: FloatArray
    ) -> PartlyFilled:
        """Return for each column the rows that know it, one after another, with its cells as holes.

        All together, since each call of the systems' solver takes time, however few rows it has.
        """
        rows = [np.flatnonzero(cells.observed[:, j]) for j in columns]
        every, ends = np.concatenate(rows), np.cumsum([len(at) for at in rows])
        observed = cells.observed[every]
        observed[np.arange(len(every)), np.repeat(columns, [len(at) for at in rows])] = False
        some = Cells(np.where(observed, cells.scores[every], 0), observed)
        return cls(fitted, some, values[every], fitted.complete(some), ends=tuple(ends.tolist()))

    def of_columns(self) -> list[FloatArray]:
        """Return the features of the next round for each column of `without`."""
        return np.split(self.others, self.ends[:-1])

    def after(self, rounds: Sequence[Round]) -> PartlyFilled:
        """Return the rows after these rounds, of which those so far are the first.

        O(t log m) for each hole and round.
        """
        if len(rounds) == self.n_rounds:
            return self
        guesses, others, filled = self.guesses, self.others, self.filled
        if guesses is None or filled is None:
            posterior = self.fitted.posterior(self.cells, others)
            guesses = Posterior(*self.fitted.mean_and_variance(posterior))
            filled = guesses.mean
        deviation = np.sqrt(guesses.variance)
        for forests in rounds[self.n_rounds :]:
            filled = filled.copy()
            for j, forest in enumerate(forests):
                at = ~self.cells.observed[:, j]
                if forest.forest is not None and at.any():
                    features = _features(others[at], j, guesses.mean[at, j], deviation[at, j])
                    filled[at, j] = forest.predict(features, filled[at, j])
            others = np.where(self.cells.observed, self.values, filled)
        return replace(self, others=others, guesses=guesses, filled=filled, n_rounds=len(rounds))


def predict_holes(
    rounds: Sequence[Round], fitted: FittedGaussian, cells: Cells, values: FloatArray, guesses: Posterior
) -> FloatArray:
    """Return a table (n, d) in scaled units with its holes predicted by the forests.

    ``values`` (n, d) are the cells, scaled, with anything in the holes; ``guesses`` the Gaussian's.
    """
    part = PartlyFilled(fitted, cells, values, fitted.complete(cells), guesses, guesses.mean)
    filled = part.after(rounds).filled
    return guesses.mean if filled is None else filled


def _features(others: FloatArray, j: int, guess: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return the features (m, d + 1) of column j: the other columns, the guess, its deviation."""
    return np.column_stack([others[:, :j], others[:, j + 1 :], guess, deviation])


def _grow(
    features: FloatArray, before: FloatArray, truth: FloatArray, n_trees: int, rng: np.random.Generator
) -> tuple[ColumnForest, FloatArray]:
    """Return the forest of a column, and the predictions (m,) of rows left out, moved from those before."""
    grown = grow_trees(
        features,
        truth,
        n_trees=n_trees,
        n_rows=max(1, round(SHARE_OF_ROWS * len(truth))),
        leaf=LEAF_CELLS,
        most_features=MOST_FEATURES,
        rng=rng,
    )
    step = np.where(grown.n_left_out > 0, grown.left_out - before, 0.0)
    along, square = float(np.vdot(step, truth - before)), float(np.vdot(step, step))
    weight = min(1.0, max(0.0, along / square)) if square > 0 else 0.0
    weight *= len(truth) / (len(truth) + PRIOR_CELLS)
    return ColumnForest(grown.trees if weight > 0 else None, weight), before + weight * step


def _error(predictions: FloatArray, values: FloatArray, cells: Cells) -> float:
    """Return the squared error of the predictions of observed cells."""
    off = np.clip(predictions - values, -FAR, FAR)[cells.observed]
    return float(np.vdot(off, off))
