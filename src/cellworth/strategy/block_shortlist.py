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
from cellworth.score.block_scores import BlockScores
from cellworth.select.selector import BlockSelector, Offer, OfferTotals, Selection, Selector
from cellworth.select.shortlist import TableNumbers
from cellworth.strategy.block_batch import BlockOffers, OfferedBlock
from cellworth.strategy.choose_batch import WorthSomething
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
    something : WorthSomething
    cells : CellCounts
    """

    offer: OfferTotals
    worth: WorthOnOffer
    something: WorthSomething
    cells: CellCounts

    @classmethod
    def of(cls, block: OfferedBlock, start: int) -> Self:
        """Return the totals of a block that begins with row ``start``."""
        counted = ((start, int(block.offer.available.sum())),)
        return cls(OfferTotals.of(block.offer), block.worth, block.something, counted)

    def added(self, other: BlockTotals) -> BlockTotals:
        """Return the totals of both."""
        return BlockTotals(
            self.offer.added(other.offer),
            self.worth.added(other.worth),
            self.something.added(other.something),
            self.cells + other.cells,
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
        offered = self.offers.offer(filled, scores)
        totals = BlockTotals.of(offered, start)
        offer = replace(offered.offer, whole=self.whole)
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
    method ``alternatives`` (see `BlockSelector`), otherwise two; one more if, unexpectedly, nothing but
    labels is worth something, or random numbers were drawn for other cells than there are. Memory on the
    caller's side: about 30 p + 16 d bytes per shortlisted row of p columns and d numeric ones.

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
    offers = replace(offers, labels_alone=scores.labels == "only")
    if hasattr(selector, "alternatives"):
        selectors = selector.alternatives()
        cells = expected_cells(scores, offers, learned)
    else:
        offers, totals = _totals(scores, offers)
        whole, cells = totals.offer, totals.cells
    n_rows, draws = scores.completed.shape[0], any(hasattr(each, "noise") for each in selectors)
    while True:
        lister = Shortlister(selectors, offers, n_rows, cells, deepcopy(rng), limits, whole)
        found: ShortlistedBlocks = scores.reduce(lister.of_block, lister.of_both)
        as_expected = found.totals.cells == cells or not draws
        alone = found.totals.something.labels_alone
        if as_expected and alone == offers.labels_alone:
            break
        # It was not as expected: draw the numbers of the cells that there are.
        cells = found.totals.cells
        if alone != offers.labels_alone:
            offers = replace(offers, labels_alone=alone)
            cells = expected_cells(scores, offers, learned)
    totals = found.totals
    chooses: Any = selector
    place = chooses.chosen(totals.offer) if len(selectors) > 1 else 0
    listed = replace(found.lists[place], offer=replace(found.lists[place].offer, whole=totals.offer))
    selection = selector.select(listed.offer, rng=rng, **limits)
    return BlockChoice(selection, listed, totals)


def expected_cells(scores: BlockScores, offers: BlockOffers, learned: KnownCells | None) -> CellCounts:
    """Return how many cells should be on offer in each block, from what is known of it; no pass."""
    summary, layout = scores.completed.summary, offers.prices.layout
    p, first = len(layout.columns), layout.starts[:-1]
    rows, measured = np.asarray(summary.rows), ~offers.unmeasured
    known = np.array([int(counts[first][measured].sum()) for counts in summary.known])
    labels = offers.prices.base.labels and scores.labels != "none"
    offered = 0 * rows if offers.labels_alone else rows * p - known
    if labels:
        offered = offered + rows - np.array(summary.labelled)
    off = np.unique(np.concatenate([offers.gone, offers.learned]) @ [p + 1, 1])
    if learned is not None:
        off = np.setdiff1d(off, learned.rows * (p + 1) + learned.columns)
    column = off % (p + 1)
    off = off[np.where(column == p, labels, not offers.labels_alone)]
    ends = np.cumsum([0, *summary.rows])
    counted = np.diff(np.searchsorted(off, ends * (p + 1)))
    return tuple(zip(ends[:-1].tolist(), (offered - counted).tolist(), strict=True))


def _totals(scores: BlockScores, offers: BlockOffers) -> tuple[BlockOffers, BlockTotals]:
    """Return what is on offer, and its totals; a pass, or two if labels alone are worth something."""
    totals: BlockTotals = scores.reduce(_Totals(offers), BlockTotals.added)
    if totals.something.labels_alone == offers.labels_alone:
        return offers, totals
    offers = replace(offers, labels_alone=not offers.labels_alone)
    return offers, scores.reduce(_Totals(offers), BlockTotals.added)


@dataclass(frozen=True, eq=False)
class _Totals:
    offers: BlockOffers

    def __call__(self, filled: FilledPart, scores: Float64Array) -> BlockTotals:
        return BlockTotals.of(self.offers.offer(filled, scores), filled.part.start)
