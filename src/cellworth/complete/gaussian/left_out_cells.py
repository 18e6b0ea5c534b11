"""Observed cells that are predicted from the others of their rows, and what they can tell of a hole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.categories import find_categories

DETERMINED = 0.05  # share of a column's variance that the other columns leave


class LeftOut(NamedTuple):
    """Observed cells of some rows (m, d), each predicted from the others of its row; 0 in the holes.

    Attributes
    ----------
    values : the cells in the user's units
    scores : the same as the model sees them
    mean, variance : of the prediction of each score
    distance : squared Mahalanobis distance of the others from the mean
    others : their number
    leverage : of the row in the prediction
    observed : bool array
    """

    values: FloatArray
    scores: FloatArray
    mean: FloatArray
    variance: FloatArray
    distance: FloatArray
    others: FloatArray
    leverage: FloatArray
    observed: BoolArray

    def standardised_squares(self) -> FloatArray:
        """Return the squared errors of the observed cells over their variances, (k,)."""
        errors = self.scores - self.mean
        errors *= errors
        np.divide(errors, self.variance, where=self.observed, out=errors)
        return np.asarray(errors[self.observed])

    def without_own_row(self) -> LeftOut:
        """Return the cells with errors and variances as those of a fit without their row.

        The errors are moved by moving the scores. Predictions stay as they are: without its row, that of a
        large value would be smaller, and cells would be sorted by their own values.
        """
        rest = 1 - self.leverage
        moved = self.mean + (self.scores - self.mean) / rest
        return self._replace(scores=np.where(self.observed, moved, 0), variance=self.variance / rest)


def of_category(cells: LeftOut) -> BoolArray:
    """Return which columns (d,) are those of a category.

    Left out one at a time, such a cell is known from the others of its category, which are missing where it
    is. So it says nothing of a hole, whose variance is that of the model. O(n d).
    """
    found = np.zeros(cells.observed.shape[1], dtype=bool)
    for columns in find_categories(np.where(cells.observed, cells.values, np.nan)):
        found[columns] = True
    return found


def determined(cells: LeftOut, j: int) -> bool:
    """Return whether the other columns determine a column, as those of a category do.

    Such a cell is left out with the others at hand, and says nothing of a hole, where they are missing, too.
    """
    at = cells.observed[:, j]
    return bool(np.median(cells.variance[at, j]) <= DETERMINED * np.var(cells.scores[at, j]))


def believed_ranges(cells: LeftOut, bounded: BoolArray) -> FloatArray:
    """Return the range of each column's scores, (2, d), infinite if predictions beyond it are believed.

    A row far from the mean in other columns may be predicted far beyond what the column ever had. Where rows
    are in proportion that is right, elsewhere it is not, and never in a ``bounded`` column (d,), where many
    cells share a value. In others each left-out cell is compared with the range of the other cells, and the
    ends must be better by more than two standard errors.
    """
    scores, mean, observed = cells.scores, cells.mean, cells.observed
    limits = np.repeat([[-np.inf], [np.inf]], scores.shape[1], axis=1)
    if not len(scores):
        return limits
    least, second = _two_least(scores, observed)
    largest, last = (-ends for ends in _two_least(-scores, observed))
    low, high = np.where(scores == least, second, least), np.where(scores == largest, last, largest)
    gains = np.where(observed, (scores - mean) ** 2 - (scores - np.clip(mean, low, high)) ** 2, 0)
    better = bounded | (gains.sum(axis=0) > 2 * np.sqrt(np.square(gains).sum(axis=0)))
    better &= observed.sum(axis=0) >= 3
    limits[:, better] = least[better], largest[better]
    return limits


def _two_least(scores: FloatArray, observed: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the second score of each column, (d,) each; the same if two cells have it."""
    known = np.where(observed, scores, np.inf)
    least = known.min(axis=0)
    ends = known == least
    second = np.where(ends, np.inf, known).min(axis=0)
    return least, np.where(ends.sum(axis=0) > 1, least, second)
