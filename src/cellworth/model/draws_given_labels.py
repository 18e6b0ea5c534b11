"""Draws of the missing cells of training rows, given their labels.

A label tells something of the cells that are missing. Draws that ignore it have nothing to do with it, and a
learner that is trained on them takes the columns for less than they are: with half of the cells drawn like
that, half of what a column does is lost. So the label belongs into the model that draws (Moons et al., "Using
the outcome for imputation of missing predictor values was preferred", Journal of Clinical Epidemiology 59,
2006). Means are different: the mean given the other cells is what a linear model needs, and a mean given the
label would give the label away.

A number is one more column of the completer. Classes may differ in more than their means, so the rows of a
class are drawn by a completer of their own where there are enough of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from cellworth.arrays import Float64Array

LEAST_ROWS = 30
"""A class with fewer rows has no completer of its own."""
LEAST_KNOWN = 5
"""A column with fewer known cells in a class is drawn as in all rows."""


def takes_labels(completer: Any) -> bool:
    """Return whether a completer draws, and can be told how far to trust labels."""
    return hasattr(completer, "sample") and "label_trust" in getattr(completer, "get_params", dict)()


def draw_given_labels(
    completer: Any, X: Float64Array, y: Float64Array, n_draws: int, seed: int, *, is_number: bool
) -> Float64Array:
    """Return draws (n_draws, n, d) of rows X (n, d), NaN in the holes, given labels y (n,), NaN if missing.

    ``completer``, one that `takes_labels`, is not changed: a clone is fitted to all rows with their labels,
    and another to the rows of each class. Costs about two fits.
    """
    kind = "number" if is_number else "classes"
    whole = clone(completer).set_params(label_trust=1.0, target=kind).fit(X, y)
    drawn = np.asarray(whole.sample(n_draws, seed), dtype=np.float64)
    if is_number:
        return drawn
    for value in np.unique(y[~np.isnan(y)]):
        rows = np.flatnonzero(y == value)
        columns = np.flatnonzero((~np.isnan(X[rows])).sum(axis=0) >= LEAST_KNOWN)
        if len(rows) < LEAST_ROWS or not len(columns):
            continue
        own = clone(completer).set_params(label_trust=0.0).fit(X[np.ix_(rows, columns)])
        drawn[np.ix_(np.arange(n_draws), rows, columns)] = own.sample(n_draws, seed)
    return drawn
