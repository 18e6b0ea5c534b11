"""Choose a batch from the scores of row blocks, in one pass if the selector does not look at totals."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, IntArray
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.cell_rules import KnownCells
from cellworth.blocks.writing import FilledPart
from cellworth.complete.table_summary import TableSummary
from cellworth.score.block_scores import BlockScores
from cellworth.select.selector import BlockSelector, Offer, OfferTotals, Selection, Selector
from cellworth.select.shortlist import TableNumbers
from cellworth.strategy.block_batch import BlockOffers
from cellworth.strategy.reasons import Reasons, WorthOnOffer

CellCounts = tuple[tuple[int, int], ...]
"""Of each block: its first row, and how many cells are on offer in it."""


@dataclass(frozen=True, eq=False)
class BlockTotals:
    """What is on offer in adjacent blocks.

    Attributes
    ----------
    offer : OfferTotals
    worth : WorthOnOffer
    cells : CellCounts
    """

    offer: OfferTotals
    worth: WorthOnOffer
    cells: CellCounts

    @classmethod
    def of(cls, offer: Offer, start: int) -> Self:
        """Return the totals of a block that begins with row ``start``."""
        alone = offer.prices.marginal(offer.before)[offer.available]
        worth = WorthOnOffer.of(offer.scores[offer.available], alone)
        return cls(OfferTotals.of(offer), worth, ((start, int(offer.available.sum())),))

    def added(self, other: BlockTotals) -> BlockTotals:
        """Return the totals of both."""
        return BlockTotals(
            self.offer.added(other.offer), self.worth.added(other.worth), self.cells + other.cells
        )


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Rows that the batch may touch.

    Attributes
    ----------
    rows : (k,) int array
        Their numbers in the table.
    offer : Offer
        What is on offer in them.
    completed, variance : (k, d) arrays, or None
        As the completer has completed them.
    """

    rows: IntArray
    offer: Offer
    completed: AnyArray
    variance: AnyArray | None

    def some(self, places: IntArray) -> Shortlist:
        """Return some of the rows, by their places."""
        variance = None if self.variance is None else self.variance[places]
        return Shortlist(self.rows[places], self.offer.of_rows(places), self.completed[places], variance)

    def followed_by(self, other: Shortlist) -> Shortlist:
        """Return these rows and others that come after them in the table."""
        variance = None
        if self.variance is not None and other.variance is not None:
            variance = np.concatenate([self.variance, other.variance])
        return Shortlist(
            np.concatenate([self.rows, other.rows]),
            self.offer.followed_by(other.offer),
            np.concatenate([self.completed, other.completed]),
            variance,
        )


@dataclass(frozen=True, eq=False)
class ShortlistedBlocks:
    """The totals of adjacent blocks, and a shortlist by each of the selectors."""

    totals: BlockTotals
    lists: tuple[Shortlist, ...]


@dataclass(frozen=True, eq=False)
class Shortlister:
    """Shortlists a block and merges two shortlists; sent to the workers that hold the blocks.

    Attributes
    ----------
    selectors : tuple of BlockSelector
        Each makes a shortlist of its own.
    offers : BlockOffers
    n_rows : int
        Rows of the table.
    cells : CellCounts
        What is on offer in each block: random numbers belong to the cells on offer in the whole table.
    rng : Generator
    limits : dict
    whole : OfferTotals or None
        What is on offer in the table, for selectors that look at it.
    """

    selectors: tuple[BlockSelector, ...]
    offers: BlockOffers
    n_rows: int
    cells: CellCounts
    rng: np.random.Generator
    limits: dict[str, Any]
    whole: OfferTotals | None = None

    def of_block(self, filled: FilledPart, scores: Float64Array) -> ShortlistedBlocks:
        """Return the shortlists of a block."""
        start = filled.part.start
        offer = self.offers.offer(filled, scores)
        totals = BlockTotals.of(offer, start)
        offer = replace(offer, whole=self.whole)
        return ShortlistedBlocks(totals, tuple(self._list(each, filled, offer) for each in self.selectors))

    def of_both(self, a: ShortlistedBlocks, b: ShortlistedBlocks) -> ShortlistedBlocks:
        """Merge two shortlists into one; ``a`` comes before ``b`` in the table."""
        lists = []
        for selector, one, other in zip(self.selectors, a.lists, b.lists, strict=True):
            both = one.followed_by(other)
            lists.append(both.some(selector.shortlist(both.offer, **self.limits)))
        return ShortlistedBlocks(a.totals.added(b.totals), tuple(lists))

    def _list(self, selector: BlockSelector, filled: FilledPart, offer: Offer) -> Shortlist:
        start = filled.part.start
        if hasattr(selector, "noise"):
            numbers = TableNumbers(
                self.rng,
                offer.available,
                start=start,
                n_rows=self.n_rows,
                before=sum(cells for first, cells in self.cells if first < start),
                n_cells=sum(cells for _, cells in self.cells),
            )
            offer = replace(offer, noise=selector.noise(offer, numbers))
        rows = selector.shortlist(offer, **self.limits)
        variance = None if filled.variance is None else filled.variance[rows]
        return Shortlist(rows + start, offer.of_rows(rows), filled.completed[rows], variance)


