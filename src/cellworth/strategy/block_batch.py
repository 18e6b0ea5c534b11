"""Choose a batch from a table in row blocks: each block sends the rows that the batch could touch."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, BoolArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.protocol import join
from cellworth.blocks.writing import FilledPart
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.errors import ParameterError
from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.score.scorer import Scorer
from cellworth.select.selector import BlockSelector, Offer, OfferTotals, Selection, Selector
from cellworth.select.shortlist import TableNumbers
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import AHEAD, FIRST_CELLS
from cellworth.strategy.reasons import Reasons, WorthOnOffer
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


@dataclass(frozen=True, eq=False)
class BlockTotals:
    """What is on offer in adjacent blocks.

    Attributes
    ----------
    offer : OfferTotals
    worth : WorthOnOffer
    cells : tuple of (first row, cells on offer), of each block
    """

    offer: OfferTotals
    worth: WorthOnOffer
    cells: tuple[tuple[int, int], ...]

    def added(self, other: BlockTotals) -> BlockTotals:
        """Return the totals of both."""
        return BlockTotals(
            self.offer.added(other.offer), self.worth.added(other.worth), self.cells + other.cells
        )


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Rows that the batch may touch: their numbers (k,) in the table and what is on offer in them."""

    rows: IntArray
    offer: Offer


@dataclass(frozen=True, eq=False)
class Shortlister:
    """Shortlists a block and merges two shortlists; sent to the workers that hold the blocks."""

    selector: BlockSelector
    offers: BlockOffers
    totals: BlockTotals
    rng: np.random.Generator
    limits: dict[str, Any]

    def of_block(self, filled: FilledPart, scores: Float64Array) -> Shortlist:
        """Return the shortlist of a block."""
        start = filled.part.start
        offer = replace(self.offers.offer(filled, scores), whole=self.totals.offer)
        if hasattr(self.selector, "noise"):
            numbers = TableNumbers(
                self.rng,
                offer.available,
                start=start,
                n_rows=self.totals.offer.rows,
                before=sum(cells for first, cells in self.totals.cells if first < start),
                n_cells=int(self.totals.offer.cells.sum()),
            )
            offer = replace(offer, noise=self.selector.noise(offer, numbers))
        rows = self.selector.shortlist(offer, **self.limits)
        return Shortlist(rows + start, offer.of_rows(rows))

    def of_both(self, a: Shortlist, b: Shortlist) -> Shortlist:
        """Merge two shortlists into one; ``a`` comes before ``b`` in the table."""
        both, numbers = a.offer.followed_by(b.offer), np.concatenate([a.rows, b.rows])
        rows = self.selector.shortlist(both, **self.limits)
        return Shortlist(numbers[rows], both.of_rows(rows))


@dataclass(frozen=True, eq=False)
class BlockChoice:
    """A batch chosen from row blocks.

    Attributes
    ----------
    selection : Selection
        Its rows are places in ``rows``.
    rows : (k,) int array
        The numbers of the shortlisted rows in the table.
    offer : Offer
        What was on offer in them.
    totals : BlockTotals
    """

    selection: Selection
    rows: IntArray
    offer: Offer
    totals: BlockTotals

    def reasons(self, completed: CompletedBlocks, table: BlockTable, selector: Selector) -> list[str]:
        """Return one sentence for each cell; reads the blocks of the chosen rows."""
        chosen = np.unique(self.selection.cells[:, 0])
        if not len(chosen):
            return []
        filled = completed.rows(self.rows[chosen])
        offer = self.offer.of_rows(chosen)
        found = Reasons(
            table.columns,
            _Completed(filled.completed, filled.variance),
            offer.scores,
            selector,
            prices=offer.prices,
            available=offer.available,
            before=offer.before,
            on_offer=self.totals.worth,
            unmeasured=table.unmeasured,
        )
        places = np.searchsorted(chosen, self.selection.cells[:, 0])
        cells = np.column_stack([places, self.selection.cells[:, 1]])
        return found.of(replace(self.selection, cells=cells))


@dataclass(frozen=True)
class _Completed:
    """Some completed rows, as the completer that has completed them."""

    completed_: AnyArray
    variance_: AnyArray | None


def choose_from_blocks(
    selector: BlockSelector,
    scores: BlockScores,
    offers: BlockOffers,
    *,
    budget: float | None = None,
    count: int | None = None,
    rng: np.random.Generator,
) -> BlockChoice:
    """Spend a budget on the holes of a table in row blocks, without collecting every score in one place.

    The same as `choose` on the whole table, with the same random numbers. Two passes. Memory on the caller's
    side: about 30 p bytes per shortlisted row.

    Parameters
    ----------
    selector : BlockSelector
    scores : BlockScores
        What a scorer's ``score_blocks`` returned.
    offers : BlockOffers
    budget, count : float and int, optional
        At least one is required.
    rng : Generator
        As scoring, and looking at the scores, has left it.
    """
    totals: BlockTotals = scores.reduce(_Totals(offers), BlockTotals.added)
    limits: Any = {"budget": budget, "count": count}
    shortlister = Shortlister(selector, offers, totals, deepcopy(rng), limits)
    found: Shortlist = scores.reduce(shortlister.of_block, shortlister.of_both)
    selection = selector.select(found.offer, rng=rng, **limits)
    return BlockChoice(selection, found.rows, found.offer, totals)


@dataclass(frozen=True, eq=False)
class _Totals:
    offers: BlockOffers

    def __call__(self, filled: FilledPart, scores: Float64Array) -> BlockTotals:
        offer = self.offers.offer(filled, scores)
        alone = offer.prices.marginal(offer.before)[offer.available]
        worth = WorthOnOffer.of(offer.scores[offer.available], alone)
        return BlockTotals(OfferTotals.of(offer), worth, ((filled.part.start, int(offer.available.sum())),))


def _worthy(
    filled: FilledPart, scores: Float64Array, layout: Any, unmeasured: BoolArray
) -> tuple[tuple[int, float, float]]:
    others = layout.sum_by_cell(scores)[:, ~unmeasured]
    worth = others[others > 0]
    return ((worth.size, float(worth.sum()), float(worth.max(initial=0.0))),)
