r"""What the training labels say about the gains that a model expects of its columns.

A model that is trained on few rows also moves with columns that tell nothing, and too little with some that
tell much; both change what cells seem worth. The labels of the training rows are independent evidence. With
nothing else known, the model expects column j to explain :math:`m_j` of the variance of the label; a
regression of the labels on the column's known cells finds :math:`l_j`, with a standard error :math:`e_j`. Let
c be the ratio of their sums. If gains are off by factors :math:`t_j` of mean 1 and variance 1, then

.. math:: \hat t_j = \frac{1 + c\,m_j\,l_j / e_j^2}{1 + (c\,m_j)^2 / e_j^2}

is their best linear estimate: near 1 where labels say little, near :math:`l_j / (c\,m_j)` where they say
much. Expected gains of column j are multiplied by it, in every row.
"""

from __future__ import annotations

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.policy.decision_costs import BeliefVariance
from cellworth.policy.information import Information, adjusted, cell_lines
from cellworth.table import ColumnLayout

LEAST_TRUST = 0.05
"""A column is never written off: its gains keep this share."""
FEWEST = 10
"""Labelled cells that a column must have to say anything."""


def column_trust(
    expected: Information, layout: ColumnLayout, X: Float64Array, labels: Float64Array, *, is_number: bool
) -> Float64Array:
    """Return by what the gains of each column (p,) are to be multiplied.

    Parameters
    ----------
    expected : Information
        Of one row of which nothing is known.
    layout : ColumnLayout
    X : (n, d) array
        The encoded training rows, NaN where missing.
    labels : (n,) array
        Their labels, class numbers or numbers, NaN where missing.
    is_number : bool
    """
    p = len(layout.columns)
    labelled = ~np.isnan(labels)
    if len(np.unique(labels[labelled])) < 2:
        return np.ones(p)
    model = expected.worths(BeliefVariance())[0]
    found, errors = np.zeros(p), np.full(p, np.inf)
    for place in range(p):
        block = layout.columns_of(place)
        rows = labelled & ~np.isnan(X[:, block.start])
        if rows.sum() >= FEWEST:
            targets = _targets(labels[rows], is_number=is_number)
            found[place], errors[place] = _explained(X[rows, block], targets)
    known = np.isfinite(errors)
    if not (found[known].sum() > 0 and model[known].sum() > 0):
        return np.ones(p)
    model *= found[known].sum() / model[known].sum()
    precision = 1 / errors**2
    return np.maximum(LEAST_TRUST, (1 + model * found * precision) / (1 + model**2 * precision))


def _targets(labels: Float64Array, *, is_number: bool) -> Float64Array:
    targets = labels[:, np.newaxis] if is_number else (labels[:, np.newaxis] == np.unique(labels)) * 1.0
    return np.asarray(targets - targets.mean(axis=0))


def _explained(cells: Float64Array, targets: Float64Array) -> tuple[float, float]:
    """Return the variance of centred targets (n, K) that cells (n, width) explain, and its standard error."""
    lines, sizes = cell_lines(cells[np.newaxis])
    n, variance = len(targets), float((targets**2).sum()) / len(targets)
    if not (sizes[0] and variance > 0):
        return 0.0, np.inf
    raw = float(((lines[0] @ targets) ** 2).sum()) / (n * variance)
    share = float(adjusted(np.array([raw]), sizes, n)[0][0])
    error = np.sqrt(4 * share * (1 - share) ** 2 / n + 2 * sizes[0] / n**2)  # of an R2, for large n
    return share * variance, float(error * variance)
