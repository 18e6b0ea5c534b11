"""Score labels alone, as active learning does: by uncertainty, and by expected error reduction.

Both buy labels only: cells score 0. They are what `TrainingGain`, which weighs labels against cells, is
compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.engine_protocol import Blocks, add
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.hold_out import sample_rows
from cellworth.complete.labels import unlabelled_rows
from cellworth.complete.linear_model import (
    INVERSE_PENALTY,
    LinearModel,
    VarianceReduction,
    variance_reduction,
)
from cellworth.complete.row_finders import LabelledRows
from cellworth.complete.scaling import Scaling
from cellworth.model import Candidate, FittedModel, fit_candidate
from cellworth.score.block_scores import BlockScores, PartPrices, sells_labels
from cellworth.score.label_information import TableProducts, standardised
from cellworth.score.scorer import Memoryless, Round, check_whole_number
from cellworth.score.training_rows import GatheredRows, labels_to_learn, training_sample

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
    Scores are in nats, or in squared units of the target. If the model cannot learn, all missing labels score
    1. The model is trained on at most `TRAINING_ROWS` labelled rows. Costs a fit of it, or one for each
    member, and its predictions for n rows. On row blocks each member takes a pass, and 8 bytes for each row.

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
        is_number, rows = this_round.target == "number", np.flatnonzero(~unlabelled)
        rows = rows[training_sample(this_round.rng, len(rows))]
        found = []
        for kept in self._samples(this_round.rng, len(rows), is_number=is_number):
            y = np.full(len(unlabelled), np.nan)
            y[rows[kept]] = this_round.y[rows[kept]]
            fitted = fit_candidate(self.model, this_round.completer, this_round.X, y, is_number=is_number)
            found.append(fitted.predict_complete(this_round.completed))
        return _of_labels(this_round, _doubt(found, is_number=is_number), unlabelled)

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks; one pass gathers the rows to learn from."""
        if not sells_labels(prices):
            return BlockScores(completed, _nothing)
        code, n_labelled = labels_to_learn(completed), sum(completed.summary.labelled)
        if code is None or n_labelled == completed.shape[0]:
            return BlockScores(completed, _same_worth, labels="only")
        wanted = training_sample(rng, n_labelled)
        (numbers,), some = completed.rows_where(LabelledRows.of(completed.summary, wanted))
        learned, is_number = GatheredRows(some, np.arange(len(numbers))), code.classes is None
        labels = learned.labels(code)
        predicted: tuple[Blocks, ...] = ()
        for kept in self._samples(rng, len(labels), is_number=is_number):
            y = np.full(len(labels), np.nan)
            y[kept] = labels[kept]
            fitted = fit_candidate(self.model, learned, learned.part.X, y, is_number=is_number)
            bare = replace(fitted, completer=None)
            predicted = (*predicted, completed.map(_predictions, shared=(bare, is_number)))
        return BlockScores(completed, _kept_doubt, predicted, labels="only")

    def _samples(self, rng: np.random.Generator, n: int, *, is_number: bool) -> Iterator[IntArray]:
        """Yield which of n rows each model is trained on: all, or bootstrap samples for a committee."""
        if not is_number:
            yield np.arange(n)
            return
        for _ in range(self.members):
            yield np.unique(rng.choice(n, n))


