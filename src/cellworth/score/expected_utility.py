"""Score whole rows by the value of knowing them before their class is decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.complete.linear_model import LinearModel
from cellworth.errors import ParameterError
from cellworth.score.posterior_scores import PosteriorVariance
from cellworth.score.scorer import Memoryless, Round, check_whole_number

CELLS_AT_A_TIME = 4_000_000  # of drawn tables: 32 MB


@dataclass(eq=False)
class ExpectedUtility(Memoryless):
    r"""Score a row by the expected gain from knowing its missing cells before its class is decided.

    The missing cells of a row are drawn from the completer's posterior, and a logistic regression on the
    completed table gives the class probabilities :math:`p_k` for each draw. Deciding after seeing the cells
    picks the most likely class of each draw; deciding before picks that of the mean. The difference,

    .. math:: I_{i} = \operatorname{E}\bigl[\max_k p_k\bigr] - \max_k \operatorname{E}\bigl[p_k\bigr] \ge 0

    is the expected gain in accuracy on that row. For a numeric target it is the variance of a ridge
    regression's prediction, the expected decrease in its squared error, in squared units of the target. All
    missing cells of a row get the row's score, so the highest scores belong to whole rows. Based on the
    selection of instances by expected utility of Moon, McCarter and Kuo (2014).

    Parameters
    ----------
    draws : int, default=20
        At least 2. The standard error of a score is at most 0.5 / sqrt(draws).

    Notes
    -----
    Not on row blocks: tables are drawn from one stream of normal variables, which cannot be cut by rows.

    Needs a completer with a ``sample`` method and a ``variance_``, such as `GaussianCompleter`. If the model
    cannot learn (no labels, or only one class), a row's score is the sum of its cells' `PosteriorVariance`.
    Time: the regression, the draws, and O(draws n d K) for K classes. Draws are made in parts of 32 MB. Keeps
    no state between rounds.

    References
    ----------
    S. Moon, C. McCarter and Y.-H. Kuo, "Active learning with partially featured data", Proceedings of the
    23rd International Conference on World Wide Web (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import Round
    >>> from cellworth.score.expected_utility import ExpectedUtility
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] > 0).astype(float)  # the first column decides
    >>> X[:2] = [[np.nan, 0.0], [1.5, np.nan]]
    >>> completer = GaussianCompleter(margins="normal", label_trust=0).fit(X, y)
    >>> scores = ExpectedUtility(draws=200).score(Round(X, y, "classes", completer, rng))
    >>> scores[:2].round(1)  # in the first row all depends on the missing cell
    array([[0.4, 0. ],
           [0. , 0. ]])
    """

    draws: int = 20

    def __post_init__(self) -> None:
        check_whole_number("draws", self.draws, 2)

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d): fractions of correct decisions, or squared units of the target."""
        if not hasattr(this_round.completer, "sample"):
            raise ParameterError(
                "ExpectedUtility needs a completer that can sample completed tables; "
                f"{type(this_round.completer).__name__} has no sample. Use GaussianCompleter."
            )
        model = this_round.fit_linear_model()
        if not model.knows_something:
            worth = PosteriorVariance().score(this_round).sum(axis=1)
        elif this_round.target == "number":
            worth = self._variance_of_number(this_round, model)
        else:
            worth = self._gain_in_accuracy(this_round, model)
        return worth[:, np.newaxis] * this_round.holes

    def _gain_in_accuracy(self, this_round: Round, model: LinearModel) -> Float64Array:
        """Return E[max p] - max E[p] of each row, (n,)."""
        likeliest = np.zeros(len(this_round.X))
        total = np.zeros((len(this_round.X), model.coefficients.shape[1]))
        for table in self._tables(this_round):
            probabilities = model.probabilities(table)
            likeliest += probabilities.max(axis=1)
            total += probabilities
        # Nonnegative up to rounding: the mean of the maxima is at least the maximum of the means.
        return np.maximum(0.0, likeliest - total.max(axis=1)) / self.draws

    def _variance_of_number(self, this_round: Round, model: LinearModel) -> Float64Array:
        """Return the variance of each row's prediction over the draws, (n,)."""
        return np.var([model.predict(table)[:, 0] for table in self._tables(this_round)], axis=0)

    def _tables(self, this_round: Round) -> Iterator[Float64Array]:
        """Yield completed tables (n, d) drawn with the round's generator."""
        at_a_time = max(1, CELLS_AT_A_TIME // this_round.X.size)
        for done in range(0, self.draws, at_a_time):
            count = min(at_a_time, self.draws - done)
            yield from this_round.completer.sample(count, random_state=this_round.rng)
