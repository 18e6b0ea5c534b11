"""A trial of completers: some observed cells of a table are hidden, the same ones for all candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from cellworth.complete.categories import as_one_cell, find_categories
from cellworth.complete.hold_out import cover_columns, hide_cells, sample_rows
from cellworth.complete.labels import Labels
from cellworth.complete.scaling import Scaling

FAR = 5.0  # standard deviations: a miss by more counts as this, so that no single cell decides


@dataclass(frozen=True)
class SearchTask:
    """The table to complete, and its labels.

    Attributes
    ----------
    X : (n, d) array
        NaN in the holes.
    y : (n,) array or None
    labels : Labels or None
        The same, coded.
    scaling : Scaling
        The units of errors: standard deviations of the columns.
    """

    X: FloatArray
    y: AnyArray | None
    labels: Labels | None
    scaling: Scaling


@dataclass(frozen=True)
class HiddenTrial:
    """Rows of a table with a tenth of the observed cells hidden.

    Attributes
    ----------
    holed : (m, d) array
        In the user's units, NaN in the holes and in the hidden cells.
    y : (m,) array or None
    truth : (m, d) array
        The rows before hiding.
    hidden : (m, d) bool array
    width : (d,) array
        The unit of each column's error.
    whole : bool
        Whether these are all rows of the table.
    losses_of : dict from str to (m,) array
        The losses of candidates on it, by name.
    """

    holed: FloatArray
    y: AnyArray | None
    truth: FloatArray
    hidden: BoolArray
    width: FloatArray
    whole: bool = False
    losses_of: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def n_hidden(self) -> int:
        """Number of hidden cells."""
        return int(self.hidden.sum())

    def losses(self, completed: FloatArray) -> FloatArray:
        """Return each row's squared error over its hidden cells, (m,), in units of the columns' variances.

        No miss counts for more than `FAR` standard deviations.
        """
        with np.errstate(invalid="ignore"):  # NaN is reported as such
            misses = np.clip(np.where(self.hidden, (completed - self.truth) / self.width, 0.0), -FAR, FAR)
        return np.einsum("ij,ij->i", misses, misses, dtype=np.float64)


def make_trial(task: SearchTask, most_rows: int, rng: np.random.Generator) -> HiddenTrial:
    """Hide observed cells of at most about ``most_rows`` rows, at random.

    Each column keeps at least one observed cell, and at least one cell is hidden if any can be. The
    columns of a category are hidden together: it is one cell of the user's table.
    """
    rows = cover_columns(sample_rows(len(task.X), most_rows, rng), ~np.isnan(task.X))
    truth = task.X[rows]
    categories, eligible = find_categories(truth), ~np.isnan(truth)
    for columns in categories:  # hidden with the first of them
        eligible[:, columns.start + 1 : columns.stop] = False
    hidden = as_one_cell(hide_cells(eligible, rng, at_least_one=True), categories)
    return HiddenTrial(
        holed=np.where(hidden, truth.dtype.type(np.nan), truth),
        y=_labels_of(task, rows),
        truth=truth,
        hidden=hidden,
        width=task.scaling.width,
        whole=len(rows) == len(task.X),
    )


def _labels_of(task: SearchTask, rows: IntArray) -> AnyArray | None:
    """Return the labels of some rows; None if they are all the same, so there is nothing to learn."""
    if task.y is None or task.labels is None:
        return None
    known = task.labels.targets[rows][task.labels.labelled[rows]]
    return task.y[rows] if len(known) and (known != known[0]).any() else None