def _doubt(predictions: Sequence[Float64Array], *, is_number: bool) -> Float64Array:
    """Return how unsure a committee is of numbers (m, 1), or one model of its probabilities (m, K); (m,)."""
    if is_number:
        return np.asarray(np.var(predictions, axis=0)[:, 0])
    (found,) = predictions
    return -np.asarray((found * np.log(np.maximum(found, 1e-12))).sum(axis=1))


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
    Scores are in nats or in units of the noise, raised by a constant if some would be negative. The error is
    judged on at most `JUDGED_ROWS` rows. If the model cannot learn, all missing labels score 1. Time: O(n d^2
    + n m K^2) for m judged rows and K classes. On row blocks, a few passes besides those of the linear model.

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
        X = standardised(completed, scaling)
        judged = X[sample_rows(len(X), JUDGED_ROWS, this_round.rng)]
        if this_round.target == "number":
            worth = variance_reduction(X, judged, ~unlabelled)
        else:
            coefficients = _of_standardised(model, scaling)
            worth = entropy_reduction(X, judged, ~unlabelled, coefficients)
            worth -= min(0.0, float(worth[unlabelled].min()))
        return _of_labels(this_round, worth, unlabelled)

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks."""
        if not sells_labels(prices):
            return BlockScores(completed, _nothing)
        n, code = completed.shape[0], labels_to_learn(completed)
        if code is None or sum(completed.summary.labelled) == n:
            return BlockScores(completed, _same_worth, labels="only")
        model = LinearModel.fit_blocks(completed)
        if not model.knows_something:
            return BlockScores(completed, _same_worth, labels="only")
        sums = TableProducts.of_blocks(completed)
        rows = sample_rows(n, JUDGED_ROWS, rng)
        judged = standardised(completed.rows(rows).completed, sums.scaling)
        if code.classes is None:
            reduction = VarianceReduction(sums.labelled, judged.T @ judged)
            return BlockScores(completed, _reduced, shared=(sums.scaling, reduction), labels="only")
        coefficients = _of_standardised(model, sums.scaling)
        shared = sums.scaling, coefficients
        information = completed.reduce(_information_of_block, add, shared=shared)[0]
        of_entropy = EntropyReduction(coefficients, information, judged)
        worths = completed.map(_entropy_of_block, shared=(sums.scaling, of_entropy))
        least = completed.reduce(_least, _lesser, worths)
        return BlockScores(completed, _raised, (worths,), (min(0.0, least),), labels="only")


def _of_standardised(model: LinearModel, scaling: Scaling) -> Float64Array:
    """Return the coefficients (d + 1, K) of a model for standardised rows, the intercepts last."""
    intercepts = model.intercepts + scaling.offset @ model.coefficients
    return np.vstack([model.coefficients * scaling.width[:, np.newaxis], intercepts])


def entropy_reduction(
    X: Float64Array, judged: Float64Array, labelled: BoolArray, coefficients: Float64Array
) -> Float64Array:
    """Return by how much each label (n,) is expected to reduce the mean entropy of predictions.

    Negative if it is expected to increase it, as the labels that disturb a model do.

    The probabilities of rows X (n, d) are the softmax of X times ``coefficients`` (d, K). A label moves the
    coefficients of each class by a Newton step of its own.
    """
    return EntropyReduction(coefficients, _information(X[labelled], coefficients), judged).by(X)


def _information(labelled: Float64Array, coefficients: Float64Array) -> Float64Array:
    """Return the information (K, d, d) of labelled rows (m, d) on the coefficients of each class."""
    P = softmax(labelled @ coefficients, axis=-1)
    return np.stack([(labelled.T * (p * (1 - p))) @ labelled for p in P.T])


@dataclass(frozen=True, eq=False)
class EntropyReduction:
    """By how much labels are expected to reduce the mean entropy of predictions; see `entropy_reduction`.

    Attributes
    ----------
    coefficients : (d, K) array
    information : (K, d, d) array
        Of the labelled rows on the coefficients of each class.
    judged : (m, d) array
        The rows whose predictions count.
    """

    coefficients: Float64Array
    information: Float64Array
    judged: Float64Array

    def by(self, X: Float64Array) -> Float64Array:
        """Return the reduction by the label of each row of X (n, d); O(n m K^2)."""
        (d, K), P = self.coefficients.shape, softmax(X @ self.coefficients, axis=-1)
        at_judged = self.judged @ self.coefficients
        factors = [cho_factor(each + np.eye(d) / INVERSE_PENALTY) for each in self.information]
        expected = np.zeros(len(X))
        for start in range(0, len(X), TRIED_AT_ONCE):
            some = slice(start, start + TRIED_AT_ONCE)
            rows, p = X[some], P[some]
            reach = np.empty((K, len(self.judged), len(rows)))
            for k in range(K):
                moved = cho_solve(factors[k], rows.T)
                curvature = p[:, k] * (1 - p[:, k]) * (rows * moved.T).sum(axis=1)
                reach[k] = self.judged @ (moved / (1 + curvature))
            for label in range(K):
                residual = (np.arange(K) == label) - p
                after = at_judged[:, np.newaxis] + np.einsum("kmn,nk->mnk", reach, residual)
                expected[some] += p[:, label] * _entropy(softmax(after, axis=-1)).mean(axis=0)
        return np.asarray(_entropy(softmax(at_judged, axis=-1)).mean() - expected)


def _entropy(probabilities: Float64Array) -> Float64Array:
    return -np.asarray((probabilities * np.log(np.maximum(probabilities, 1e-300))).sum(axis=-1))


def _can_learn(this_round: Round) -> bool:
    labels = this_round.labels
    return labels is not None and len(np.unique(labels[~np.isnan(labels)])) > 1


def _of_labels(this_round: Round, worth: Float64Array, unlabelled: BoolArray) -> Float64Array:
    scores = np.zeros((len(worth), this_round.X.shape[1] + 1))
    scores[:, -1] = np.where(unlabelled, worth, 0.0)
    return scores if this_round.label_prices is not None else scores[:, :-1]


def _nothing(filled: FilledPart) -> Float64Array:
    return np.zeros(filled.holes.shape)


def _alone(filled: FilledPart, worth: Float64Array) -> Float64Array:
    """Return scores (m, d + 1) of the labels of a block that are missing; cells have 0."""
    labels = np.where(unlabelled_rows(filled.part), worth, 0.0)
    return np.column_stack([np.zeros(filled.holes.shape), labels])


def _same_worth(filled: FilledPart) -> Float64Array:
    return _alone(filled, np.ones(len(filled.holes)))


def _predictions(filled: FilledPart, model: FittedModel, is_number: bool) -> Float64Array:
    """Return what is kept of a block's predictions, (m,): the numbers, or how unsure the model is."""
    found = model.predict_complete(filled.completed.astype(np.float64, copy=False))
    return found[:, 0] if is_number else _doubt([found], is_number=False)


