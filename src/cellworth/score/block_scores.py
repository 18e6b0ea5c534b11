"""Scores over row blocks, for tables that are not in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.engine_protocol import Blocks, join
from cellworth.blocks.row_source import Part
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.errors import ParameterError
from cellworth.score.scorer import Scorer


class PartPrices(Protocol):
    """What the cells of some rows cost alone, and their labels if they can be bought."""

    @property
    def sells_labels(self) -> bool:
        """Whether labels can be bought."""

    def __call__(self, part: Part) -> Float64Array:
        """Return what each cell (m, d) costs; see ``Round.prices``."""

    def of_labels(self, part: Part) -> Float64Array:
        """Return what each label (m,) costs, if labels can be bought; see ``Round.label_prices``."""


def sells_labels(prices: PartPrices | None) -> bool:
    """Return whether labels can be bought."""
    return prices is not None and prices.sells_labels


@dataclass(frozen=True)
class BlockScores:
    """The scores of all holes of a table of row blocks, computed block by block on demand.

    Attributes
    ----------
    completed : CompletedBlocks
        The table of the round.
    function : callable
        ``function(filled, *of_block, *shared)`` returns the scores (m, d) of the rows of a `FilledPart`:
        finite, nonnegative, 0 where observed. It must be a module-level function, so that it can be sent
        to workers. If labels can be bought, they may be (m, d + 1); see `Scorer.score`.
    others : tuple of Blocks
        What it needs for each block besides its rows.
    shared : tuple
        What it needs for the whole table; small.
    labels : {"none", "some", "only"}
        Whether labels have scores, the last column of d + 1, and cells none but 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.blocks import open_blocks
    >>> from cellworth.score import PosteriorVariance
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]
    >>> X[0] = [1.0, np.nan, np.nan]
    >>> completed = GaussianCompleter(margins="normal").fit(open_blocks(X)).completed_
    >>> scores = PosteriorVariance().score_blocks(completed, np.random.default_rng(0))
    >>> scores.gather().shape
    (60, 3)
    """

    completed: CompletedBlocks
    function: Callable[..., Float64Array]
    others: tuple[Blocks, ...] = ()
    shared: tuple[Any, ...] = ()
    labels: Literal["none", "some", "only"] = "none"

    def reduce(
        self, then: Callable[..., Any], merge: Callable[[Any, Any], Any], shared: tuple[Any, ...] = ()
    ) -> Any:
        """Call ``then(filled, scores, *shared)`` on each block and merge the small results; one pass."""
        do = _Then(self.function, len(self.others) + len(self.shared), then)
        return self.completed.reduce(do, merge, *self.others, shared=(*self.shared, *shared))

    def only(self, places: Sequence[int]) -> BlockScores:
        """Return the scores of some of the blocks, by their places; see `Source.only`."""
        others = tuple(each.only(places) for each in self.others)
        return replace(self, completed=self.completed.only(places), others=others)

    def gather(self) -> Float64Array:
        """Return all scores (n, d), or (n, d + 1) with labels, which must fit in memory."""
        return np.concatenate(self.reduce(_alone, join))


class BlockScorer(Scorer, Protocol):
    """A scorer that also works on row blocks."""

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Take the completed table of a round and return the scores that `score` would give.

        Called once per round, in order. The memory of earlier rounds may stay where the blocks are: it is not
        part of `state`.

        Parameters
        ----------
        completed : CompletedBlocks
        rng : Generator
            This round's generator. `numbers_from` gives each block its numbers.
        prices : PartPrices, optional
            Given a `Part`, returns what each of its cells (m, d) costs; and says what labels do, if they can
            be bought.
        """
        ...


def check_variance(completed: CompletedBlocks) -> None:
    """Raise if the completer has no variances."""
    if not completed.has_variance:
        raise ParameterError(
            "this scorer needs a completer with a variance for each cell; "
            f"{type(completed.completer).__name__} has none. Use GaussianCompleter, or score with Variance."
        )


def squared_ranges(completed: CompletedBlocks) -> Float64Array:
    """Return (max - min)^2 of the observed cells of each column (d,); see `Round.squared_ranges`."""
    return np.square(completed.summary.scaling("minmax", np.dtype(np.float64)).width)


def column_variances(completed: CompletedBlocks) -> Float64Array:
    """Return the variance of the observed cells of each column (d,); see `Round.column_variances`.

    The columns of a sparse table are in one unit, and may have few cells: all have the variance of the table.
    """
    if getattr(completed.source.table, "is_sparse", False):
        return np.full(completed.shape[1], completed.summary.sums.pooled_variance())
    return np.square(completed.summary.scaling("standard", np.dtype(np.float64)).width)


def numbers_from(generator: np.random.Generator, start: int, shape: Any) -> Float64Array:
    """Return what ``generator.random`` would give from the ``start``-th number on, without advancing it."""
    here = deepcopy(generator)
    skip(here, start)
    return here.random(shape)


def skip(generator: np.random.Generator, count: int) -> None:
    """Advance a generator past ``count`` numbers of its method ``random``, in constant time."""
    bits: Any = generator.bit_generator
    if not hasattr(bits, "advance"):
        raise ParameterError(
            f"over row blocks random numbers must come from PCG64 or Philox; got {type(bits).__name__}"
        )
    bits.advance(count)


@dataclass(frozen=True)
class _Then:
    """Score a completed block and call another function on the scores."""

    score: Callable[..., Float64Array]
    n_arguments: int
    then: Callable[..., Any]

    def __call__(self, filled: FilledPart, *others: Any) -> Any:
        scores = self.score(filled, *others[: self.n_arguments])
        return self.then(filled, scores, *others[self.n_arguments :])


def _alone(filled: FilledPart, scores: Float64Array) -> tuple[Float64Array]:
    return (scores,)
