"""Score a cell by what it adds to the training of a model: the effective number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.row_source import Part
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.hold_out import sample_rows
from cellworth.complete.inputs import check_choice, check_number
from cellworth.complete.labels import unlabelled_rows
from cellworth.complete.row_finders import LabelledRows, RowFinder, RowsAt
from cellworth.errors import ParameterError
from cellworth.model import Candidate, FittedModel
from cellworth.score.block_scores import (
    BlockScores,
    PartPrices,
    check_variance,
    column_variances,
    sells_labels,
)
from cellworth.score.column_effects import effects_beyond_chance, fit_with_chance
from cellworth.score.effective_rows import (
    completion_gains,
    joint_gains,
    label_gains,
    shared_gains,
    with_completion,
)
from cellworth.score.label_information import LabelInformation, TableProducts
from cellworth.score.posterior_scores import PosteriorVariance, posterior_variances
from cellworth.score.scorer import Memoryless, Round
from cellworth.score.training_rows import GatheredRows, labels_to_learn, training_sample

EFFECT_ROWS = 400
"""The most rows whose predictions show what a column does."""


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
    docs/explanation/labels-and-cells.md for how it follows from the variance of the predictions. A model of
    few rows moves too little, so that rows with many holes would seem nearly complete, and labels cheap.
    Where labels can be bought, effects are therefore scaled to sum up to the variance of the labels less s,
    which is what a complete row explains. Rows differ
    in what their label tells: all that is gained with a label is multiplied by 2 v / (1 + v), where v is the
    reduction of the variance of a linear model's predictions (see `LabelInformation`), relative to the mean
    over the rows without a label.

    A cell of a row that is and stays without a label pays through the completion alone: with :math:`c_j`
    cells of column j known and d columns, the guesses of the column carry about :math:`d/c_j` times their own
    variance as the error of the estimated model, of which one more cell takes :math:`1/(c_j + 1)`. Its score
    is what this adds to the labelled rows that lack column j. If labels can be bought, it is added to the
    scores of the cells of labelled rows, and is the least score of the others.

    What a cell explains is estimated by column, where the evidence of many rows is pooled: the effect
    :math:`w_j` of a cell of which nothing is known is how far draws of column j move the predictions, less
    what chance would show (see `cellworth.score.column_effects`). With the share :math:`\rho_{ij}` of the
    column's variance that is unexplained in row i, a cell explains :math:`w_j\,\rho_{ij}`, and :math:`u_i` is
    their sum.

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
    `GaussianCompleter`. Time: two fits of the model to at most `TRAINING_ROWS` rows, their predictions for d
    times `EFFECT_ROWS` rows, and O(n d) for each slope of the curves, of which rows rarely have more than a
    few. Keeps no state between rounds.

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
        check_choice("buys", self.buys, ("both", "cells", "labels"))

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
        n_labelled = int((~np.isnan(labels)).sum())
        trained, seed, judged, told = self._rows(this_round.rng, n_labelled, len(labels), sells=sells)
        models, noise = self._fit(this_round, labels, trained, seed)
        draws = _draws(this_round, judged)
        effects = self._effects(models, draws, this_round.holes[judged], unexplained[judged])
        explained = unexplained * effects * this_round.holes
        unlabelled, prices = this_round.unlabelled, this_round.label_prices
        if sells:
            explained = explained * self._label_scale(effects, noise)
        if sells and self.buys == "labels":
            return label_gains(explained, noise, unlabelled) * _leverages(this_round, told)
        learned, known = explained[np.flatnonzero(~unlabelled)[trained]], (~this_round.holes).sum(axis=0)
        through = completion_gains(learned, noise, known, n_labelled)
        if prices is None or not sells:
            gains = shared_gains(explained, noise, this_round.prices)
            gains[unlabelled] = through
            return gains * this_round.holes
        gains = joint_gains(explained, noise, unlabelled, this_round.prices, prices)
        gains *= _leverages(this_round, told)
        return with_completion(gains, through, unlabelled, this_round.holes)

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks.

        The model, the effects, what a better completion adds and what labels tell on average are learned from
        rows that are gathered in one pass.
        """
        check_variance(completed)
        code, units = labels_to_learn(completed), column_variances(completed)
        sells = sells_labels(prices) and self.buys != "cells"
        if code is None:
            if sells:
                return BlockScores(completed, _labels_first, labels="only")
            return PosteriorVariance().score_blocks(completed, rng)
        n, n_labelled = completed.shape[0], sum(completed.summary.labelled)
        ranks, seed, judged, told = self._rows(rng, n_labelled, n, sells=sells)
        find: list[RowFinder] = [LabelledRows.of(completed.summary, ranks), RowsAt(judged)]
        if sells:
            find.append(LabelledRows.of(completed.summary, told, labelled=False))
            (trained, judged, told), some, products = TableProducts.with_rows(completed, find)
        else:
            (trained, judged), some = completed.rows_where(*find)
        numbers = np.union1d(np.union1d(trained, judged), told)
        learned = GatheredRows(some, np.searchsorted(numbers, trained))
        y, is_number = learned.labels(code), code.classes is None
        models = fit_with_chance(self.model, learned, learned.part.X, y, is_number=is_number, seed=seed)
        noise = self._noise_of(y, is_number=is_number)
        at = np.searchsorted(numbers, judged)
        shown, holes = some.part.some(at), some.holes[at]
        draws = _drawn_part(completed.completer, shown, rng)
        assert some.variance is not None
        effects = self._effects(models, draws, holes, some.variance[at] * holes / units)
        if sells:
            effects = effects * self._label_scale(effects, noise)
            information = LabelInformation.of_products(
                products, some.completed[np.searchsorted(numbers, told)]
            )
        if sells and self.buys == "labels":
            shared: tuple[Any, ...] = units, effects, noise, information
            return BlockScores(completed, _label_gains_of_block, shared=shared, labels="only")
        of_trained = _explained(some, units, effects)[np.searchsorted(numbers, trained)]
        through = completion_gains(of_trained, noise, completed.summary.counts, n_labelled)
        shared = units, effects, noise, through, prices
        if sells:
            return BlockScores(completed, _joint_gains_of_block, shared=(*shared, information), labels="some")
        return BlockScores(completed, _gains_of_block, shared=shared)

    def _rows(
        self, rng: np.random.Generator, n_labelled: int, n: int, *, sells: bool
    ) -> tuple[IntArray, int, IntArray, IntArray]:
        """Return which labelled rows to train on, counted among them, a seed, and the rows to judge on.

        And, if labels can be bought, which rows without one show what they tell, counted among these.
        """
        trained, seed = training_sample(rng, n_labelled), int(rng.integers(2**31))
        judged = sample_rows(n, EFFECT_ROWS, rng)
        told = training_sample(rng, n - n_labelled) if sells else np.zeros(0, dtype=np.intp)
        return trained, seed, judged, told

    def _noise_of(self, y: Float64Array, *, is_number: bool) -> float:
        """Return the noise of a label; for classes, squares are summed over the classes."""
        if is_number:
            return self.noise * float(y.var())
        shares = np.bincount(y.astype(np.intp)) / len(y)
        return self.noise * float((shares * (1 - shares)).sum())

    def _label_scale(self, effects: Float64Array, noise: float) -> float:
        """Return by what effects (d,) are multiplied so that a complete row explains all but the noise."""
        return noise * (1 / self.noise - 1) / float(effects.sum()) if self.noise < 1 else 1.0

    def _fit(
        self, this_round: Round, labels: Float64Array, trained: IntArray, seed: int
    ) -> tuple[tuple[FittedModel, FittedModel], float]:
        """Return what `fit_with_chance` makes of some of the labelled rows, and the noise of a label."""
        rows = np.flatnonzero(~np.isnan(labels))[trained]
        used = np.full(len(labels), np.nan)
        used[rows] = labels[rows]
        is_number = this_round.target == "number"
        models = fit_with_chance(
            self.model, this_round.completer, this_round.X, used, is_number=is_number, seed=seed
        )
        return models, self._noise_of(labels[rows], is_number=is_number)

    def _effects(
        self,
        models: tuple[FittedModel, FittedModel],
        draws: Float64Array,
        holes: BoolArray,
        unexplained: Float64Array,
    ) -> Float64Array:
        """Return the effect (d,) of a cell in each column; the parameters are `effects_beyond_chance`'s."""
        effects = effects_beyond_chance(models, draws, holes, unexplained)
        if not effects.any():
            return np.ones_like(effects)
        return (1 - self.doubt) * effects + self.doubt * effects.mean()


