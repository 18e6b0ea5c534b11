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

The estimate is off for reasons that no resampling of rows shows: the completer's law of the cells is not the
true one. On the scale of log-odds (of log(1 - R2) for a number) this error has the variance

.. math:: (c\, \text{step})^2 + e^2 u ,

with the step from the score at hand to the estimate, and the share u of the predictions' variance that is not
known. Of all pairs c and e with which 95 % intervals contain 95 % of the scores on complete test rows of the
14 tuning tables of `studies.money.complete_rows`, with 10 % and 20 % of the cells known, c = 0.3 gave the
narrowest. Fitted without a table, intervals contained 94 % of the scores on it. Averages of models need no
wider ones.

The estimate is mostly too low: on these tables by 0.03 of AUC with 20 % known and 0.05 with 10 %, R2 by 0.06
and 0.10, most on nonlinear ones. This is not corrected. Log-odds times a factor that is fitted on the other
tables lower the mean error of the AUC by 4 % only, and raise that of R2. Log-odds plus 0.25 lower it by 8 %,
but a table that predicts nothing would seem to predict something.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_expit, logsumexp

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.model.cross_validation import Score, mean_score, scored_classes

LEAST_PROBABILITY = 1e-3
"""Smaller probabilities count as this: trees give 0 on little evidence."""
NODES = 41  # of the quadrature; the curve may be steep
STEP_ERROR = 0.3
"""The standard error of the step from the score at hand, as a share of it."""
UNKNOWN_ERROR_OF_AREA, UNKNOWN_ERROR_OF_R2 = 0.65, 0.38
"""The further standard error if nothing were known of the rows; the variance goes with `unknown_share`."""
RIDGE = 1e-3  # keeps the curve finite if the classes can be separated


def complete_rows_score(
    y: Float64Array, drawn: Float64Array, fold: IntArray, at_hand: Score, *, classes: bool
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
    if classes:
        chosen = scored_classes(y, drawn.shape[2])
        value = mean_score([area_if_known(y == k, drawn[:, :, k], fold) for k in chosen]).value
    else:
        value = explained_if_known(y, drawn[:, :, 0]).value
    here, there = (on_scale(score, classes=classes) for score in (at_hand.value, value))
    influence = at_hand.influence * there[1] / here[1]
    unknown = (UNKNOWN_ERROR_OF_AREA if classes else UNKNOWN_ERROR_OF_R2) * math.sqrt(unknown_share(drawn))
    added = math.hypot(STEP_ERROR * (there[0] - here[0]), unknown)
    return Score(value, influence, at_hand.pairs, added * there[1])


def unknown_share(drawn: Float64Array) -> float:
    """Return the share of the variance of predictions (M, n, K) that is between draws of the same row.

    0 without holes; 1 if all rows are alike in what is known of them.
    """
    if len(drawn) < 2:
        return 0.0
    within = drawn.var(axis=0, ddof=1).mean(axis=0).sum()
    between = max(float(drawn.mean(axis=0).var(axis=0).sum() - within / len(drawn)), 0.0)
    return float(within / (within + between)) if within > 0 else 0.0


def on_scale(score: float, *, classes: bool) -> tuple[float, float]:
    """Return the log-odds of an area, or -log(1 - R2), and how fast the score grows with it."""
    if not classes:
        left = max(1 - score, 1e-6)
        return -math.log(left), left
    inside = min(max(score, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside)), inside * (1 - inside)


def area_if_known(positive: BoolArray, drawn: Float64Array, fold: IntArray) -> Score:
    """Return the area under the ROC curve if rows were known; ``drawn`` (M, n) are probabilities."""
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
        slopes = np.exp(likelihoods - total + log_expit(-scores)) * sign
        slope = np.array([slopes.sum(), (slopes * values).sum()])
        away = np.array([0.0, curve[1] - 1.0])
        return float(-total.sum() + RIDGE / 2 * away @ away), -slope + RIDGE * away

    bounds = [(None, None), (0.0, None)]
    curve = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B", bounds=bounds).x
    likelihoods = log_expit(sign * (curve[0] + curve[1] * values)) + prior
    return weighted_area(positive, values, np.exp(likelihoods - logsumexp(likelihoods, axis=0)), fold)


def explained_if_known(y: Float64Array, drawn: Float64Array) -> Score:
    """Return R2 if rows were known; ``drawn`` (M, n) are predictions of the number."""
    centre, unit = float(y.mean()), float(y.std()) or 1.0
    truth, values = (y - centre) / unit, (drawn - centre) / unit
    mean, variance = _mean_and_variance(values)

    def loss(curve: Float64Array) -> float:
        spread = curve[1] ** 2 * variance + np.exp(curve[2])
        return 0.5 * float((np.log(spread) + (truth - curve[0] - curve[1] * mean) ** 2 / spread).sum())

    start = np.array([0.0, 1.0, np.log(max(1e-9, float(((truth - mean) ** 2).mean())))])
    bounds = [(None, None), (0.0, None), (-20.0, 20.0)]
    a, b, log_noise = minimize(loss, start, method="L-BFGS-B", bounds=bounds).x
    spread = b**2 * variance + np.exp(log_noise)
    posterior = mean + b * variance * (truth - a - b * mean) / spread
    off = (truth - posterior) ** 2 + variance * np.exp(log_noise) / spread
    about = truth**2
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


def weighted_area(positive: BoolArray, drawn: Float64Array, weights: Float64Array, fold: IntArray) -> Score:
    """Return the area under the ROC curve of weighted draws, with the influence of each row.

    Draws (M, n) of rows in the same fold are compared with each other, each pair counted by the product of
    its weights. With one draw it is `area`.
    """
    right = np.full(len(positive), np.nan)
    for number in np.unique(fold):
        ones, zeros = (
            np.flatnonzero((fold == number) & positive),
            np.flatnonzero((fold == number) & ~positive),
        )
        if len(ones) and len(zeros):
            for own, other, sign in ((ones, zeros, 1.0), (zeros, ones, -1.0)):
                below = _weight_below(sign * drawn[:, own], sign * drawn[:, other], weights[:, other])
                right[own] = (weights[:, own] * below).sum(axis=0) / len(other)
    influence = np.zeros(len(right))
    for side in (positive, ~positive):
        counted = side & ~np.isnan(right)
        size = int(counted.sum())
        spread = right[counted] - right[counted].mean()
        influence[counted] = len(right) / size * spread * np.sqrt(size / max(size - 1, 1))
    counted = positive & ~np.isnan(right)
    return Score(float(right[counted].mean()), influence, int(min(positive.sum(), (~positive).sum())))


def _weight_below(values: Float64Array, others: Float64Array, weights: Float64Array) -> Float64Array:
    """Return the weight of the others below each value, ties half, in the shape of the values."""
    order = np.argsort(others, axis=None)
    ordered = others.ravel()[order]
    total = np.concatenate([[0.0], np.cumsum(weights.ravel()[order])])
    return (
        total[np.searchsorted(ordered, values, "left")] + total[np.searchsorted(ordered, values, "right")]
    ) / 2
