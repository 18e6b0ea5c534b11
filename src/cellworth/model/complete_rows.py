r"""The score of a model on future rows that are completely known, estimated from rows with holes.

It cannot be read off: no held-out row may be complete. But complete versions of it can be drawn. With
:math:`x_{im}`, m = 1 ... M, draws of held-out row i given its known cells, from a completer fitted to the
other folds, and :math:`f_{im}` the model's prediction for them, the label says which draws are likely:

.. math:: w_{im} \propto P(y_i \mid f_{im}), \qquad \textstyle\sum_m w_{im} = 1 .

The score is that of the weighted draws. How likely a label is given a prediction is learned from the
held-out labels: for classes :math:`P(y = k \mid f) \propto \exp(a_k + b \log f_k)`, for a number a normal
distribution around :math:`a + b f`. The parameters maximise the likelihood of the labels given what is known,

.. math:: \sum_i \log \frac1M \sum_m P(y_i \mid f_{im}) ,

so a model that is too sure of itself gets b < 1, and one that predicts nothing gets weights that are all
alike. Nothing is learned from the training labels a second time: that would flatter the model.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.model.cross_validation import Score, mean_score, scored_classes

LEAST_PROBABILITY = 1e-3
"""Smaller probabilities count as this: trees give 0 on little evidence."""
RIDGE = 1.0  # of the curve's parameters, towards a = 0 and b = 1; as much as a few rows


def complete_rows_score(y: Float64Array, drawn: Float64Array, fold: IntArray, *, classes: bool) -> Score:
    """Estimate the score on complete rows.

    Parameters
    ----------
    y : (n,) array
        Class numbers from 0, or numbers.
    drawn : (M, n, K) array
        Predictions for complete versions of the held-out rows.
    fold : (n,) array of int
    classes : bool

    Returns
    -------
    Score

    Notes
    -----
    Tens of passes over the predictions, and a sort of them per class: O(M n K log(M n)).
    """
    weights = draw_weights(y, drawn, classes=classes)
    if not classes:
        return weighted_explained(y, drawn[:, :, 0], weights)
    chosen = scored_classes(y, drawn.shape[2])
    return mean_score([weighted_area(y == k, drawn[:, :, k], weights, fold) for k in chosen])


def draw_weights(y: Float64Array, drawn: Float64Array, *, classes: bool) -> Float64Array:
    """Return how likely each draw is given the label of its row, (M, n); the sum over draws is 1."""
    likelihoods = _of_classes(y, drawn) if classes else _of_numbers(y, drawn[:, :, 0])
    return np.asarray(np.exp(likelihoods - logsumexp(likelihoods, axis=0)))


def _of_classes(y: Float64Array, drawn: Float64Array) -> Float64Array:
    """Return the log-likelihood of the labels given each draw, (M, n)."""
    codes, K = y.astype(np.intp), drawn.shape[2]
    logs = np.log(np.clip(drawn, LEAST_PROBABILITY, None))
    own = logs[:, np.arange(len(y)), codes]
    one_hot = np.eye(K)[codes]

    def of(parameters: Float64Array) -> tuple[Float64Array, Float64Array]:
        shares = log_softmax(parameters[:K] + parameters[K] * logs, axis=2)
        return shares, shares[:, np.arange(len(y)), codes]

    def loss(parameters: Float64Array) -> tuple[float, Float64Array]:
        shares, likelihoods = of(parameters)
        total = logsumexp(likelihoods, axis=0)
        weights = np.exp(likelihoods - total)
        expected = np.exp(shares)
        slope = np.zeros(K + 1)
        slope[:K] = np.einsum("mn,mnk->k", weights, one_hot - expected)
        slope[K] = (weights * (own - (expected * logs).sum(axis=2))).sum()
        away = parameters - np.append(np.zeros(K), 1.0)
        return float(-total.sum() + RIDGE / 2 * away @ away), -slope + RIDGE * away

    start = np.append(np.zeros(K), 1.0)
    return of(minimize(loss, start, jac=True, method="L-BFGS-B").x)[1]


def _of_numbers(y: Float64Array, drawn: Float64Array) -> Float64Array:
    """Return the log-likelihood of the numbers given each draw, (M, n), by EM for a + b f and its spread."""
    intercept, slope = 0.0, 1.0
    spread = float(((y - drawn.mean(axis=0)) ** 2).mean()) or 1.0
    floor = 1e-6 * (float(y.var()) or 1.0)
    for _ in range(50):
        likelihoods = -((y - intercept - slope * drawn) ** 2) / (2 * spread)
        weights = np.exp(likelihoods - logsumexp(likelihoods, axis=0))
        centre, mean = float((weights * drawn).sum()) / len(y), float(y.mean())
        varies = float((weights * (drawn - centre) ** 2).sum())
        slope = float((weights * (drawn - centre) * (y - mean)).sum()) / varies if varies > 0 else 0.0
        intercept = mean - slope * centre
        off = (y - intercept - slope * drawn) ** 2
        spread = max(floor, float((weights * off).sum()) / len(y))
    return np.asarray(-((y - intercept - slope * drawn) ** 2) / (2 * spread))


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


def weighted_explained(y: Float64Array, drawn: Float64Array, weights: Float64Array) -> Score:
    """Return R2 of weighted draws (M, n), with the influence of each row."""
    off, spread = (weights * (y - drawn) ** 2).sum(axis=0), (y - y.mean()) ** 2
    share = float(off.mean() / spread.mean())
    return Score(1 - share, -(off - share * spread) / float(spread.mean()), 0)
