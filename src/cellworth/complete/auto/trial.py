"""A table with some of its observed cells hidden, and how well a completer fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.hold_out import SHARE
from cellworth.complete.labels import Labels
from cellworth.complete.scaling import Scaling

Array = NDArray[np.floating]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """What is to be completed.

    Attributes
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array or None
    labels : Labels or None
        The same, coded.
    scaling : Scaling
        The units in which errors are counted: standard deviations of the columns.
    """

    X: Array
    y: NDArray[Any] | None
    labels: Labels | None
    scaling: Scaling


@dataclass(frozen=True)
class Trial:
    """Rows of a table with a tenth of the observed cells hidden.

    Attributes
    ----------
    holed : (m, d) array
        In the user's units, NaN in the holes and in the hidden cells.
    y : (m,) array or None
    truth : (m, d) array
        The rows before.
    hidden : (m, d) bool array
    width : (d,) array
        The unit of each column's error.
    """

    holed: Array
    y: NDArray[Any] | None
    truth: Array
    hidden: Mask
    width: Array

    @property
    def n_hidden(self) -> int:
        """How many cells are hidden."""
        return int(self.hidden.sum())

    def losses(self, completed: Array) -> Array:
        """Return each row's squared error over its hidden cells, (m,), in units of the columns' variances."""
        misses = np.where(self.hidden, (completed - self.truth) / self.width, 0.0)
        return np.einsum("ij,ij->i", misses, misses, dtype=np.float64)


def make_trial(task: Task, most_rows: int, rng: np.random.Generator) -> Trial:
    """Hide observed cells of at most about ``most_rows`` rows, at random.

    Each column keeps at least one observed cell, and at least one cell is hidden if any can be.
    """
    rows = _some_rows(~np.isnan(task.X), most_rows, rng)
    truth = task.X[rows]
    hidden = _hide(~np.isnan(truth), rng)
    return Trial(
        holed=np.where(hidden, truth.dtype.type(np.nan), truth),
        y=_labels_of(task, rows),
        truth=truth,
        hidden=hidden,
        width=task.scaling.width,
    )


def _some_rows(observed: Mask, most_rows: int, rng: np.random.Generator) -> Index:
    """Return rows, sorted: all, or so many at random, and one more for each column that would be empty."""
    n = len(observed)
    if n <= most_rows:
        return np.arange(n)
    rows = rng.choice(n, most_rows, replace=False)
    empty = ~observed[rows].any(axis=0)
    return np.unique(np.concatenate([rows, observed[:, empty].argmax(axis=0)]))


def _hide(observed: Mask, rng: np.random.Generator) -> Mask:
    eligible = observed.copy()
    eligible[observed.argmax(axis=0), np.arange(observed.shape[1])] = False
    draw = np.where(eligible, rng.random(observed.shape), 1.0)
    hidden = draw < SHARE
    if not hidden.any() and eligible.any():
        hidden.flat[draw.argmin()] = True
    return hidden


def _labels_of(task: Task, rows: Index) -> NDArray[Any] | None:
    """Return the labels of some rows; None where they do not differ, so that nothing can be learned."""
    if task.y is None or task.labels is None:
        return None
    known = task.labels.targets[rows][task.labels.labelled[rows]]
    return task.y[rows] if len(known) and (known != known[0]).any() else None
