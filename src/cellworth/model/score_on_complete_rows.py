r"""The score of a model on future rows that are completely known, estimated from rows with holes.

It cannot be read off: no held-out row may be complete. But complete versions of it can be drawn, given its
known cells, from a completer fitted to the other folds. The model's predictions for these draws show what it
might say of row i if the row were known: for a class its log-odds :math:`f \sim N(m_i, v_i)`, with mean and
variance over the draws. The label says which of these are likely,

.. math:: p(f \mid y_i) \propto N(f; m_i, v_i)\, P(y_i \mid f), \qquad P(y = 1 \mid f) = 1/(1 + e^{-a-bf}),

and the score is that of predictions distributed like this. The curve maximises the likelihood of the labels
of held-out rows given what is known of them,

.. math:: \sum_i \log \int N(f; m_i, v_i)\, P(y_i \mid f)\, df,

so a model that is too sure of itself gets b < 1, and one that predicts nothing gets b = 0. Nothing is learned
from the training labels a second time: drawing cells from a model of cells and labels together flatters a
model trained on the same labels. Several classes are taken one against the rest. For a number,
:math:`y \mid f \sim N(a + bf, s^2)`, and all integrals are in closed form.

Where some rows are nearly complete, they say more than the others: little of them is drawn. With the share
:math:`\kappa_i` of the variance of predictions that is expected to be known of row i, given its holes, rows
count as :math:`\kappa_i^m`, both for the curve and for the score. m is the largest of 1, 2, 4, ..., 32 that
leaves `ENOUGH_ROWS` rows in effect; see `row_counts`. This is done only if these rows are nearly complete: on
the tuning tables as they are at the start, rows of which a little more is known were no better. As purchases
finish rows, the estimate becomes the score of complete rows. It takes them for rows like any other: if rows
are complete for a reason that has to do with the label, it is theirs.

*A second estimate* needs no law of the cells. Known cells of the held-out rows are hidden again, and the
log-odds of the area are measured with a quarter, half, three quarters and all of them. They rise about in
proportion to the logarithm of the share that is known, so their line is continued to rows of which all is
known. On the tuning tables both estimates erred by about as much, but not on the same tables. So an area is
their mean, on the scale of log-odds. For a number the second was much the worse and is not used.

The estimate is off for reasons that no resampling of rows shows: the completer's law of the cells is not the
true one. On the scale of log-odds (of log(1 - R2) for a number) this error has the variance

.. math:: (c\, \text{step})^2 + e^2 \sqrt{u} ,

with the step from the score at hand to the estimate, and the share u of the predictions' variance that is not
known. With c and e as below, 95 % intervals contain 96 % of the areas on complete test rows of the 14 tuning
tables of `studies.money.complete_rows` with 10 % to 80 % of the cells known, and 94 % where the fewest; on
the 13 tables of the report half 95 %, and 91 % where the fewest.

The estimate is mostly a little too low: an area on these tables by 0.03 with 10 % known and by 0.01 from
20 % on, R2 by 0.14 with 10 % and 20 % and by 0.04 with 40 %, most on nonlinear ones. This is not corrected: a
table that predicts nothing would seem to predict something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.special import expit, log_expit, logsumexp

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.model.cross_validation import Score, mean_rank, mean_score, scored_classes

LEAST_PROBABILITY = 1e-3
"""Smaller probabilities count as this: trees give 0 on little evidence."""
NODES = 41  # of the quadrature; the curve may be steep
STEP_ERROR = 0.5
"""The standard error of the step from the score at hand, as a share of it."""
UNKNOWN_ERROR_OF_AREA, UNKNOWN_ERROR_OF_R2 = 0.5, 0.38
"""The further standard error if nothing were known of the rows; see `unknown_share`."""
ENOUGH_ROWS, ENOUGH_OF_CLASS = 100, 25
"""Effective rows that are left, in all and of each side of a class, if nearly complete rows count more."""
POWERS = (32, 16, 8, 4, 2, 1)
THINNED = (0.25, 0.5, 0.75)
"""Shares of the known cells of held-out rows that are kept to see how the area rises with them."""
MOST_UNKNOWN = 1 / 3
"""Rows count differently only if so much of what is unknown is left, or less, in those that count."""
RIDGE = 1e-3  # keeps the curve finite if the classes can be separated


def complete_rows_score(
    y: Float64Array,
    drawn: Float64Array,
    fold: IntArray,
    at_hand: Score,
    *,
    classes: bool,
    counts: Float64Array | None = None,
    thinned: Sequence[float] = (),
    known: float = 1.0,
) -> Score:
    """Estimate the score on complete rows.

    Parameters
    ----------
    y : (n,) array
        Class numbers from 0, or numbers.
    drawn : (M, n, K) array
        Predictions for complete versions of the held-out rows: probabilities, or K = 1 number.
    fold : (n,) array of int
    at_hand : Score
        Of the rows as they are.
    classes : bool
    counts : (n,) array, optional
        How much each row counts, as `row_counts` says; by default all the same.
    thinned : sequence of float
        Areas on the same rows with shares `THINNED` of their known cells, for the second estimate; by default
        it is not made.
    known : float
        The share of the cells of these rows that are known.

    Returns
    -------
    Score
        Its error is that of the score at hand, on the scale of log-odds (of log(1 - R2) for a number), and
        what the method adds: `STEP_ERROR` times the distance to it, and `UNKNOWN_ERROR_OF_AREA` or
        `UNKNOWN_ERROR_OF_R2` by what is not known of the rows.

    Notes
    -----
    Tens of passes over `NODES` x n numbers, and a sort of them, per class.
    """
    counts = np.ones(len(y)) if counts is None else counts
    if classes:
        chosen = scored_classes(y, drawn.shape[2])
        value = mean_score([area_if_known(y == k, drawn[:, :, k], fold, counts) for k in chosen]).value
    else:
        value = explained_if_known(y, drawn[:, :, 0], counts).value
    if classes and thinned:
        value = _mean_area(value, _continued_area([*thinned, at_hand.value], known))
    here, there = (on_scale(score, classes=classes) for score in (at_hand.value, value))
    influence = at_hand.influence * there[1] / here[1] * counts / counts.mean()
    unknown = unknown_share(drawn, counts) ** 0.25
    unknown *= UNKNOWN_ERROR_OF_AREA if classes else UNKNOWN_ERROR_OF_R2
    added = math.hypot(STEP_ERROR * (there[0] - here[0]), unknown)
    return Score(value, influence, at_hand.pairs, added * there[1])


def _continued_area(areas: Sequence[float], known: float) -> float:
    """Return the area on complete rows by those with shares `THINNED`, and all, of their known cells."""
    logs = np.log([*THINNED, 1.0])
    odds = np.array([on_scale(area, classes=True)[0] for area in areas])
    slope = float((logs - logs.mean()) @ odds / np.square(logs - logs.mean()).sum())
    return float(expit(odds[-1] - max(slope, 0.0) * math.log(known)))


def _mean_area(first: float, second: float) -> float:
    """Return the mean of two areas on the scale of log-odds."""
    return float(expit(sum(on_scale(area, classes=True)[0] for area in (first, second)) / 2))


def row_counts(y: Float64Array, drawn: Float64Array, holes: BoolArray, *, classes: bool) -> Float64Array:
    """Return how much each row (n,) counts, at most 1: more if little of what matters is missing in it.

    Parameters
    ----------
    y : (n,) array
        Class numbers from 0, or numbers.
    drawn : (M, n, K) array
        Predictions for complete versions of the rows.
    holes : (n, p) array of bool
        Cells that were drawn.
    classes : bool

    Notes
    -----
    The variance of a row's predictions over its draws is small, too, if they are near 0 or 1, whatever is
    known of the row. So it is explained by the holes, with one coefficient of at least 0 per column, and rows
    count by what their holes explain. O(n p^2).
    """
    ones = np.ones(len(y))
    if len(drawn) < 2 or not holes.any():
        return ones
    by_row = drawn.var(axis=0, ddof=1).sum(axis=1)
    between = _between(drawn, float(by_row.mean()))
    expected = holes @ nnls(holes.astype(np.float64), by_row)[0]
    if between <= 0 or not expected.any():
        return ones
    known = between / (expected + between)
    chosen = scored_classes(y, drawn.shape[2]) if classes else ()
    sides = [side for k in chosen for side in (y == k, y != k)]
    for power in POWERS:
        counts = np.asarray(known**power)
        if _effective(counts) >= ENOUGH_ROWS and all(
            _effective(counts[side]) >= min(ENOUGH_OF_CLASS, int(side.sum())) for side in sides
        ):
            left = unknown_share(drawn, counts) / unknown_share(drawn)
            return counts if left <= MOST_UNKNOWN else ones
    return ones


def _effective(counts: Float64Array) -> float:
    """Return the number of rows that count the same and have as much to say."""
    return float(counts.sum() ** 2 / max(float(counts @ counts), 1e-300))


def _between(drawn: Float64Array, within: float) -> float:
    """Return the variance of predictions between rows, given that between draws of the same row."""
    return max(float(drawn.mean(axis=0).var(axis=0).sum()) - within / len(drawn), 0.0)


def unknown_share(drawn: Float64Array, counts: Float64Array | None = None) -> float:
    """Return the share of the variance of predictions (M, n, K) that is between draws of the same row.

    0 without holes; 1 if all rows are alike in what is known of them. Rows count as ``counts`` (n,) says.
    """
    if len(drawn) < 2:
        return 0.0
    by_row = drawn.var(axis=0, ddof=1).sum(axis=1)
    between = _between(drawn, float(by_row.mean()))
    within = float(np.average(by_row, weights=counts))
    return within / (within + between) if within > 0 else 0.0


def on_scale(score: float, *, classes: bool) -> tuple[float, float]:
    """Return the log-odds of an area, or -log(1 - R2), and how fast the score grows with it."""
    if not classes:
        left = max(1 - score, 1e-6)
        return -math.log(left), left
    inside = min(max(score, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside)), inside * (1 - inside)


def area_if_known(
    positive: BoolArray, drawn: Float64Array, fold: IntArray, counts: Float64Array | None = None
) -> Score:
    """Return the area under the ROC curve if rows were known; ``drawn`` (M, n) are probabilities.

    ``counts`` (n,) is how much each row counts, by default 1.
    """
    counts = np.ones(len(positive)) if counts is None else counts
    logits = _log_odds(drawn)
    points, shares = np.polynomial.hermite_e.hermegauss(NODES)
    mean, variance = _mean_and_variance(logits)
    values = mean + np.sqrt(variance) * points[:, np.newaxis]
    prior = np.log(shares / shares.sum())[:, np.newaxis]
    sign = np.where(positive, 1.0, -1.0)

    def loss(curve: Float64Array) -> tuple[float, Float64Array]:
        scores = sign * (curve[0] + curve[1] * values)
        likelihoods = log_expit(scores) + prior
        total = logsumexp(likelihoods, axis=0)
        slopes = np.exp(likelihoods - total + log_expit(-scores)) * sign * counts
        slope = np.array([slopes.sum(), (slopes * values).sum()])
        away = np.array([0.0, curve[1] - 1.0])
        return float(-counts @ total + RIDGE / 2 * away @ away), -slope + RIDGE * away

    bounds = [(None, None), (0.0, None)]
    curve = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B", bounds=bounds).x
    likelihoods = log_expit(sign * (curve[0] + curve[1] * values)) + prior
    shares = np.exp(likelihoods - logsumexp(likelihoods, axis=0))
    return weighted_area(positive, values, shares, fold, counts)


def explained_if_known(y: Float64Array, drawn: Float64Array, counts: Float64Array | None = None) -> Score:
    """Return R2 if rows were known; ``drawn`` (M, n) are predictions of the number.

    ``counts`` (n,) is how much each row counts, by default 1.
    """
    counts = np.ones(len(y)) if counts is None else counts / counts.mean()
    centre = float(np.average(y, weights=counts))
    unit = float(np.sqrt(np.average((y - centre) ** 2, weights=counts))) or 1.0
    truth, values = (y - centre) / unit, (drawn - centre) / unit
    mean, variance = _mean_and_variance(values)

    def loss(curve: Float64Array) -> float:
        spread = curve[1] ** 2 * variance + np.exp(curve[2])
        return 0.5 * float(counts @ (np.log(spread) + (truth - curve[0] - curve[1] * mean) ** 2 / spread))

    start = np.array([0.0, 1.0, np.log(max(1e-9, float(counts @ (truth - mean) ** 2 / len(y))))])
    bounds = [(None, None), (0.0, None), (-20.0, 20.0)]
    a, b, log_noise = minimize(loss, start, method="L-BFGS-B", bounds=bounds).x
    spread = b**2 * variance + np.exp(log_noise)
    posterior = mean + b * variance * (truth - a - b * mean) / spread
    off = (truth - posterior) ** 2 + variance * np.exp(log_noise) / spread
    off, about = counts * off, counts * truth**2
    share = float(off.mean() / about.mean())
    return Score(1 - share, -(off - share * about) / float(about.mean()), 0)


def _log_odds(probabilities: Float64Array) -> Float64Array:
    clipped = np.clip(probabilities, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    # What was clipped keeps its order.
    return np.asarray(np.log(clipped / (1 - clipped)) + (probabilities - clipped))


def _mean_and_variance(draws: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return mean and variance of each row's prediction, (n,) each, given M draws of it.

    Those of M draws are off by chance: a mean by a variance of v/M, the logarithm of a variance by 2/(M - 1).
    Left alone, this would flatten the curve, as errors in a regressor do, by a sixth or so if a fifth of the
    cells is known and M = 20. So both are shrunk towards those of other rows by their reliability.
    """
    mean = draws.mean(axis=0)
    variance = draws.var(axis=0, ddof=1) if len(draws) > 1 else np.zeros_like(mean)
    drawn = variance > 0
    if not drawn.any():
        return mean, variance
    logs, error = np.log(variance[drawn]), 2 / (len(draws) - 1)
    reliability = max(0.0, 1 - error / max(float(logs.var()), error))
    shrunk = np.exp(reliability * (logs - logs.mean()))
    variance[drawn] = shrunk * variance[drawn].mean() / shrunk.mean()
    noise = variance / len(draws)
    signal = max(float(mean.var() - noise.mean()), 1e-3 * float(mean.var()), 1e-12)
    weight = signal / (signal + noise)
    return mean.mean() + weight * (mean - mean.mean()), variance + weight * noise


