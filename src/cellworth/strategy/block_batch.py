"""Choose a batch from a table in row blocks: each block sends the rows that the batch could touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.engine_protocol import join
from cellworth.blocks.row_source import Part
from cellworth.blocks.writing import FilledPart
from cellworth.complete.labels import unlabelled_rows
from cellworth.errors import ParameterError
from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.score.scorer import Scorer
from cellworth.select.selector import BlockSelector, Offer, Selector
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import AHEAD, FIRST_CELLS, WorthSomething, as_wide_as
from cellworth.strategy.reasons import WorthOnOffer
from cellworth.strategy.registry import Strategy
from cellworth.table import ColumnLayout


def check_parts(scorer: Scorer, selector: Selector) -> tuple[BlockScorer, BlockSelector]:
    """Return the scorer and selector if both run on row blocks; raise ParameterError otherwise."""
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
class OfferedBlock:
    """What is on offer in the rows of a block.

    Attributes
    ----------
    offer : Offer
        What the batch is selected from.
    worth : WorthOnOffer
        What all that could be bought is worth, whatever the batch is selected from.
    something : WorthSomething
        Likewise.
    """

    offer: Offer
    worth: WorthOnOffer
    something: WorthSomething


@dataclass(frozen=True, eq=False)
class BlockOffers:
    """Makes the offer of each block, as `choose` does for a whole table; sent to the workers of the blocks.

    Attributes
    ----------
    prices : BlockPrices
        If labels have a price, they are one column more, the last.
    unmeasured : (p,) array of bool
        Columns without a known value.
    gone : (k, 2) int array
        Row and column numbers, sorted by row, of holes that cannot be bought.
    learned : (k, 2) int array
        Likewise of cells that are known by now, though they were holes when the scores were computed.
    explored : Explored
    refused_labels : (k,) int array
        The numbers, sorted, of rows whose label cannot be obtained: their cells come after all others.
    labels_alone : bool
        Whether labels alone are worth something in the table; then they are all that is on offer.
    """

    prices: BlockPrices
    unmeasured: BoolArray
    gone: IntArray
    learned: IntArray
    explored: Explored
    refused_labels: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    labels_alone: bool = False

    def offer(self, filled: FilledPart, scores: Float64Array) -> OfferedBlock:
        """Return what is on offer in the rows of a block, given the scores (m, d) of its numeric columns.

        If labels have scores, they are one column more.
        """
        part, listed = filled.part, self.prices.on(filled.part)
        known, width = self.known(part), listed.own.shape[1]
        start, stop = part.start, part.start + len(known)
        worth = self.worths(part, scores)
        known[_between(self.learned, start, stop, width)] = True
        can_be_bought = ~known
        can_be_bought[_between(self.gone, start, stop, width)] = False
        scored = min(width, worth.shape[1])
        offered = can_be_bought[:, :scored]
        alone = listed.marginal(known)[:, :scored][offered]
        on_offer = WorthOnOffer.of(worth[:, :scored][offered], alone)
        worth, available = as_wide_as(listed, worth, can_be_bought)
        something = WorthSomething(cells=False, labels=False)
        if listed.labels:
            first, last = np.searchsorted(self.refused_labels, [start, stop])
            worth = worth.copy()
            worth[self.refused_labels[first:last] - start] = 0.0
            something = WorthSomething.of(worth, available)
            if self.labels_alone:
                available[:, :-1] = False
        return OfferedBlock(Offer(worth, available, listed, known), on_offer, something)

    def known(self, part: Part) -> BoolArray:
        """Return which cells (m, p) are known in a block; with labels last, if they have a price."""
        known = self.prices.layout.known(np.asarray(part.X, dtype=np.float64))
        known[:, self.unmeasured] = False  # what is there was made up for the fit
        return np.column_stack([known, ~unlabelled_rows(part)]) if self.prices.base.labels else known

    def worths(self, part: Part, scores: Float64Array) -> Float64Array:
        """Return the worths of a block's cells, with those of unmeasured columns as `explored` has them.

        (m, p), or one column more if labels have scores.
        """
        worth, columns = sum_with_labels(self.prices.layout, scores), np.flatnonzero(self.unmeasured)
        if not len(columns):
            return worth
        worth, start, stop = worth.copy(), part.start, part.start + len(scores)
        worth[:, columns] = self.explored.average
        for j, rows in self.explored.first_cells.items():
            here = rows[(rows >= start) & (rows < stop)] - start
            worth[here, j] = AHEAD * self.explored.best
        return worth


def sum_with_labels(layout: ColumnLayout, scores: Float64Array) -> Float64Array:
    """Return the worth of each cell (m, p), given scores of numeric columns; with labels if they have one."""
    cells = layout.sum_by_cell(scores[:, : layout.width])
    return cells if scores.shape[1] == layout.width else np.column_stack([cells, scores[:, layout.width]])


def _between(cells: IntArray, start: int, stop: int, width: int) -> tuple[IntArray, IntArray]:
    """Return the rows, counted from ``start``, and columns of the cells in some rows and first columns."""
    first, last = np.searchsorted(cells[:, 0], [start, stop])
    here = cells[first:last]
    here = here[here[:, 1] < width]
    return here[:, 0] - start, here[:, 1]


def _worthy(
    filled: FilledPart, scores: Float64Array, layout: ColumnLayout, unmeasured: BoolArray
) -> tuple[tuple[int, float, float]]:
    others = np.delete(sum_with_labels(layout, scores), np.flatnonzero(unmeasured), axis=1)
    worth = others[others > 0]
    return ((worth.size, float(worth.sum()), float(worth.max(initial=0.0))),)
