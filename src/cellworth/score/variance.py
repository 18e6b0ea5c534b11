"""The paper's score: how much a cell's completion varies from round to round."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.engine_protocol import Blocks, Sized
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.errors import DataError
from cellworth.score.block_scores import BlockScores, PartPrices, squared_ranges
from cellworth.score.completion_history import History, history_of
from cellworth.score.first_round import first_round_block_scores, first_round_scores
from cellworth.score.scorer import Round, State, check_whole_number


@dataclass(eq=False)
class Variance:
    r"""Score a cell by the spread of its completions over rounds, Eq. (5) of Huang et al. (KDD 2018).

    .. math:: I_{ij} = \frac{1}{r_j^2} \sum_{t} \bigl(X^t_{ij} - m_{ij}\bigr)^2

    over all completions so far or the last few, with :math:`m_{ij}` their mean and :math:`r_j` the range of
    the column's observed cells in this round (1 for a constant column): the paper scales each column to
    [0, 1]. A cell whose completion keeps changing is one that the table does not determine.

    Parameters
    ----------
    window : int or None, default=None
        m, at least 2: only the last m completions count, so a cell that has settled gets a low score.
        None: all completions, as in most of the paper.

    Notes
    -----
    A row that has been completed only once has no spread. It is scored by `cellworth.score.first_round`: the
    completer's own variance, or that of a committee of refits. This applies to the whole table in the first
    round, and to new rows later.

    Time: O(nd) per round, O(mnd) with a window. Memory: two arrays of the table's size, or m with a window,
    for any number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.score import Round, Variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2)) @ [[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]
    >>> X[0] = [1.0, np.nan, np.nan]
    >>> scorer = Variance()
    >>> for answer in (np.nan, 6.0):
    ...     X[0, 1] = answer
    ...     completer = GaussianCompleter(margins="normal").fit(X)
    ...     scores = scorer.score(Round(X, None, None, completer, rng))
    >>> bool(scores[0, 2] > 0.1)  # the answer in the second column moved the completion of the third
    True
    """

    window: int | None = None

    def __post_init__(self) -> None:
        check_whole_number("window", self.window, 2, or_none=True)
        self._history = history_of(self.window)
        self._on_blocks: tuple[tuple[int, ...], Blocks] | None = None  # rows per block, and histories

    def score(self, this_round: Round) -> Float64Array:
        """Add the round's completion and return the scores (n, d), in squared ranges of the columns."""
        self._history.add(this_round.completed)
        scores = self._history.spread(this_round.squared_ranges)
        scores *= this_round.holes
        new = self._history.seen < 2
        if new.any():
            scores[new] = first_round_scores(this_round)[new]
        return scores

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Do the same for a table of row blocks. Its history stays where the blocks are."""
        units, rows = squared_ranges(completed), completed.summary.rows
        if self._on_blocks is None:
            self._on_blocks = rows, completed.map(_begin_history, shared=(self.window,))
            return first_round_block_scores(completed, rng)
        before, history = self._on_blocks
        if before != rows:
            raise DataError(
                f"the table of the last round had blocks of {before[:3]} rows and so on, this one has "
                f"{rows[:3]}; rows and block_rows must stay the same from round to round."
            )
        longer = completed.map(_remember, history)
        self._on_blocks = rows, longer
        return BlockScores(completed, _spread, (longer,), (units,))

    def state(self) -> State:
        """Return a copy of what is kept: counts by row, and sums or the last completions."""
        return self._history.state()

    def restore(self, state: State) -> None:
        """Continue from a state, which is copied."""
        self._history.restore(state)


@dataclass(frozen=True)
class BlockHistory(Sized):
    """The history of one block's completions."""

    history: History

    def longer(self, filled: FilledPart) -> BlockHistory:
        """Return the history after one more completion; this one is unchanged."""
        longer = deepcopy(self.history)
        longer.add(np.asarray(filled.completed, dtype=np.float64))
        return BlockHistory(longer)


def _begin_history(filled: FilledPart, window: int | None) -> BlockHistory:
    return BlockHistory(history_of(window)).longer(filled)


def _remember(filled: FilledPart, before: BlockHistory) -> BlockHistory:
    return before.longer(filled)


def _spread(filled: FilledPart, remembered: BlockHistory, units: Float64Array) -> Float64Array:
    return remembered.history.spread(units) * filled.holes
