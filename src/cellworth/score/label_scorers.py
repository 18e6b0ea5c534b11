"""Score labels alone, as active learning does: by uncertainty, and by expected error reduction.

Both buy labels only: cells score 0. They are what `TrainingGain`, which weighs labels against cells, is
compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete.linear_model import INVERSE_PENALTY, variance_reduction
from cellworth.complete.scaling import Scaling
from cellworth.model import Candidate, fit_candidate
from cellworth.score.scorer import Memoryless, Round, check_whole_number

JUDGED_ROWS = 500
"""The most rows whose predictions show what a label would do."""
TRIED_AT_ONCE = 1_000
"""How many labels are tried in one pass: each takes the memory of the judged rows."""


@dataclass(eq=False)
class LabelUncertainty(Memoryless):
    """Score a missing label by how unsure the model is of it; cells score 0.

    For classes, the entropy of the predicted probabilities; for a number, the variance of the predictions of
    a committee trained on bootstrap samples of the labelled rows. Rows with holes are predicted as they are
    completed.

    Parameters
    ----------
    model : str or Candidate, default="extra trees"
        The model of the target: a name of `cellworth.model.default_models`, or a candidate.
    members : int, default=8
        The size of the committee.

    Notes
    -----
    Not on row blocks: labels can be bought in tables in memory only.

    Scores are in nats, or in squared units of the target. If the model cannot learn, all missing labels score
    1. Costs a fit of the model, or one for each member, and its predictions for n rows.

    References
    ----------
    D. D. Lewis and W. A. Gale, "A sequential algorithm for training text classifiers", SIGIR 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import Round
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = (X[:, 0] > 0).astype(float)
    >>> y[100:] = np.nan
    >>> this_round = Round(
    ...     X, y, "classes", GaussianCompleter().fit(X), rng, label_prices=np.ones(200)
    ... )
    >>> worth = LabelUncertainty(model="logistic regression").score(this_round)[100:, -1]
    >>> bool(abs(X[100 + worth.argmax(), 0]) < 0.1)  # next to the boundary
    True
    """

    model: str | Candidate = "extra trees"
    members: int = 8
    labels_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole_number("members", self.members, 2)

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d + 1): 0 but in the last column, where the label is missing."""
        unlabelled = this_round.unlabelled
        if this_round.label_prices is None or not unlabelled.any():
            return _of_labels(this_round, np.zeros(len(unlabelled)), unlabelled)
        if not _can_learn(this_round):
            return _of_labels(this_round, np.ones(len(unlabelled)), unlabelled)
        assert this_round.y is not None
        if this_round.target == "number":
            worth = np.var([self._predicted(this_round, y) for y in self._resampled(this_round)], axis=0)[
                :, 0
            ]
        else:
            found = self._predicted(this_round, this_round.y)
            worth = -(found * np.log(np.maximum(found, 1e-12))).sum(axis=1)
        return _of_labels(this_round, worth, unlabelled)

    def _resampled(self, this_round: Round) -> list[Float64Array]:
        """Return the labels (n,) of each member: those of rows left out by its bootstrap sample are NaN."""
        assert this_round.y is not None
        rows = np.flatnonzero(~this_round.unlabelled)
        found = []
        for _ in range(self.members):
            kept = np.unique(this_round.rng.choice(rows, len(rows)))
            y = np.full(len(this_round.y), np.nan)
            y[kept] = this_round.y[kept]
            found.append(y)
        return found

    def _predicted(self, this_round: Round, y: Float64Array) -> Float64Array:
        is_number = this_round.target == "number"
        fitted = fit_candidate(self.model, this_round.completer, this_round.X, y, is_number=is_number)
        return fitted.predict_complete(this_round.completed)


