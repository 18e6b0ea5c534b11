r"""Scores of cross-validated predictions, with each row's influence on the score.

For classes, the score is the area under the ROC curve within folds, averaged; with several classes, one
versus rest. For a number, it is the R2 of all predictions.

A score :math:`s` comes with the influence :math:`\psi_i` of each scored row, so that
:math:`\operatorname{var}(s) \approx \sum_i \psi_i^2 / n^2`. For the area this is the estimate of LeDell,
Petersen and van der Laan (2015), "Computationally efficient confidence intervals for cross-validated area
under the ROC curve estimates", Electronic Journal of Statistics 9: with
:math:`V_i` the share of rows of the other class in the same fold that row i is ranked correctly against, and
:math:`m_i` the mean of this over the :math:`n_i` rows of the same class,

.. math:: \psi_i = n\,(V_i - m_i) / n_i .

Scores of the same rows at different times are correlated; the influence of their difference is the
difference of their influences.

That estimate takes the models as given. But models of d columns trained on m rows share their errors, so
intervals for the model of all rows come out too narrow, more so for larger leverage h = d/m. As in a
regression, influences are multiplied by :math:`\sqrt{(1+h)/(1-h)}`. With this correction, 95 % intervals
covered the score on new rows in 90 % to 94 % of synthetic tables with 60 to 400 rows and 4 to 30 columns;
without it, in 82 % to 92 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.shown_numbers import shown

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
LEAST_OF_CLASS = 5
"""A class with fewer scored rows gets no area of its own; its error could not be estimated."""
LEAST_ROWS = 10
"""The fewest rows needed to score a numeric target."""
MOST_ROWS = 2_000
"""The most labelled rows to score on; a sample of longer tables is taken."""
MOST_LEVERAGE = 0.5


@dataclass(frozen=True)
class Estimate:
    """A number with its interval: 95 % for a score, 90 % for a forecast."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (shown(each, ".3f") for each in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


@dataclass(frozen=True, eq=False)
class Score:
    """A cross-validated score.

    Attributes
    ----------
    value : float
        Area under the ROC curve, or R2; 1 is best.
    influence : (n,) array
        Of each scored row; mean 0.
    pairs : int
        The number of disjoint pairs of rows that were ranked; 0 for a number.
    method_error : float
        A standard error that does not depend on which rows were scored, of a score that is itself estimated.
    """

    value: float
    influence: Float64Array
    pairs: int
    method_error: float = 0.0

    @property
    def error(self) -> float:
        """The standard error."""
        of_rows = float(np.sqrt(self.influence @ self.influence)) / len(self.influence)
        return math.hypot(of_rows, self.method_error)

    def estimate(self) -> Estimate:
        """Return the score with its interval, within the possible range of a score.

        The interval is symmetric on the scale of log((1 - s) / s) for an area and log(1 - s) for R2. An area
        of 1 has no standard error; if the true area were below 0.025^(1/k), all k disjoint pairs would be
        ranked correctly with a probability below 2.5 %.
        """
        s, error = self.value, self.error
        if not self.pairs:
            width = Z * error / max(1 - s, 1e-12)
            return Estimate(s, 1 - (1 - s) * float(np.exp(width)), 1 - (1 - s) * float(np.exp(-width)))
        edge = 0.025 ** (1 / self.pairs)
        if error == 0 or not 0 < s < 1:
            return Estimate(s, min(s, edge), max(s, 1 - edge))
        odds, width = s / (1 - s), Z * error / (s * (1 - s))
        low, high = (1 / (1 + np.exp(-side * width) / odds) for side in (-1.0, 1.0))
        return Estimate(s, float(low), float(high))

    def gain(self, earlier: Score) -> Estimate:
        """Return how much higher this score is than an earlier one of the same rows."""
        change = self.value - earlier.value
        paired = self.influence - earlier.influence
        half = Z * float(np.sqrt(paired @ paired)) / len(paired)
        return Estimate(change, change - half, change + half)


def deal(y: Float64Array, folds: int, rng: np.random.Generator, *, classes: bool) -> IntArray:
    """Return the fold (n,) of each row; each class, and all rows, are spread as evenly as possible; O(n)."""
    order = rng.permutation(len(y))
    if classes:
        order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % folds
    return fold


def rows_to_score(y: Float64Array, seed: int, most: int = MOST_ROWS) -> IntArray:
    """Return at most so many labelled rows, and as many others, in order."""
    rng = np.random.default_rng(seed)
    kept = [
        rows if len(rows) <= most else rng.choice(rows, most, replace=False)
        for rows in (np.flatnonzero(~np.isnan(y)), np.flatnonzero(np.isnan(y)))
    ]
    return np.sort(np.concatenate(kept))


