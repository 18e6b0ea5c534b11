"""Spending a budget on cells of which no one place has all worths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.writing import FilledPart
from cellworth.engine.scoring import BlockScorer
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.prices.rules import ByColumn
from cellworth.score import Scorer
from cellworth.select import Knapsack, Offer, Ratio, Top
from cellworth.select.offer import check_limits
from cellworth.table import Table

if TYPE_CHECKING:
    from cellworth.complete.completed_blocks import CompletedBlocks

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SLACK = 1e-9  # relative, in how often a price fits a budget: one cell too many does no harm


@dataclass(frozen=True, eq=False)
class Batch:
    """The cells to buy, in the order in which they were chosen.

    Attributes
    ----------
    rows : (k,) array
        Row ids, or row numbers from 0 where rows have no ids.
    columns : (k,) array of str
    scores : (k,) array
    prices : (k,) array
    row_numbers, column_numbers : (k,) arrays of int
    """

    rows: NDArray[Any]
    columns: NDArray[Any]
    scores: Array
    prices: Array
    row_numbers: Index
    column_numbers: Index

    @property
    def cost(self) -> float:
        """The bill."""
        return float(self.prices.sum())

    @property
    def score(self) -> float:
        """The sum of the worths."""
        return float(self.scores.sum())


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cells that may be in the batch, by row and then column, with ids and worths; (k,) each."""

    rows: Index
    columns: Index
    ids: NDArray[Any]
    scores: Array

    def take(self, which: Index) -> Candidates:
        """Return some of them, in the order given."""
        return Candidates(self.rows[which], self.columns[which], self.ids[which], self.scores[which])


def select_cells(
    done: CompletedBlocks,
    scorer: Scorer | BlockScorer,
    selector: Any,
    *,
    budget: float | None = None,
    count: int | None = None,
    prices: Prices | None = None,
) -> Batch:
    """Spend a budget on the holes of a table of row blocks, without bringing all worths to one place.

    Each block names its best cells of each price, as many as the budget could buy at most; no others can
    be in the batch.

    Parameters
    ----------
    done : CompletedBlocks
    scorer : Variance, PosteriorVariance, PosteriorImpact, or a `BlockScorer` of one
    selector : Top, Ratio or Knapsack
        Without limits by row.
    budget, count : float and int, optional
        At least one of them.
    prices : Prices, optional
        By column, without groups and visits; by default each cell costs 1.

    Notes
    -----
    One pass. Memory here: about 100 bytes for each cell that the budget could buy of each price.
    """
    scores = (scorer if isinstance(scorer, BlockScorer) else BlockScorer(scorer)).score(done)
    _check_selector(selector)
    money, number = check_limits(budget, count)
    own = _column_prices(prices, done.source.columns)
    different, group = np.unique(own, return_inverse=True)
    most = np.minimum(number, np.floor(money / different * (1 + SLACK)))
    # The cells of one price are alike but for their worths: of each price only the best can be in the batch.
    found: Candidates = scores.reduce(best_of_block, Merge(group, most), shared=(group, most))
    offer = Offer(
        found.scores[:, None],
        np.ones((len(found.rows), 1), dtype=bool),
        PriceList(own[found.columns][:, None], np.array([-1]), np.zeros(1), np.zeros(0, dtype=bool)),
        np.zeros((len(found.rows), 1), dtype=bool),
    )
    batch = selector.select(offer, budget=budget, count=count, rng=np.random.default_rng(0))
    cells = found.take(batch.cells[:, 0])
    names = np.array(done.source.columns, dtype=object)[cells.columns]
    return Batch(cells.ids, names, cells.scores, batch.prices, cells.rows, cells.columns)


def _check_selector(selector: Any) -> None:
    plain = type(selector) in (Top, Ratio, Knapsack)
    if not plain or selector.per_row is not None or selector.crowding != 1:
        raise ParameterError(
            "over row blocks cells are chosen by Top, Ratio or Knapsack without limits by row; got "
            f"{selector!r}"
        )


def _column_prices(prices: Prices | None, columns: tuple[str, ...]) -> Array:
    """Return the price of each column, (d,); refuse prices that are not by column alone."""
    if prices is None:
        return np.ones(len(columns))
    if not isinstance(prices.cells, ByColumn) or prices.groups or prices.visit:
        raise ParameterError(
            f"over row blocks prices must be by column, without groups and visits; got {prices!r}"
        )
    one_row = Table.from_arrays(np.zeros((1, len(columns))), columns=list(columns))
    return np.array(prices.on(one_row).own[0])


def best_of_block(filled: FilledPart, scores: Array, group: Index, most: Array) -> Candidates:
    """Return the best holes of a block: of each price as many as can be bought at most."""
    rows, columns = np.nonzero(filled.holes)
    ids = rows + filled.part.start if filled.part.row_ids is None else filled.part.row_ids[rows]
    every = Candidates(rows + filled.part.start, columns, ids, scores[rows, columns])
    return _best(every, group, most)


@dataclass(frozen=True)
class Merge:
    """Puts the candidates of neighbouring blocks together, and keeps the best of each price."""

    group: Index
    most: Array

    def __call__(self, a: Candidates, b: Candidates) -> Candidates:
        """Return the best of both."""
        pairs = ((a.rows, b.rows), (a.columns, b.columns), (a.ids, b.ids), (a.scores, b.scores))
        return _best(Candidates(*(np.concatenate(pair) for pair in pairs)), self.group, self.most)


def _best(cells: Candidates, group: Index, most: Array) -> Candidates:
    """Return the cells of each price that come first by worth, ties by place; in their own order."""
    kept = []
    of_cell = group[cells.columns]
    for number, limit in enumerate(most):
        places = np.flatnonzero(of_cell == number)
        if len(places) > limit:
            places = places[_highest(cells.scores[places], int(limit))]
        kept.append(places)
    return cells.take(np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.intp))


def _highest(scores: Array, k: int) -> Index:
    """Return the places of the k highest scores, ties by place; O(N + k log k)."""
    if k == 0:
        return np.zeros(0, dtype=np.intp)
    limit = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, level = np.flatnonzero(scores > limit), np.flatnonzero(scores == limit)
    return np.concatenate([above, level[: k - len(above)]])