@dataclass(frozen=True, eq=False)
class BlockChoice:
    """A batch chosen from row blocks.

    Attributes
    ----------
    selection : Selection
        Its rows are places in ``rows``.
    shortlist : Shortlist
    totals : BlockTotals
    """

    selection: Selection
    shortlist: Shortlist
    totals: BlockTotals

    @property
    def rows(self) -> IntArray:
        """The numbers (k,) of the shortlisted rows in the table."""
        return self.shortlist.rows

    @property
    def offer(self) -> Offer:
        """What was on offer in them."""
        return self.shortlist.offer

    def reasons(self, table: BlockTable, selector: Selector) -> list[str]:
        """Return one sentence for each cell."""
        chosen = np.unique(self.selection.cells[:, 0])
        if not len(chosen):
            return []
        found = self.shortlist.some(chosen)
        offer = found.offer
        reasons = Reasons(
            table.columns,
            _Completed(found.completed, found.variance),
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
        return reasons.of(replace(self.selection, cells=cells))


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
    learned: KnownCells | None = None,
) -> BlockChoice:
    """Spend a budget on the holes of a table in row blocks, without collecting every score in one place.

    The same as `choose` on the whole table, with the same random numbers. One pass for a selector with the
    method ``alternatives`` (see `BlockSelector`), otherwise two. Memory on the caller's side: about
    30 p + 16 d bytes per shortlisted row of p columns and d numeric ones.

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
    learned : KnownCells, optional
        Cells of the scored table that its summary counts as known, and ``offers`` may name again.
    """
    limits: Any = {"budget": budget, "count": count}
    whole: OfferTotals | None = None
    selectors: tuple[BlockSelector, ...] = (selector,)
    if hasattr(selector, "alternatives"):
        selectors = selector.alternatives()
        cells = expected_cells(scores.completed.summary, offers, learned)
    else:
        totals: BlockTotals = scores.reduce(_Totals(offers), BlockTotals.added)
        whole, cells = totals.offer, totals.cells
    n_rows = scores.completed.shape[0]
    for _ in range(2):
        lister = Shortlister(selectors, offers, n_rows, cells, deepcopy(rng), limits, whole)
        found: ShortlistedBlocks = scores.reduce(lister.of_block, lister.of_both)
        if found.totals.cells == cells or not any(hasattr(each, "noise") for each in selectors):
            break
        cells = found.totals.cells  # it was not as expected: draw the numbers of the cells that there are
    totals = found.totals
    chooses: Any = selector
    place = chooses.chosen(totals.offer) if len(selectors) > 1 else 0
    listed = replace(found.lists[place], offer=replace(found.lists[place].offer, whole=totals.offer))
    selection = selector.select(listed.offer, rng=rng, **limits)
    return BlockChoice(selection, listed, totals)


def expected_cells(summary: TableSummary, offers: BlockOffers, learned: KnownCells | None) -> CellCounts:
    """Return how many cells should be on offer in each block, from what is known of it; no pass."""
    layout = offers.prices.layout
    p, first = len(layout.columns), layout.starts[:-1]
    measured = ~offers.unmeasured
    known = [int(counts[first][measured].sum()) for counts in summary.known]
    off = np.unique(np.concatenate([offers.gone, offers.learned]) @ [p, 1])
    if learned is not None:
        off = np.setdiff1d(off, learned.rows * p + learned.columns)
    ends = np.cumsum([0, *summary.rows])
    counted = np.diff(np.searchsorted(off, ends * p))
    offered = np.asarray(summary.rows) * p - known - counted
    return tuple(zip(ends[:-1].tolist(), offered.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Totals:
    offers: BlockOffers

    def __call__(self, filled: FilledPart, scores: Float64Array) -> BlockTotals:
        return BlockTotals.of(self.offers.offer(filled, scores), filled.part.start)
