"""The rule for columns that nobody has measured yet: some of their cells are bought before all others."""

from __future__ import annotations

import numpy as np

from cellworth.arrays import BoolArray, Float64Array

FIRST_CELLS = 10
"""How many cells of an unmeasured column are bought first."""
AHEAD = 1000.0
"""How many times the worth of the best other cell they are worth."""


def explored(scores: Float64Array, unmeasured: BoolArray, rng: np.random.Generator) -> Float64Array:
    """Return scores (n, p) in which `FIRST_CELLS` cells of each unmeasured column come first.

    No model can tell what a column is worth before it has seen some of it. The cells are in rows drawn at
    random; all others of the column are worth as much as the average hole elsewhere.

    Parameters
    ----------
    scores : (n, p) array
        The worth of each cell; 0 for known cells.
    unmeasured : (p,) array of bool
        Columns without a known value.
    rng : Generator
        Drawn from only if there are such columns.
    """
    if not unmeasured.any():
        return scores
    others = scores[:, ~unmeasured]
    worth = others[others > 0]
    average, best = (float(worth.mean()), float(worth.max())) if worth.size else (1.0, 1.0)
    scores = scores.copy()
    scores[:, unmeasured] = average
    for j in np.flatnonzero(unmeasured):
        scores[rng.permutation(len(scores))[:FIRST_CELLS], j] = AHEAD * best
    return scores