def _leverages(this_round: Round, told: IntArray) -> Float64Array:
    """Return what the label of each row tells, (n, 1); ``told`` are some of the rows without one."""
    completed, unlabelled = this_round.completed, this_round.unlabelled
    information = LabelInformation.of(completed, unlabelled, np.flatnonzero(unlabelled)[told])
    return information.leverages(completed, unlabelled)[:, np.newaxis]


def _draws(this_round: Round, rows: IntArray) -> Float64Array:
    """Return two draws (2, m, d) of the posterior of some rows."""
    completer = this_round.completer
    if hasattr(completer, "sample_rows"):
        return np.asarray(completer.sample_rows(rows, 2, this_round.rng), dtype=np.float64)
    if not hasattr(completer, "sample"):
        raise ParameterError(_no_draws(completer))
    return np.asarray(completer.sample(2, this_round.rng), dtype=np.float64)[:, rows]


def _drawn_part(completer: Any, part: Part, rng: np.random.Generator) -> Float64Array:
    """Return two draws (2, m, d) of rows of a table of row blocks."""
    if not hasattr(completer, "sample_part"):
        raise ParameterError(_no_draws(completer))
    return np.asarray(completer.sample_part(part, 2, rng), dtype=np.float64)


def _no_draws(completer: Any) -> str:
    return (
        "this scorer needs a completer that draws from its posterior; "
        f"{type(completer).__name__} has no method sample. Use GaussianCompleter."
    )


