"""Choose a batch without collecting every score in one place: each row block sends a shortlist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray, Float64Array, IntArray
from cellworth.blocks.writing import FilledPart
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.prices.rules import ByColumn
from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.score.scorer import Scorer
from cellworth.select.selector import BlockSelector, Offer, Selector
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
    """Spend a budget on the holes of a table in row blocks, without collecting every score in one place.

    Parameters
    ----------
    selector : BlockSelector
        `Top`, `Ratio`, `Knapsack`, or any selector with a ``shortlist`` method.
    scores : BlockScores
        What a scorer's ``score_blocks`` returned.
    prices : Prices, optional
        By column, without groups and visits; by default every cell costs 1.
    budget, count : float and int, optional
        At least one is required.
    rng : Generator

    Returns
    -------
    Batch
        Rows without ids are named by their numbers, from 0.

    Notes
    -----
    One pass. Memory on the caller's side: about 100 bytes per shortlisted cell.

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
    """Return the scorer and selector if both run on row blocks; raise ParameterError otherwise."""
    for part, method in ((scorer, "score_blocks"), (selector, "shortlist")):
        if not hasattr(part, method):
            raise ParameterError(
                f"{part!r} does not run on row blocks: it has no method {method}. Choose another strategy, "
                "or read the table into memory."
            )
    both: Any = scorer, selector
    return both


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cells that may join the batch, sorted by row and then column, with ids and scores; (k,) each."""

    columns: IntArray
    ids: AnyArray
    scores: Float64Array

    def take(self, which: IntArray) -> Candidates:
        """Return the candidates at these positions, in the order given."""
        return Candidates(self.columns[which], self.ids[which], self.scores[which])


@dataclass(frozen=True)
class _Shortlister:
    """Shortlists a block and merges two shortlists; it is sent to the workers that hold the blocks.

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
        """Merge two shortlists into one; ``a`` comes before ``b`` in the table."""
        pairs = ((a.columns, b.columns), (a.ids, b.ids), (a.scores, b.scores))
        both = Candidates(*(np.concatenate(pair) for pair in pairs))
        return both.take(self._shortlist(self.offer(both))[:, 0])

    def offer(self, found: Candidates) -> Offer:
        """Return the candidates as an offer of one column, (k, 1)."""
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
    """Return the price of each column, (d,); ParameterError unless prices are by column alone."""
    if prices is None:
        return np.ones(len(columns))
    if not isinstance(prices.cells, ByColumn) or prices.groups or prices.visit:
        raise ParameterError(
            f"on row blocks, prices must be by column, without groups and visits; got {prices!r}"
        )
    one_row = Table.from_arrays(np.zeros((1, len(columns))), columns=list(columns))
    return np.array(prices.on(one_row).own[0])
