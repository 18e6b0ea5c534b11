r"""What a cell of each column does to the predictions of a model, beyond what chance would show.

With two draws of the posterior of some rows, A and B, the total effect of column j (Jansen) is half the mean
square of :math:`f(A) - f(A_j)`, where :math:`A_j` is A with column j taken from B. Divided by the mean share
of the column's variance that is unexplained in these rows, it is the effect of a cell of which nothing is
known.

A model finds something in every column, the more the fewer its rows: trees of a few hundred rows move with
columns that have nothing to do with the label. How far shows a model of the same rows whose labels are
shuffled. With the effects :math:`e_j` of the model and :math:`c_j` of that one, the share
:math:`e_j/(e_j + c_j)` of an effect is taken to be real: nearly all of a large one, and less than half of one
that is smaller than chance makes it.

References
----------
M. J. W. Jansen, "Analysis of variance designs for model output", Computer Physics Communications 117 (1999).

A. Altmann et al., "Permutation importance: a corrected feature importance measure", Bioinformatics 26 (2010),
compare with shuffled labels, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, FloatArray
from cellworth.model import Candidate, FittedModel, fit_candidate

PREDICTED_AT_ONCE = 10_000
"""About how many rows the model predicts in one call: a forest's calls are slow, and rows take memory."""


def fit_with_chance(
    candidate: str | Candidate,
    completer: Any,
    X: FloatArray,
    y: Float64Array,
    *,
    is_number: bool,
    seed: int,
) -> tuple[FittedModel, FittedModel]:
    """Return a model of rows X (n, d) and labels y (n,), NaN where not used, and one of shuffled labels.

    See `fit_candidate` for the parameters. Two fits.
    """
    used = ~np.isnan(y)
    shuffled = y.copy()
    shuffled[used] = np.random.default_rng(seed).permutation(y[used])
    model, by_chance = (
        fit_candidate(candidate, completer, X, each, is_number=is_number, seed=seed) for each in (y, shuffled)
    )
    return model, by_chance


def effects_beyond_chance(
    models: tuple[FittedModel, FittedModel],
    draws: Float64Array,
    holes: BoolArray,
    unexplained: Float64Array,
) -> Float64Array:
    """Return the real part of the effect (d,) of a cell in each column; 0 where nothing is missing.

    Parameters
    ----------
    models : (FittedModel, FittedModel)
        Of the labels, and of shuffled ones; see `fit_with_chance`.
    draws : (2, m, d) array
        Of the posterior of some rows.
    holes, unexplained : (m, d) arrays
        Which of their cells are missing, and what share of the column's variance is not known of each.

    Notes
    -----
    Each model predicts the m rows once for every column.
    """
    found, by_chance = (column_effects(model, draws, holes, unexplained) for model in models)
    return found * np.divide(found, found + by_chance, out=np.zeros_like(found), where=found > 0)


def column_effects(
    model: FittedModel, draws: Float64Array, holes: BoolArray, unexplained: Float64Array
) -> Float64Array:
    """Return the effect (d,) of a cell in each column on one model, chance included."""
    (m, d), (first, second) = holes.shape, draws
    of_first = model.predict_complete(first)
    effects = np.zeros(d)
    columns = np.flatnonzero(holes.any(axis=0))
    if not len(columns):
        return effects
    for some in np.array_split(columns, max(1, len(columns) * m // PREDICTED_AT_ONCE)):
        of, open_rows = np.nonzero(holes[:, some].T)
        changed = first[open_rows]
        changed[np.arange(len(of)), some[of]] = second[open_rows, some[of]]
        moved = model.predict_complete(changed) - of_first[open_rows]
        squares = (moved**2).reshape(len(of), -1).sum(axis=1)
        unknown = unexplained[open_rows, some[of]]
        sums = [np.bincount(of, each, minlength=len(some)) for each in (squares, unknown)]
        effects[some] = sums[0] / 2 / np.maximum(sums[1], 1e-12)
    return effects
