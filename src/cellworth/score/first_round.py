"""The first-round rule: how to score a cell before there is a history.

A scorer that compares completions across rounds cannot score a row that has been completed only once. All
such scorers then follow one rule:

1. if the completer has a ``variance_``, use it;
2. otherwise, refit the same completer four times, each on the table with a random tenth of its observed cells
   hidden, and use the variance of their completions.

Either is divided by the squared range of the column's observed cells, as scores of later rounds are. Over row
blocks, each block jumps to its place in the stream of random numbers, so that the same cells are hidden.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.engine_protocol import Blocks
from cellworth.blocks.row_source import Block, Part
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.hold_out import hide_cells
from cellworth.score.block_scores import BlockScores, numbers_from, skip, squared_ranges
from cellworth.score.scorer import Round

REFITS = 4
HIDDEN_SHARE = 0.1  # of the observed cells, in each refit


def first_round_scores(this_round: Round) -> Float64Array:
    """Return scores (n, d) that need no history; 0 where observed, 1 is a variance of a whole squared range.

    Costs O(nd) if the completer has a ``variance_``, otherwise four fits of the completer.
    """
    own = getattr(this_round.completer, "variance_", None)
    scores = _disagreement(this_round) if own is None else np.array(own, dtype=np.float64)
    scores /= this_round.squared_ranges
    scores *= this_round.holes
    return scores


def first_round_block_scores(completed: CompletedBlocks, rng: np.random.Generator) -> BlockScores:
    """Return the same for a table of row blocks, block by block."""
    units = squared_ranges(completed)
    if completed.has_variance:
        return BlockScores(completed, _own_variance_of_block, shared=(units,))
    return BlockScores(completed, _disagreement_of_block, tuple(_refits(completed, rng)), (units,))


def _disagreement(this_round: Round) -> Float64Array:
    """Return the variance (n, d) of each cell over the refits, in the user's units."""
    completions = np.empty((REFITS, *this_round.X.shape))
    for completion in completions:
        thinned, fresh = _thinned(this_round), _fresh(this_round.completer)
        with warnings.catch_warnings():
            # The round's own fit has already given any warning.
            warnings.simplefilter("ignore", ConvergenceWarning)
            completion[:] = fresh.fit(thinned, this_round.labels).completed_
    return completions.var(axis=0)


def _thinned(this_round: Round) -> Float64Array:
    """Return the table with a random tenth of its observed cells hidden, but never a column's first."""
    hidden = hide_cells(~this_round.holes, this_round.rng, share=HIDDEN_SHARE)
    return np.where(hidden, np.nan, this_round.X)


def _fresh(completer: Any) -> Any:
    """Return an unfitted copy of the completer, or of the one it chose if it chooses among others.

    The copy has no earlier fit to start from, so ``warm_start`` has no effect. It reports no progress.
    """
    fresh = clone(getattr(completer, "best_completer_", completer))
    return fresh.set_params(callback=None) if "callback" in fresh.get_params() else fresh


@dataclass(frozen=True)
class ThinnedBlock:
    """A block with a random tenth of its cells hidden, but never a column's first observed cell.

    Attributes
    ----------
    block : Block
    generator : Generator
        At the start of the table's random numbers, one for each cell, row by row.
    spared : (d,) int array
        For each column, the number of the row whose cell is never hidden.
    """

    block: Block
    generator: np.random.Generator
    spared: IntArray

    @property
    def start(self) -> int:
        """Number of the first row in the whole table."""
        return self.block.start

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.block.stop

    def read(self) -> Part:
        """Read the rows and hide cells."""
        part = self.block.read()
        first = self.start * part.X.shape[1]
        hidden = numbers_from(self.generator, first, part.X.shape) < HIDDEN_SHARE
        here = (self.spared >= self.start) & (self.spared < self.stop)
        hidden[self.spared[here] - self.start, np.flatnonzero(here)] = False
        return replace(part, cells=np.where(hidden, part.X.dtype.type(np.nan), part.X))


def _refits(completed: CompletedBlocks, rng: np.random.Generator) -> list[Blocks]:
    """Return the completions of the refits, block by block."""
    source, completions = completed.source, []
    for _ in range(REFITS):
        hide = partial(ThinnedBlock, generator=deepcopy(rng), spared=completed.summary.first)
        skip(rng, source.n_rows * len(source.columns))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            refit = _fresh(completed.completer).fit(source.with_blocks(hide)).completed_
        completions.append(refit.map(_completion_of_block))
    return completions


def _completion_of_block(filled: FilledPart) -> Float64Array:
    return np.asarray(filled.completed, dtype=np.float64)


def _own_variance_of_block(filled: FilledPart, units: Float64Array) -> Float64Array:
    assert filled.variance is not None
    return filled.variance.astype(np.float64) / units * filled.holes


def _disagreement_of_block(filled: FilledPart, *others: Float64Array) -> Float64Array:
    *completions, units = others
    spread: Float64Array = np.var(np.stack(completions), axis=0) / units * filled.holes
    return spread
