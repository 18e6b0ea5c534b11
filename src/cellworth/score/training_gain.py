r"""Score a cell by what it adds to the training of a model: the effective number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.complete.inputs import check_number
from cellworth.errors import ParameterError
from cellworth.model import Candidate, FittedModel, fit_candidate
from cellworth.model.cross_validation import deal
from cellworth.score.posterior_scores import posterior_variances
from cellworth.score.scorer import Memoryless, Round

TRAINING_ROWS = 4_000
"""The most rows the model is trained on; a sample of longer tables is used."""
EFFECT_ROWS = 400
"""The most rows whose predictions show what a column does."""
FOLDS = 3  # to estimate the noise of the labels
LEAST_NOISE = 0.1
"""The least noise of a label, as a share of its variance: no label is taken for exact."""


@dataclass(eq=False)
class TrainingGain(Memoryless):
    r"""Score a cell by how many effective training rows it adds, for any model of the target.

    The label of a row is known; what is missing is the row to learn it from. Let :math:`f` be a model trained
    on the completed table, :math:`s` the variance of a label about the prediction for its complete row, and
    :math:`u_i` the variance of that prediction that comes from not knowing the holes of row i. Then the label
    is a measurement of :math:`f(x_i)` with the variance :math:`s + u_i`, worth :math:`s/(s + u_i)` of a
    complete row. A cell that explains :math:`g_{ij}` of :math:`u_i` adds

    .. math:: \frac{s}{s + u_i - g_{ij}} - \frac{s}{s + u_i} .

    So cells pay in columns that move the prediction, where the rest of the row does not determine them, and
    most in rows that are nearly complete: a batch finishes rows instead of leaving all of them half known.

    Effects are estimated by column, where the evidence of many rows can be pooled. With two draws of the
    posterior, A and B, the total effect of column j (Sobol', Jansen) is half the mean square of
    :math:`f(A) - f(A_j)`, where :math:`A_j` is A with column j taken from B. Divided by the mean share
    :math:`\rho_{ij}` of the column's variance that is unexplained, it is the effect :math:`w_j` of a cell of
    which nothing is known, and :math:`g_{ij} = w_j\,\rho_{ij}`, :math:`u_i = \sum_j g_{ij}`.

    Parameters
    ----------
    model : str or Candidate, default="extra trees"
        The model of the target: a name of `cellworth.model.default_models`, or a candidate.
    doubt : float, default=0.1
        Between 0 and 1: the share of the mean effect in every column's effect. Effects are estimated from few
        cells at first; without doubt, a column that was overlooked would never be tried.

    Notes
    -----
    Scores are numbers of rows. If the model cannot learn (no labels, or only one class), they are the shares
    of variance of `PosteriorVariance`. Needs a completer with ``variance_`` and ``sample``, such as
    `GaussianCompleter`. Time: 1 + `FOLDS` fits of the model to at most `TRAINING_ROWS` rows, its predictions
    for d times `EFFECT_ROWS` rows, and O(n d). Keeps no state between rounds.

    References
    ----------
    M. J. W. Jansen, "Analysis of variance designs for model output", Computer Physics Communications 117
    (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import Round, TrainingGain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = (np.abs(X[:, 0]) > 0.7).astype(float)  # the first column matters, but not linearly
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> completer = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    >>> scores = TrainingGain().score(Round(X, y, "classes", completer, rng))
    >>> holes = np.isnan(X)
    >>> bool(scores[holes[:, 0], 0].mean() > 3 * scores[holes[:, 1], 1].mean())
    True
    """

    model: str | Candidate = "extra trees"
    doubt: float = 0.1

    def __post_init__(self) -> None:
        check_number("doubt", self.doubt, minimum=0)
        if self.doubt > 1:
            raise ParameterError(f"doubt must be at most 1; got {self.doubt!r}")

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d), in rows."""
        unexplained = posterior_variances(this_round) / this_round.column_variances
        labels = this_round.labels
        if labels is None or len(np.unique(labels[~np.isnan(labels)])) < 2:
            return unexplained
        training = _Training.of(this_round, labels)
        weights = self._weights(this_round, training.fit(self.model), unexplained)
        explained = unexplained * weights
        missing = explained.sum(axis=1, keepdims=True)
        noise = training.noise(self.model, float(missing[training.rows].mean()))
        before = noise + missing
        after = np.maximum(before - explained, noise)
        gained: Float64Array = noise / after - noise / before
        return np.maximum(gained, 0.0) * this_round.holes

    def _weights(self, this_round: Round, model: FittedModel, unexplained: Float64Array) -> Float64Array:
        """Return the effect (d,) of a cell in each column of which nothing is known."""
        n, d = unexplained.shape
        rows = np.arange(n)
        if n > EFFECT_ROWS:
            rows = np.sort(this_round.rng.choice(n, EFFECT_ROWS, replace=False))
        first, second = _draws(this_round, rows)
        of_first = model.predict_complete(first)
        effects = np.zeros(d)
        for j in np.flatnonzero(this_round.holes[rows].any(axis=0)):
            open_rows = this_round.holes[rows, j]
            changed = first[open_rows]
            changed[:, j] = second[open_rows, j]
            moved = model.predict_complete(changed) - of_first[open_rows]
            effects[j] = (moved**2).sum() / 2 / max(float(unexplained[rows[open_rows], j].sum()), 1e-12)
        if not effects.any():
            return np.ones(d)
        return (1 - self.doubt) * effects + self.doubt * effects.mean()


def _draws(this_round: Round, rows: IntArray) -> Float64Array:
    """Return two draws (2, m, d) of the posterior of some rows."""
    sample = getattr(this_round.completer, "sample", None)
    if sample is None:
        raise ParameterError(
            "this scorer needs a completer that draws from its posterior; "
            f"{type(this_round.completer).__name__} has no method sample. Use GaussianCompleter."
        )
    return np.asarray(sample(2, this_round.rng), dtype=np.float64)[:, rows]


@dataclass(frozen=True, eq=False)
class _Training:
    """The rows that models are trained on.

    Attributes
    ----------
    round : Round
    labels : (n,) array
        NaN in rows that are not trained on.
    fold : (n,) array of int
        -1 in rows that are not trained on.
    """

    round: Round
    labels: Float64Array
    fold: IntArray

    @classmethod
    def of(cls, this_round: Round, labels: Float64Array) -> _Training:
        rows = np.flatnonzero(~np.isnan(labels))
        if len(rows) > TRAINING_ROWS:
            rows = np.sort(this_round.rng.choice(rows, TRAINING_ROWS, replace=False))
        fold = np.full(len(labels), -1)
        fold[rows] = deal(labels[rows], FOLDS, this_round.rng, classes=this_round.target != "number")
        return cls(this_round, np.where(fold >= 0, labels, np.nan), fold)

    @property
    def rows(self) -> IntArray:
        """Their numbers in the table, (m,)."""
        return np.flatnonzero(self.fold >= 0)

    @property
    def is_number(self) -> bool:
        """Whether the target is a number."""
        return self.round.target == "number"

    def fit(self, model: str | Candidate, without: int | None = None) -> FittedModel:
        """Return the model trained on these rows, or on those outside a fold."""
        labels = self.labels if without is None else np.where(self.fold == without, np.nan, self.labels)
        return fit_candidate(
            model,
            self.round.completer,
            self.round.X,
            labels,
            is_number=self.is_number,
            n_classes=None if self.is_number else int(np.nanmax(self.labels)) + 1,
        )

    def noise(self, model: str | Candidate, missing: float) -> float:
        """Return the variance of a label about its prediction from a complete row.

        That is the mean squared error in held-out rows less ``missing``, the part that comes from their
        holes. For classes, squares are summed over the probabilities of the classes.
        """
        labels = self.labels[self.rows]
        truth = labels[:, np.newaxis]
        if not self.is_number:
            truth = np.eye(int(labels.max()) + 1)[labels.astype(np.intp)]
        spread = float(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
        fold, completed = self.fold[self.rows], self.round.completed[self.rows]
        squares = np.zeros(len(truth))
        for number in range(FOLDS):
            held = fold == number
            if len(np.unique(labels[~held])) < 2:
                continue  # nothing can be learned from the other folds
            predicted = self.fit(model, without=number).predict_complete(completed[held])
            squares[held] = ((truth[held] - predicted) ** 2).sum(axis=1)
        return max(float(squares.mean()) - missing, LEAST_NOISE * spread)