def scorable(y: Float64Array, *, classes: bool) -> list[float]:
    """Return the classes with enough rows to score, [] if fewer than two; for a number, [0.0] or []."""
    if not classes:
        return [0.0] if len(y) >= LEAST_ROWS and np.ptp(y) > 0 else []
    counts = np.bincount(y.astype(np.intp))  # class numbers from 0; np.unique would load numpy.ma
    enough = np.flatnonzero(counts >= LEAST_OF_CLASS).astype(np.float64).tolist()
    return enough if len(enough) > 1 else []


def score_predictions(y: Float64Array, predicted: Float64Array, fold: IntArray, *, classes: bool) -> Score:
    """Score predictions of held-out rows; O(n log n) per class.

    Parameters
    ----------
    y : (n,) array
        Class numbers from 0, or numbers.
    predicted : (n, K) array
        One column per class, higher for its rows; or K = 1 for a number.
    fold : (n,) array of int
        Classes are ranked within folds.
    classes : bool

    Returns
    -------
    Score
        With the influence of each row. It takes the models as given; see `widened`.
    """
    if not classes:
        return explained(y, predicted[:, 0])
    chosen = scored_classes(y, predicted.shape[1])
    return mean_score([area(y == k, predicted[:, k], fold) for k in chosen])


def scored_classes(y: Float64Array, n_classes: int) -> list[int]:
    """Return the classes that get an area: those with enough rows; of two classes, the second alone."""
    if n_classes == 2:
        return [1]
    return [int(k) for k in scorable(y, classes=True)]


def area(positive: BoolArray, scores: Float64Array, fold: IntArray) -> Score:
    """Return the area under the ROC curve within folds, with the influence of each row; O(n log n).

    Parameters
    ----------
    positive : (n,) array of bool
    scores : (n,) array
        Higher for positives. Only scores in the same fold are compared: they come from the same model.
    fold : (n,) array of int
    """
    from scipy.stats import rankdata  # half a second that stored scores need not wait for

    right = np.full(len(scores), np.nan)
    for number in np.unique(fold):
        inside = fold == number
        ones, zeros = inside & positive, inside & ~positive
        if ones.any() and zeros.any():
            # Rank among all minus rank within the class: how many of the other class rank lower (ties half).
            ranks = rankdata(np.concatenate([scores[ones], scores[zeros]]))
            k, m = int(ones.sum()), int(zeros.sum())
            right[ones] = (ranks[:k] - rankdata(scores[ones])) / m
            right[zeros] = 1 - (ranks[k:] - rankdata(scores[zeros])) / k
    return mean_rank(positive, right, np.ones(len(right)))


def mean_rank(positive: BoolArray, right: Float64Array, counts: Float64Array) -> Score:
    """Return the area as the mean over the positives, with the influence of each row.

    ``right`` (n,) is the share of the other class that a row is ranked right against, NaN if there is none;
    ``counts`` (n,) is how much each row counts.
    """
    influence = np.zeros(len(right))
    for side in (positive, ~positive):
        counted = side & ~np.isnan(right)
        size, own = int(counted.sum()), counts[counted]
        spread = own / own.mean() * (right[counted] - np.average(right[counted], weights=own))
        influence[counted] = len(right) / size * spread * np.sqrt(size / max(size - 1, 1))
    counted = positive & ~np.isnan(right)
    value = float(np.average(right[counted], weights=counts[counted]))
    return Score(value, influence, int(min(positive.sum(), (~positive).sum())))


def mean_score(scores: list[Score]) -> Score:
    """Return the mean of scores of the same rows, over classes or over repeats."""
    return Score(
        float(np.mean([score.value for score in scores])),
        np.mean([score.influence for score in scores], axis=0),
        min(score.pairs for score in scores),
        float(np.mean([score.method_error for score in scores])),
    )


def explained(y: Float64Array, predicted: Float64Array) -> Score:
    """Return R2 and the influence of each row, by the delta method for a ratio of means."""
    off, spread = (y - predicted) ** 2, (y - y.mean()) ** 2
    share = float(off.mean() / spread.mean())
    return Score(1 - share, -(off - share * spread) / float(spread.mean()), 0)


def widened(score: Score, columns: int, rows: float) -> Score:
    """Return the score with larger influences: models of d columns trained on m rows share their errors."""
    leverage = min(MOST_LEVERAGE, columns / rows)
    return replace(score, influence=score.influence * math.sqrt((1 + leverage) / (1 - leverage)))