def _kept_doubt(filled: FilledPart, *predicted: Float64Array) -> Float64Array:
    return _alone(filled, predicted[0] if len(predicted) == 1 else np.var(predicted, axis=0))


def _reduced(filled: FilledPart, scaling: Scaling, reduction: VarianceReduction) -> Float64Array:
    return _alone(filled, reduction.by(standardised(filled.completed, scaling)))


def _information_of_block(
    filled: FilledPart, scaling: Scaling, coefficients: Float64Array
) -> tuple[Float64Array]:
    labelled = filled.completed[~unlabelled_rows(filled.part)]
    return (_information(standardised(labelled, scaling), coefficients),)


def _entropy_of_block(filled: FilledPart, scaling: Scaling, reduction: EntropyReduction) -> Float64Array:
    """Return the worths of the labels of a block, (m,), which are worked out once; 0 where they are known."""
    found, unlabelled = np.zeros(len(filled.holes)), unlabelled_rows(filled.part)
    found[unlabelled] = reduction.by(standardised(filled.completed[unlabelled], scaling))
    return found


def _least(filled: FilledPart, worth: Float64Array) -> float:
    return float(worth[unlabelled_rows(filled.part)].min(initial=np.inf))


def _lesser(a: float, b: float) -> float:
    return min(a, b)


def _raised(filled: FilledPart, worth: Float64Array, least: float) -> Float64Array:
    return _alone(filled, worth - least)
