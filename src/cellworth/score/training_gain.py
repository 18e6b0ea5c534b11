"""Score a cell by what it adds to the training of a model: the effective number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.complete.inputs import check_number
from cellworth.errors import ParameterError
from cellworth.model import Candidate, FittedModel, fit_candidate
from cellworth.score.posterior_scores import posterior_variances
from cellworth.score.scorer import Memoryless, Round

TRAINING_ROWS = 4_000
"""The most rows the model is trained on; a sample of longer tables is used."""
EFFECT_ROWS = 400
"""The most rows whose predictions show what a column does."""
PREDICTED_AT_ONCE = 10_000
"""About how many rows the model predicts in one call: a forest's calls are slow, and rows take memory."""
LABEL_FIRST = 1e-9
"""By how much a label is ahead of the cells that pay together with it: they are bought after it."""


@dataclass(eq=False)
class TrainingGain(Memoryless):
    r"""Score a cell by how many effective training rows it adds, for any model of the target.

    Where the label of a row is known, what is missing is the row to learn it from. Let f be a model trained
    on the completed table, s the variance of a label about the prediction for its complete row, and
    :math:`u_i` the variance of that prediction that comes from not knowing the holes of row i. Then the label
    is a measurement of :math:`f(x_i)` with the variance :math:`s + u_i`, worth :math:`s/(s + u_i)` of a
    complete row. Cells that explain g of :math:`u_i` add

    .. math:: G(g) = \frac{s}{s + u_i - g} - \frac{s}{s + u_i}

    rows. So cells pay in columns that move the prediction, where the rest of the row does not determine them,
    and more the fewer holes remain: G is convex, and the last cell of a row adds most. To finish a row takes
    several cells, none of which may be worth much alone. So with the holes of a row ordered by what they
    explain per unit of money, take the least concave curve above the gain of the first k as a function of
    their price. The score of a cell is the slope there times its price: cells that pay only together share
    what they bring, in proportion to what they cost.

    Where the label can be bought, too, it comes first: without it the cells of the row add nothing to the
    training, and with it alone the row adds :math:`s/(s + u_i)`. The curve of such a row starts at 0, then
    has the label, then its cells, and label and cells share what they bring as cells do: one currency. See
    docs/explanation/labels-and-cells.md for how it follows from the variance of the predictions. A cell of a
    row that is and stays without a label pays through the completion alone: with :math:`c_j` cells of column
    j known and d columns, the guesses of the column carry about :math:`d/c_j` times their own variance as
    the error of the estimated model, of which one more cell takes :math:`1/(c_j + 1)`. Its score is what
    this adds to the labelled rows that lack column j.

    What a cell explains is estimated by column, where the evidence of many rows is pooled. With two draws of
    the posterior, A and B, the total effect of column j (Jansen) is half the mean square of
    :math:`f(A) - f(A_j)`, where :math:`A_j` is A with column j taken from B. Divided by the mean share
    :math:`\rho_{ij}` of the column's variance that is unexplained, it is the effect :math:`w_j` of a cell of
    which nothing is known. A cell explains :math:`w_j\,\rho_{ij}`, and :math:`u_i` is their sum.

    Parameters
    ----------
    model : str or Candidate, default="extra trees"
        The model of the target: a name of `cellworth.model.default_models`, or a candidate.
    noise : float, default=0.1
        s, as a share of the variance of the labels; positive. The smaller, the more a batch finishes rows.
    doubt : float, default=0.1
        Between 0 and 1: the share of the mean effect in every column's effect. Effects are estimated from few
        cells at first; without doubt, a column that was overlooked would never be tried.
    buys : {"both", "cells", "labels"}, default="both"
        What to score if labels can be bought; what is left out scores 0.

    Notes
    -----
    Scores are numbers of rows. If the model cannot learn (no labels, or only one class), they are the shares
    of variance of `PosteriorVariance`. Needs a completer with ``variance_`` and ``sample``, such as
    `GaussianCompleter`. Time: a fit of the model to at most `TRAINING_ROWS` rows, its predictions for d times
    `EFFECT_ROWS` rows, and O(n d) for each slope of the curves, of which rows rarely have more than a few.
    Keeps no state between rounds.

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
    noise: float = 0.1
    doubt: float = 0.1
    buys: Literal["both", "cells", "labels"] = "both"

    def __post_init__(self) -> None:
        check_number("noise", self.noise, above=0)
        check_number("doubt", self.doubt, minimum=0)
        if self.doubt > 1:
            raise ParameterError(f"doubt must be at most 1; got {self.doubt!r}")
        if self.buys not in ("both", "cells", "labels"):
            raise ParameterError(f"buys must be 'both', 'cells' or 'labels'; got {self.buys!r}")

    @property
    def labels_only(self) -> bool:
        """Whether there is nothing to score unless labels can be bought."""
        return self.buys == "labels"

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d), in rows; with those of the labels last if they can be bought."""
        unexplained = posterior_variances(this_round) / this_round.column_variances
        labels = this_round.labels
        sells = this_round.label_prices is not None and self.buys != "cells"
        if labels is None or len(np.unique(labels[~np.isnan(labels)])) < 2:
            # Labels first: without two different ones there is nothing to learn.
            return np.column_stack([0 * unexplained, this_round.unlabelled]) if sells else unexplained
        model, noise = self._fit(this_round, labels)
        explained = unexplained * self._effects(this_round, model, unexplained) * this_round.holes
        unlabelled, prices = this_round.unlabelled, this_round.label_prices
        if self.buys == "labels" and sells:
            return label_gains(explained, noise, unlabelled)
        through = completion_gains(explained, this_round.holes, noise, unlabelled)
        if prices is None or not sells:
            gains = shared_gains(explained, noise, this_round.prices)
            gains[unlabelled] = through
            return gains * this_round.holes
        gains = joint_gains(explained, noise, unlabelled, this_round.prices, prices)
        gains[unlabelled, :-1] += through
        gains[:, :-1] *= this_round.holes
        return gains

    def _fit(self, this_round: Round, labels: Float64Array) -> tuple[FittedModel, float]:
        """Return the model, and the noise of a label; for classes, squares are summed over the classes."""
        rows = np.flatnonzero(~np.isnan(labels))
        if len(rows) > TRAINING_ROWS:
            rows = np.sort(this_round.rng.choice(rows, TRAINING_ROWS, replace=False))
        used = np.full(len(labels), np.nan)
        used[rows] = labels[rows]
        is_number = this_round.target == "number"
        model = fit_candidate(
            self.model, this_round.completer, this_round.X, used, is_number=is_number, seed=_seed(this_round)
        )
        if is_number:
            return model, self.noise * float(labels[rows].var())
        shares = np.bincount(labels[rows].astype(np.intp)) / len(rows)
        return model, self.noise * float((shares * (1 - shares)).sum())

    def _effects(self, this_round: Round, model: FittedModel, unexplained: Float64Array) -> Float64Array:
        """Return the effect (d,) of a cell in each column of which nothing is known."""
        n, d = unexplained.shape
        rows = np.arange(n)
        if n > EFFECT_ROWS:
            rows = np.sort(this_round.rng.choice(n, EFFECT_ROWS, replace=False))
        first, second = _draws(this_round, rows)
        of_first = model.predict_complete(first)
        effects = np.zeros(d)
        columns = np.flatnonzero(this_round.holes[rows].any(axis=0))
        if not len(columns):
            return np.ones(d)
        for some in np.array_split(columns, max(1, len(columns) * len(rows) // PREDICTED_AT_ONCE)):
            of, open_rows = np.nonzero(this_round.holes[rows][:, some].T)
            changed = first[open_rows]
            changed[np.arange(len(of)), some[of]] = second[open_rows, some[of]]
            moved = model.predict_complete(changed) - of_first[open_rows]
            squares = (moved**2).reshape(len(of), -1).sum(axis=1)
            unknown = unexplained[rows[open_rows], some[of]]
            sums = [np.bincount(of, each, minlength=len(some)) for each in (squares, unknown)]
            effects[some] = sums[0] / 2 / np.maximum(sums[1], 1e-12)
        if not effects.any():
            return np.ones(d)
        return (1 - self.doubt) * effects + self.doubt * effects.mean()


def shared_gains(explained: Float64Array, noise: float, prices: Float64Array | None = None) -> Float64Array:
    """Return what each cell adds in effective rows, (n, d), if cells that pay together share their gain.

    ``explained`` (n, d) is the variance that each cell explains, 0 where known; ``prices`` (n, d) are
    positive, by default 1.
    """
    prices = np.ones(explained.shape) if prices is None else prices
    order, money, curve = _ordered(explained, noise, prices)
    shared = np.empty_like(explained)
    np.put_along_axis(shared, order, _concave_slopes(money, curve), axis=1)
    return shared * prices


def _ordered(
    explained: Float64Array, noise: float, prices: Float64Array
) -> tuple[IntArray, Float64Array, Float64Array]:
    """Return the order of the cells (n, d), and money and effective rows (n, d + 1) after the first k."""
    n, d = explained.shape
    order = np.argsort(-explained / prices, axis=1, kind="stable")
    money, left = np.zeros((n, d + 1)), np.zeros((n, d + 1))
    np.cumsum(np.take_along_axis(prices, order, axis=1), axis=1, out=money[:, 1:])
    backwards = np.take_along_axis(explained, order, axis=1)[:, ::-1]
    left[:, :-1] = np.cumsum(backwards, axis=1)[:, ::-1]
    return order, money, noise / (noise + left)


def label_gains(explained: Float64Array, noise: float, unlabelled: BoolArray) -> Float64Array:
    """Return what each label adds alone in effective rows, in the last column of (n, d + 1); cells have 0."""
    gains = np.zeros((len(explained), explained.shape[1] + 1))
    gains[:, -1] = np.where(unlabelled, noise / (noise + explained.sum(axis=1)), 0.0)
    return gains


def joint_gains(
    explained: Float64Array,
    noise: float,
    unlabelled: BoolArray,
    prices: Float64Array | None,
    label_prices: Float64Array,
) -> Float64Array:
    """Return what cells and labels add in effective rows, (n, d + 1), if those that pay together share it.

    Like `shared_gains`; the labels of the ``unlabelled`` rows (n,) are the last column, and come first.
    """
    n, d = explained.shape
    prices = np.ones((n, d)) if prices is None else prices
    gains = np.zeros((n, d + 1))
    labelled = np.flatnonzero(~unlabelled)
    gains[labelled, :-1] = shared_gains(explained[labelled], noise, prices[labelled])
    rows = np.flatnonzero(unlabelled)
    order, money, curve = _ordered(explained[rows], noise, prices[rows])
    first = label_prices[rows, np.newaxis]
    slopes = _concave_slopes(
        np.hstack([np.zeros_like(first), first + money]), np.hstack([np.zeros_like(first), curve])
    )
    shared = np.empty((len(rows), d))
    np.put_along_axis(shared, order, slopes[:, 1:], axis=1)
    gains[rows, :-1] = shared * prices[rows]
    gains[rows, -1] = slopes[:, 0] * label_prices[rows] * (1 + LABEL_FIRST)
    return gains


def completion_gains(
    explained: Float64Array, holes: BoolArray, noise: float, unlabelled: BoolArray
) -> Float64Array:
    """Return what one more cell of each column (d,) adds to the labelled rows through the completion."""
    d, known = explained.shape[1], (~holes).sum(axis=0)
    of_row = np.where(unlabelled, 0.0, noise / np.square(noise + explained.sum(axis=1)))
    return d / (np.maximum(known, 1) * (known + 1.0)) * (of_row @ explained)


def _concave_slopes(money: Float64Array, curve: Float64Array) -> Float64Array:
    """Return the slopes (n, d) of the least concave curve above each row of ``curve`` (n, d + 1).

    ``money`` (n, d + 1) has the place of each point; it increases.
    """
    n, d = curve.shape[0], curve.shape[1] - 1
    slopes = np.zeros((n, d))
    start = np.zeros(n, dtype=np.intp)
    steps, active = np.arange(d + 1), np.arange(n)
    while len(active):
        begun = start[active, np.newaxis]
        run = money[active] - np.take_along_axis(money[active], begun, axis=1)
        rise = curve[active] - np.take_along_axis(curve[active], begun, axis=1)
        slope = np.where(steps > begun, rise / np.where(run > 0, run, 1.0), -np.inf)
        end = d - slope[:, ::-1].argmax(axis=1)  # the furthest of equals
        best = slope[np.arange(len(active)), end]
        here = (steps[:-1] >= begun) & (steps[:-1] < end[:, np.newaxis])
        slopes[active] = np.where(here, best[:, np.newaxis], slopes[active])
        start[active] = end
        active = active[end < d]
    return slopes


def _seed(this_round: Round) -> int:
    return int(this_round.rng.integers(2**31))


def _draws(this_round: Round, rows: IntArray) -> Float64Array:
    """Return two draws (2, m, d) of the posterior of some rows."""
    sample = getattr(this_round.completer, "sample", None)
    if sample is None:
        raise ParameterError(
            "this scorer needs a completer that draws from its posterior; "
            f"{type(this_round.completer).__name__} has no method sample. Use GaussianCompleter."
        )
    return np.asarray(sample(2, this_round.rng), dtype=np.float64)[:, rows]
