"""Scores from a completer's uncertainty about a cell, and from how much it matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.inputs import check_number
from cellworth.complete.linear_model import LinearModel
from cellworth.errors import ParameterError
from cellworth.score.block_scores import BlockScores, PartPrices, check_variance, column_variances
from cellworth.score.scorer import Memoryless, Round


@dataclass(eq=False)
class PosteriorVariance(Memoryless):
    """Score a cell by the fraction of its column's variance that the completer leaves unexplained.

    This is the completer's ``variance_`` divided by the variance of the column's observed cells (by 1 for a
    constant column): 0 if the rest of the row determines the cell, about 1 if it says nothing (a little more
    in small tables, where the model itself is uncertain). Needs no history and no labels, but a completer
    with a ``variance_``, such as `GaussianCompleter`. Costs O(nd).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import PosteriorVariance, Round
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=1000)
    >>> X = np.column_stack([height, height - 100 + rng.normal(0, 5, size=1000), rng.normal(size=1000)])
    >>> X[:500, 1:] = np.nan  # the second column follows the first, the third does not
    >>> this_round = Round(X, None, None, GaussianCompleter(margins="normal").fit(X), rng)
    >>> PosteriorVariance().score(this_round)[:500].mean(axis=0).round(1)
    array([0. , 0.2, 1. ])
    """

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d), in variances of the columns."""
        return posterior_variances(this_round) / this_round.column_variances

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks; ``rng`` and ``prices`` are not used."""
        check_variance(completed)
        return BlockScores(completed, _unexplained, shared=(column_variances(completed),))


@dataclass(eq=False)
class PosteriorImpact(Memoryless):
    r"""Score a cell by how far its uncertainty may move the prediction for its row.

    With the completer's standard deviation :math:`s_{ij}` of the cell, a logistic regression on the completed
    table with coefficients :math:`w_{jk}`, and its class probabilities :math:`p_{ik}` for the row,

    .. math:: I_{ij} = s_{ij}^q \sum_{k<l} p_{ik}\, p_{il}\, |w_{jk} - w_{jl}|^q

    For two classes this is :math:`(s\,|w|)^q\,p(1-p)`, with w the coefficient of the log-odds. For q = 2 it
    is :math:`s^2\, w_j^\top (\operatorname{diag} p - p p^\top)\, w_j`: twice the expected log-loss of not
    knowing the cell, to second order. For a numeric target it is :math:`(s\,|w|)^q`, with w the coefficient
    of a ridge regression: for q = 2, the variance of the prediction.

    Parameters
    ----------
    power : float, default=2.0
        q, positive. With 1, scores are closer together, so a batch drawn in proportion to them spreads
        more.

    Notes
    -----
    The units of the columns cancel. If the model cannot learn (no labels, or only one class), the scores are
    those of `PosteriorVariance`. Needs a completer with a ``variance_``, such as `GaussianCompleter`. Time:
    the regression, and O(n d K^2) for K classes. Keeps no state between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import PosteriorImpact, Round
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(float)  # only the first column matters
    >>> X[0] = np.nan
    >>> completer = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    >>> scores = PosteriorImpact().score(Round(X, y, "classes", completer, rng))
    >>> bool(scores[0, 0] > 50 * scores[0, 1])
    True
    """

    power: float = 2.0

    def __post_init__(self) -> None:
        check_number("power", self.power, above=0)

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d); for a numeric target, in its units to the power q."""
        variances = posterior_variances(this_round)
        model = this_round.fit_linear_model()
        if not model.knows_something:
            return variances / this_round.column_variances
        return impacts(variances, this_round.completed, model, self.power)

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks; ``rng`` and ``prices`` are not used."""
        check_variance(completed)
        model = LinearModel.fit_blocks(completed)
        if not model.knows_something:
            return PosteriorVariance().score_blocks(completed, rng)
        return BlockScores(completed, _impacts, shared=(model, self.power))


def impacts(
    variances: Float64Array, completed: Float64Array, model: LinearModel, power: float
) -> Float64Array:
    """Return the scores (m, d) of rows from the variances of their holes, 0 where observed.

    ``variances`` may be overwritten.
    """
    scores: Float64Array = variances if power == 2 else variances ** (power / 2)
    if model.is_number:
        scores *= np.abs(model.coefficients[:, 0]) ** power
    else:
        scores *= undecided(model.probabilities(completed), model.coefficients, power)
    return scores


def undecided(probabilities: Float64Array, coefficients: Float64Array, power: float) -> Float64Array:
    """Return, for all rows and columns (n, d), the sum over pairs of classes of p_k p_l |w_jk - w_jl|^power.

    Parameters
    ----------
    probabilities : (n, K) array
    coefficients : (d, K) array
    """
    total = np.zeros((len(probabilities), len(coefficients)))
    for k in range(probabilities.shape[1] - 1):
        distances = np.abs(coefficients[:, k + 1 :] - coefficients[:, k : k + 1]) ** power
        total += probabilities[:, k : k + 1] * (probabilities[:, k + 1 :] @ distances.T)
    return total


def posterior_variances(this_round: Round) -> Float64Array:
    """Return a copy of the completer's variances (n, d), 0 where observed; raise if it has none."""
    variances = getattr(this_round.completer, "variance_", None)
    if variances is None:
        raise ParameterError(
            "this scorer needs a completer with a variance for each cell; "
            f"{type(this_round.completer).__name__} has no variance_. Use GaussianCompleter, or score by "
            "Variance."
        )
    return np.array(variances, dtype=np.float64) * this_round.holes


def _hole_variances(filled: FilledPart) -> Float64Array:
    assert filled.variance is not None
    return filled.variance.astype(np.float64) * filled.holes


def _unexplained(filled: FilledPart, units: Float64Array) -> Float64Array:
    return _hole_variances(filled) / units


def _impacts(filled: FilledPart, model: LinearModel, power: float) -> Float64Array:
    return impacts(_hole_variances(filled), filled.completed.astype(np.float64, copy=False), model, power)
