"""Random scores: the baseline for other scorers, and the shortest example of one."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.labels import unlabelled_rows
from cellworth.score.block_scores import BlockScores, PartPrices, numbers_from, sells_labels, skip
from cellworth.score.scorer import Memoryless, Round


@dataclass(eq=False)
class Random(Memoryless):
    """Give each hole a score drawn uniformly from (0, 1].

    The k highest are then k holes drawn without replacement, with every set of k equally likely. Missing
    labels count as holes if they can be bought.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import SupervisedCompleter
    >>> from cellworth.score import Random, Round
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [np.nan, 6.0]])
    >>> this_round = Round(X, None, None, SupervisedCompleter().fit(X), np.random.default_rng(0))
    >>> Random().score(this_round).round(2)
    array([[0.  , 0.  ],
           [0.  , 0.36],
           [0.73, 0.  ]])
    """

    def score(self, this_round: Round) -> Float64Array:
        """Return the scores (n, d): in (0, 1] in the holes, 0 elsewhere. Costs O(nd).

        (n, d + 1), with those of the labels last, if labels can be bought.
        """
        holes = this_round.holes
        if this_round.label_prices is not None:
            holes = np.column_stack([holes, this_round.unlabelled])
        scores = np.zeros(holes.shape)
        scores[holes] = 1.0 - this_round.rng.random(np.count_nonzero(holes))
        return scores

    def score_blocks(
        self, completed: CompletedBlocks, rng: np.random.Generator, prices: PartPrices | None = None
    ) -> BlockScores:
        """Draw the same scores for a table of row blocks; each block jumps to its place in the stream."""
        rows, d, sells = completed.summary.rows, completed.shape[1], sells_labels(prices)
        starts = np.cumsum([0, *rows[:-1]]).tolist()
        known = [int(counts.sum()) for counts in completed.summary.known]
        counts = [n * d - k for n, k in zip(rows, known, strict=True)]
        if sells:
            lacking = zip(rows, completed.summary.labelled, strict=True)
            counts = [count + n - k for count, (n, k) in zip(counts, lacking, strict=True)]
        before = np.cumsum([0, *counts[:-1]]).tolist()
        here = deepcopy(rng)
        skip(rng, sum(counts))
        shared = here, dict(zip(starts, before, strict=True)), sells
        return BlockScores(completed, _draw, shared=shared, labels="some" if sells else "none")


def _draw(filled: FilledPart, rng: np.random.Generator, before: dict[int, int], sells: bool) -> Float64Array:
    holes = np.column_stack([filled.holes, unlabelled_rows(filled.part)]) if sells else filled.holes
    scores = np.zeros(holes.shape)
    scores[holes] = 1.0 - numbers_from(rng, before[filled.part.start], int(holes.sum()))
    return scores