def _explained(filled: FilledPart, units: Float64Array, effects: Float64Array) -> Float64Array:
    assert filled.variance is not None
    return filled.variance.astype(np.float64) * filled.holes / units * effects


def _gains_of_block(
    filled: FilledPart,
    units: Float64Array,
    effects: Float64Array,
    noise: float,
    through: Float64Array,
    prices: PartPrices | None,
) -> Float64Array:
    explained = _explained(filled, units, effects)
    gains = shared_gains(explained, noise, None if prices is None else prices(filled.part))
    gains[unlabelled_rows(filled.part)] = through
    return gains * filled.holes


def _joint_gains_of_block(
    filled: FilledPart,
    units: Float64Array,
    effects: Float64Array,
    noise: float,
    through: Float64Array,
    prices: PartPrices,
    information: LabelInformation,
) -> Float64Array:
    explained, part = _explained(filled, units, effects), filled.part
    unlabelled = unlabelled_rows(part)
    gains = joint_gains(explained, noise, unlabelled, prices(part), prices.of_labels(part))
    gains *= information.leverages(filled.completed, unlabelled)[:, np.newaxis]
    return with_completion(gains, through, unlabelled, filled.holes)


def _label_gains_of_block(
    filled: FilledPart,
    units: Float64Array,
    effects: Float64Array,
    noise: float,
    information: LabelInformation,
) -> Float64Array:
    unlabelled = unlabelled_rows(filled.part)
    gains = label_gains(_explained(filled, units, effects), noise, unlabelled)
    gains *= information.leverages(filled.completed, unlabelled)[:, np.newaxis]
    return gains


def _labels_first(filled: FilledPart) -> Float64Array:
    return np.column_stack([np.zeros(filled.holes.shape), unlabelled_rows(filled.part)])
