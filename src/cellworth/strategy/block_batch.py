"""Choosing a batch where no one place has all worths: each row block sends a shortlist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, IntArray
from cellworth.blocks.writing import FilledPart
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.prices.rules import ByColumn
from cellworth.score import Scorer
from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.select import Offer, Selector
from cellworth.select.selector import BlockSelector
from cellworth.strategy.batch import Batch, Purchase
from cellworth.table import Table


def choose_from_blocks(
    selector: BlockSelector,
    scores: BlockScores,
    *,
    prices: Prices | None = None,
    budget: float | None = None,
    count: int | None = None,
    rng: np.random.Generator,
) -> Batch:
    """Spend a budget on the holes of a table of row blocks, without bringing all worths to one place.

    Parameters
    ----------
    selector : BlockSelector
        `Top`, `Ratio`, `Knapsack`, or any selector with a method ``shortlist``.
    scores : BlockScores
        What a scorer's ``score_blocks`` returned.
    prices : Prices, optional
        By column, without groups and visits; by default every cell costs 1.
    budget, count : float and int, optional
        At least one of them.
    rng : Generator

    Returns
    -------
    Batch
        Rows without ids are called by their numbers, from 0.

    Notes
    -----
    One pass. Memory here: about 100 bytes for each cell of the shortlists.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import GaussianCompleter
    >>> from cellworth.blocks import open_blocks
    >>> from cellworth.score import PosteriorVariance
    >>> from cellworth.select import Top
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, size=500)
    >>> X = np.column_stack([height, height - 100 + rng.normal(0, 5, size=500)])
    >>> X[3], X[4] = [180, np.nan], [np.nan, np.nan]
    >>> source = open_blocks(X, columns=["height", "weight"])
    >>> completed = GaussianCompleter(margins="normal").fit(source).completed_
    >>> scores = PosteriorVariance().score_blocks(completed, rng)
    >>> choose_from_blocks(Top(), scores, count=2, rng=rng).cells
    [('4', 'height'), ('4', 'weight')]
    """
    names = scores.completed.source.columns
    shortlister = _Shortlister(selector, _column_prices(prices, names), budget, count)
    found: Candidates = scores.reduce(shortlister.of_block, shortlister.of_both)
    selection = selector.select(shortlister.offer(found), budget=budget, count=count, rng=rng)
    chosen = found.take(selection.cells[:, 0])
    each = zip(chosen.ids.tolist(), chosen.columns.tolist(), selection.prices.tolist(), strict=True)
    return Batch(
        Purchase(str(row), names[column], price, worth)
        for (row, column, price), worth in zip(each, chosen.scores.tolist(), strict=True)
    )


def check_parts(scorer: Scorer, selector: Selector) -> tuple[BlockScorer, BlockSelector]:
    """Return a scorer and a selector that work on row blocks; refuse others."""
    for part, method in ((scorer, "score_blocks"), (selector, "shortlist")):
        if not hasattr(part, method):
            raise ParameterError(
                f"{part!r} does not run on row blocks: it has no method {method}. Use another strategy, or "
                "read the table into memory."
            )
    both: Any = scorer, selector
    return both


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cells that may be in the batch, by row and then column, with ids and worths; (k,) each."""

    columns: IntArray
    ids: AnyArray
    scores: Float64Array

    def take(self, which: IntArray) -> Candidates:
        """Return some of them, in the order given."""
        return Candidates(self.columns[which], self.ids[which], self.scores[which])


@dataclass(frozen=True)
class _Shortlister:
    """Makes shortlists of blocks, and one of two; it is sent to where the blocks are.

    Attributes
    ----------
    selector : BlockSelector
    own : (d,) array
        The price of each column.
    budget, count : float and int, or None
    """

    selector: BlockSelector
    own: Float64Array
    budget: float | None
    count: int | None

    def of_block(self, filled: FilledPart, scores: Float64Array) -> Candidates:
        """Return the shortlist of a block."""
        holes, part = filled.holes, filled.part
        own = np.broadcast_to(self.own, holes.shape)
        cells = self._shortlist(Offer(scores, holes, _additive(own), ~holes))
        rows, columns = cells[:, 0], cells[:, 1]
        ids = rows + part.start if part.row_ids is None else part.row_ids[rows]
        return Candidates(columns, ids, scores[rows, columns])

    def of_both(self, a: Candidates, b: Candidates) -> Candidates:
        """Return the shortlist of two, the first of which comes first in the table."""
        pairs = ((a.columns, b.columns), (a.ids, b.ids), (a.scores, b.scores))
        both = Candidates(*(np.concatenate(pair) for pair in pairs))
        return both.take(self._shortlist(self.offer(both))[:, 0])

    def offer(self, found: Candidates) -> Offer:
        """Return the candidates as a column of cells (k, 1)."""
        shape = len(found.scores), 1
        all_there = np.ones(shape, dtype=bool)
        prices = _additive(self.own[found.columns].reshape(shape))
        return Offer(found.scores.reshape(shape), all_there, prices, ~all_there)

    def _shortlist(self, offer: Offer) -> IntArray:
        return self.selector.shortlist(offer, budget=self.budget, count=self.count)


def _additive(own: Float64Array) -> PriceList:
    p = own.shape[1]
    return PriceList(own, np.full(p, -1), np.zeros(p), np.zeros(0, dtype=bool))


def _column_prices(prices: Prices | None, columns: tuple[str, ...]) -> Float64Array:
    """Return the price of each column, (d,); refuse prices that are not by column alone."""
    if prices is None:
        return np.ones(len(columns))
    if not isinstance(prices.cells, ByColumn) or prices.groups or prices.visit:
        raise ParameterError(
            f"over row blocks prices must be by column, without groups and visits; got {prices!r}"
        )
    one_row = Table.from_arrays(np.zeros((1, len(columns))), columns=list(columns))
    return np.array(prices.on(one_row).own[0])