def weighted_area(
    positive: BoolArray,
    drawn: Float64Array,
    weights: Float64Array,
    fold: IntArray,
    counts: Float64Array | None = None,
) -> Score:
    """Return the area under the ROC curve of weighted draws, with the influence of each row.

    Draws (M, n) of rows in the same fold are compared with each other, each pair counted by the product of
    its weights, which sum to 1 for a row, and of the ``counts`` (n,) of its rows. With one draw and without
    counts it is `area`.
    """
    counts = np.ones(len(positive)) if counts is None else counts
    right = np.full(len(positive), np.nan)
    for number in np.unique(fold):
        ones, zeros = (
            np.flatnonzero((fold == number) & positive),
            np.flatnonzero((fold == number) & ~positive),
        )
        if len(ones) and len(zeros):
            for own, other, sign in ((ones, zeros, 1.0), (zeros, ones, -1.0)):
                pairs = weights[:, other] * counts[other]
                below = _weight_below(sign * drawn[:, own], sign * drawn[:, other], pairs)
                right[own] = (weights[:, own] * below).sum(axis=0) / counts[other].sum()
    return mean_rank(positive, right, counts)


def _weight_below(values: Float64Array, others: Float64Array, weights: Float64Array) -> Float64Array:
    """Return the weight of the others below each value, ties half, in the shape of the values."""
    order = np.argsort(others, axis=None)
    ordered = others.ravel()[order]
    total = np.concatenate([[0.0], np.cumsum(weights.ravel()[order])])
    return (
        total[np.searchsorted(ordered, values, "left")] + total[np.searchsorted(ordered, values, "right")]
    ) / 2
