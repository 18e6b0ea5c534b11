"""Choose a batch from a table in row blocks: each block sends the rows that the batch could touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.engine_protocol import join
from cellworth.blocks.writing import FilledPart
from cellworth.errors import ParameterError
from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.score.scorer import Scorer
from cellworth.select.selector import BlockSelector, Offer, Selector
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import AHEAD, FIRST_CELLS
from cellworth.strategy.registry import Strategy


def check_parts(scorer: Scorer, selector: Selector) -> tuple[BlockScorer, BlockSelector]:
    """Return the scorer and selector if both run on row blocks; raise ParameterError otherwise."""
    if getattr(scorer, "labels_only", False):
        raise ParameterError(
            f"{scorer!r} buys labels, which does not run on row blocks. Choose another strategy, or read the "
            "table into memory."
        )
    for part, method in ((scorer, "score_blocks"), (selector, "shortlist")):
        if not hasattr(part, method):
            raise ParameterError(
                f"{part!r} does not run on row blocks: it has no method {method}. Choose another strategy, "
                "or read the table into memory."
            )
    both: Any = scorer, selector
    return both


def check_strategy(strategy: Strategy) -> None:
    """Raise ParameterError unless all three parts of a strategy run on row blocks."""
    check_parts(strategy.scorer, strategy.selector)
    completer = strategy.completer
    if not (hasattr(completer, "fit_blocks") and hasattr(completer, "complete_rows")):
        raise ParameterError(
            f"{type(completer).__name__} does not run on row blocks: it has no fit_blocks and complete_rows. "
            "Choose another strategy, or read the table into memory."
        )


@dataclass(frozen=True, eq=False)
class Explored:
    """What cells of unmeasured columns are worth; see `explored`.

    Attributes
    ----------
    first_cells : dict of column number to row numbers
        The cells of unmeasured columns that come before all others.
    average, best : float
        The worth of other cells of unmeasured columns, and of the best cell elsewhere.
    """

    first_cells: dict[int, IntArray] = field(default_factory=dict)
    average: float = 0.0
    best: float = 0.0

    @classmethod
    def of(cls, scores: BlockScores, table: BlockTable, rng: np.random.Generator) -> Explored:
        """Look at the scores of the other columns; one pass if there are unmeasured columns, else none."""
        unmeasured = table.unmeasured
        if not unmeasured.any():
            return cls()
        parts = scores.reduce(_worthy, join, shared=(table.layout, unmeasured))
        count, total, best = (list(each) for each in zip(*parts, strict=True))
        average, highest = (sum(total) / sum(count), max(best)) if sum(count) else (1.0, 1.0)
        first = {int(j): rng.permutation(table.n_rows)[:FIRST_CELLS] for j in np.flatnonzero(unmeasured)}
        return cls(first, average, highest)


@dataclass(frozen=True, eq=False)
class BlockOffers:
    """Makes the offer of each block; sent to the workers that hold the blocks.

    Attributes
    ----------
    prices : BlockPrices
    unmeasured : (p,) array of bool
        Columns without a known value.
    gone : (k, 2) int array
        Row and column numbers, sorted by row, of holes that cannot be bought.
    learned : (k, 2) int array
        Likewise of cells that are known by now, though they were holes when the scores were computed.
    explored : Explored
    """

    prices: BlockPrices
    unmeasured: BoolArray
    gone: IntArray
    learned: IntArray
    explored: Explored

    def offer(self, filled: FilledPart, scores: Float64Array) -> Offer:
        """Return what is on offer in the rows of a block, given the scores (m, d) of its numeric columns."""
        part, layout = filled.part, self.prices.layout
        known = layout.known(np.asarray(part.X, dtype=np.float64))
        known[:, self.unmeasured] = False  # what is there was made up for the fit
        start, stop = part.start, part.start + len(known)
        known[_between(self.learned, start, stop)] = True
        available = ~known
        available[_between(self.gone, start, stop)] = False
        worth = layout.sum_by_cell(scores)
        if self.unmeasured.any():
            worth = worth.copy()
            worth[:, self.unmeasured] = self.explored.average
            for j, rows in self.explored.first_cells.items():
                here = rows[(rows >= start) & (rows < stop)] - start
                worth[here, j] = AHEAD * self.explored.best
        return Offer(worth, available, self.prices.on(part), known)


def _between(cells: IntArray, start: int, stop: int) -> tuple[IntArray, IntArray]:
    """Return the rows, counted from ``start``, and columns of the cells in some rows."""
    first, last = np.searchsorted(cells[:, 0], [start, stop])
    return cells[first:last, 0] - start, cells[first:last, 1]


def _worthy(
    filled: FilledPart, scores: Float64Array, layout: Any, unmeasured: BoolArray
) -> tuple[tuple[int, float, float]]:
    others = layout.sum_by_cell(scores)[:, ~unmeasured]
    worth = others[others > 0]
    return ((worth.size, float(worth.sum()), float(worth.max(initial=0.0))),)
