"""Scorers over row blocks: what is remembered of earlier rounds stays where the blocks are."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Sized, join
from cellworth.blocks.writing import FilledPart
from cellworth.complete.linear_model import LinearModel
from cellworth.engine.first_round import first_round
from cellworth.errors import DataError, ParameterError
from cellworth.score import PosteriorImpact, PosteriorVariance, Variance
from cellworth.score.history import History
from cellworth.score.posterior import undecided

if TYPE_CHECKING:
    from cellworth.complete.completed_blocks import CompletedBlocks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The worths of all holes, block by block: made when they are asked for.

    Attributes
    ----------
    done : CompletedBlocks
    function : callable
        Of a `FilledPart`, of what the others hold for its block, and what all share; returns (m, d) worths.
    others : tuple of Blocks
    shared : tuple
    """

    done: CompletedBlocks
    function: Callable[..., Array]
    others: tuple[Blocks, ...] = ()
    shared: tuple[Any, ...] = ()

    def reduce(
        self, then: Callable[..., Any], merge: Callable[[Any, Any], Any], shared: tuple[Any, ...]
    ) -> Any:
        """Call ``then(filled, scores, *shared)`` on each block and merge the small results."""
        do = _Then(self.function, len(self.others) + len(self.shared), then)
        return self.done.reduce(do, merge, *self.others, shared=(*self.shared, *shared))

    def gather(self) -> Array:
        """Return all worths (n, d): for tables that fit in memory."""
        return np.concatenate(self.reduce(_alone, join, ()))


@dataclass(frozen=True)
class _Then:
    """Scores a completed block, and calls another function on the scores."""

    score: Callable[..., Array]
    n_arguments: int
    then: Callable[..., Any]

    def __call__(self, filled: FilledPart, *others: Any) -> Any:
        scores = self.score(filled, *others[: self.n_arguments])
        return self.then(filled, scores, *others[self.n_arguments :])


def _alone(filled: FilledPart, scores: Array) -> tuple[Array]:
    return (scores,)


class BlockScorer:
    """A scorer over row blocks. For `Variance`, use the same one in each round: it remembers the completions.

    Parameters
    ----------
    scorer : Variance, PosteriorVariance or PosteriorImpact
    random_state : int, Generator or None, default=0
        For the refits by which `Variance` judges a first round.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.blocks import open_blocks
    >>> from cellworth.engine import BlockScorer
    >>> from cellworth.score import Variance
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]
    >>> X[0] = [1.0, np.nan, np.nan]
    >>> scorer = BlockScorer(Variance())
    >>> for answer in (np.nan, 6.0):
    ...     X[0, 1] = answer
    ...     done = GaussianCompleter(margins="normal").fit(open_blocks(X)).completed_
    ...     scores = scorer.score(done)
    >>> bool(scores.gather()[0, 2] > 0.1)
    True
    """

    def __init__(self, scorer: Any, random_state: int | np.random.Generator | None = 0) -> None:
        if type(scorer) not in (Variance, PosteriorVariance, PosteriorImpact):
            raise ParameterError(
                "over row blocks cells are scored by Variance, PosteriorVariance or PosteriorImpact; got "
                f"{scorer!r}"
            )
        self.scorer = scorer
        self._rng = np.random.default_rng(random_state)
        self._history: Blocks | None = None
        self._rows: tuple[int, ...] = ()

    def score(self, done: CompletedBlocks) -> Scores:
        """Return the worths of a completed table's holes; `Variance` takes in its completion."""
        if isinstance(self.scorer, Variance):
            return self._by_history(done)
        _check_variance(done)
        units = np.square(done.summary.scaling("standard", np.dtype(np.float64)).width)
        if isinstance(self.scorer, PosteriorVariance):
            return Scores(done, _posterior_variance, shared=(units,))
        model = LinearModel.fit_blocks(done)
        if not model.knows_something:
            return Scores(done, _posterior_variance, shared=(units,))
        return Scores(done, _posterior_impact, shared=(model, self.scorer.power))

    def _by_history(self, done: CompletedBlocks) -> Scores:
        history = self._history
        units = np.square(done.summary.scaling("minmax", np.dtype(np.float64)).width)
        if history is None:
            self._rows = done.summary.rows
            self._history = done.map(_begin_history, shared=(self.scorer.window,))
            return first_round(done, units, self._rng)
        if self._rows != done.summary.rows:
            raise DataError(
                f"the table of the last round had blocks of {self._rows[:3]} rows and so on, this one has "
                f"{done.summary.rows[:3]}; rows and block_rows must stay the same from round to round."
            )
        self._history = done.map(_remember, history)
        return Scores(done, _spread, (self._history,), (units,))


def _check_variance(done: CompletedBlocks) -> None:
    if not done.has_variance:
        raise ParameterError(
            f"this scorer needs a completer that tells the variance of each cell; "
            f"{type(done.completer).__name__} does not. Use GaussianCompleter, or score by Variance."
        )


def _posterior_variance(filled: FilledPart, units: Array) -> Array:
    assert filled.variance is not None
    return filled.variance.astype(np.float64) * filled.holes / units


def _posterior_impact(filled: FilledPart, model: LinearModel, power: float) -> Array:
    assert filled.variance is not None
    scores: Array = (filled.variance.astype(np.float64) * filled.holes) ** (power / 2)
    if model.is_number:
        return scores * np.abs(model.coefficients[:, 0]) ** power
    completed = filled.completed.astype(np.float64, copy=False)
    return scores * undecided(model.probabilities(completed), model.coefficients, power)


@dataclass(frozen=True)
class BlockHistory(Sized):
    """What is remembered of the completions of one block."""

    history: History

    def longer(self, filled: FilledPart) -> BlockHistory:
        """Return the history after one more completion; this one stays as it was."""
        longer = deepcopy(self.history)
        longer.add(np.asarray(filled.completed, dtype=np.float64))
        return BlockHistory(longer)


def _begin_history(filled: FilledPart, window: int | None) -> BlockHistory:
    """Return the history of one block after its first completion."""
    return BlockHistory(Variance(window)._history).longer(filled)


def _remember(filled: FilledPart, before: BlockHistory) -> BlockHistory:
    return before.longer(filled)


def _spread(filled: FilledPart, remembered: BlockHistory, units: Array) -> Array:
    return remembered.history.spread(units) * filled.holes