@dataclass(eq=False)
class ErrorReduction(Memoryless):
    r"""Score a missing label by how much it is expected to reduce the error on the rows; cells score 0.

    The model is linear, on the completed table. For a number, with the information :math:`H = X^\top X +
    \lambda I` of the labelled rows, the label of row i reduces the variance of the predictions of all rows by

    .. math:: \frac{\sum_t (x_t^\top H^{-1} x_i)^2}{1 + x_i^\top H^{-1} x_i}

    times the noise, whatever the label turns out to be. For classes, each label that it may turn out to be
    is tried: one Newton step retrains the model, and the score is how much less the mean entropy of the
    predictions is then expected to be, weighed by the probability of each class (Roy and McCallum).

    Notes
    -----
    Not on row blocks: labels can be bought in tables in memory only.

    Scores are in nats or in units of the noise, raised by a constant if some would be negative. The error is
    judged on at most `JUDGED_ROWS` rows. If the model cannot learn, all missing labels score 1. Time: O(n d^2
    + n m K^2) for m judged rows and K classes.

    References
    ----------
    N. Roy and A. McCallum, "Toward optimal active learning through sampling estimation of error reduction",
    ICML 2001. D. A. Cohn, Z. Ghahramani and M. I. Jordan, "Active learning with statistical models", JAIR 4
    (1996).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import Round
    >>> X = np.array([[0.0], [1.0], [0.5], [3.0]])
    >>> y = np.array([0.0, 1.0, np.nan, np.nan])
    >>> completer, rng = GaussianCompleter().fit(X), np.random.default_rng(0)
    >>> this_round = Round(X, y, "number", completer, rng, label_prices=np.ones(4))
    >>> worth = ErrorReduction().score(this_round)[:, -1]
    >>> bool(worth[3] > worth[2] > worth[0] == 0)  # far from what is known
    True
    """

    labels_only: ClassVar[bool] = True

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d + 1): 0 but in the last column, where the label is missing."""
        unlabelled = this_round.unlabelled
        if this_round.label_prices is None or not unlabelled.any():
            return _of_labels(this_round, np.zeros(len(unlabelled)), unlabelled)
        model = this_round.fit_linear_model()
        if not (_can_learn(this_round) and model.knows_something):
            return _of_labels(this_round, np.ones(len(unlabelled)), unlabelled)
        completed = this_round.completed
        scaling = Scaling.of(completed, "standard")
        X = np.column_stack([(completed - scaling.offset) / scaling.width, np.ones(len(completed))])
        judged = X
        if len(X) > JUDGED_ROWS:
            judged = X[np.sort(this_round.rng.choice(len(X), JUDGED_ROWS, replace=False))]
        if this_round.target == "number":
            worth = variance_reduction(X, judged, ~unlabelled)
        else:
            coefficients = np.vstack(
                [
                    model.coefficients * scaling.width[:, np.newaxis],
                    model.intercepts + scaling.offset @ model.coefficients,
                ]
            )
            worth = entropy_reduction(X, judged, ~unlabelled, coefficients)
            worth -= min(0.0, float(worth[unlabelled].min()))
        return _of_labels(this_round, worth, unlabelled)


def entropy_reduction(
    X: Float64Array, judged: Float64Array, labelled: BoolArray, coefficients: Float64Array
) -> Float64Array:
    """Return by how much each label (n,) is expected to reduce the mean entropy of predictions.

    Negative if it is expected to increase it, as the labels that disturb a model do.

    The probabilities of rows X (n, d) are the softmax of X times ``coefficients`` (d, K). A label moves the
    coefficients of each class by a Newton step of its own.
    """
    (d, K), P = coefficients.shape, _softmax(X @ coefficients)
    at_judged = judged @ coefficients
    factors = []
    for k in range(K):
        weights = P[labelled, k] * (1 - P[labelled, k])
        factors.append(cho_factor((X[labelled].T * weights) @ X[labelled] + np.eye(d) / INVERSE_PENALTY))
    expected = np.zeros(len(X))
    for start in range(0, len(X), TRIED_AT_ONCE):
        some = slice(start, start + TRIED_AT_ONCE)
        rows, p = X[some], P[some]
        reach = np.empty((K, len(judged), len(rows)))
        for k in range(K):
            moved = cho_solve(factors[k], rows.T)
            curvature = p[:, k] * (1 - p[:, k]) * (rows * moved.T).sum(axis=1)
            reach[k] = judged @ (moved / (1 + curvature))
        for label in range(K):
            residual = (np.arange(K) == label) - p
            after = at_judged[:, np.newaxis] + np.einsum("kmn,nk->mnk", reach, residual)
            expected[some] += p[:, label] * _entropy(_softmax(after)).mean(axis=0)
    return np.asarray(_entropy(_softmax(at_judged)).mean() - expected)


def _softmax(scores: Float64Array) -> Float64Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _entropy(probabilities: Float64Array) -> Float64Array:
    return -np.asarray((probabilities * np.log(np.maximum(probabilities, 1e-300))).sum(axis=-1))


def _can_learn(this_round: Round) -> bool:
    labels = this_round.labels
    return labels is not None and len(np.unique(labels[~np.isnan(labels)])) > 1


def _of_labels(this_round: Round, worth: Float64Array, unlabelled: BoolArray) -> Float64Array:
    scores = np.zeros((len(worth), this_round.X.shape[1] + 1))
    scores[:, -1] = np.where(unlabelled, worth, 0.0)
    return scores if this_round.label_prices is not None else scores[:, :-1]
