"""What the cells of a table in row blocks are worth and cost: of some rows, or in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellworth.arrays import Float64Array, IntArray
from cellworth.blocks.engine_protocol import join
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.writing import FilledPart
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_values import MAY_COME
from cellworth.campaign.current_cells import CellArrays, MarkedCells, check_range
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import NewestRound, Rounds
from cellworth.campaign.worth_totals import WorthTotals
from cellworth.errors import ParameterError
from cellworth.prices import Prices
from cellworth.score.block_scores import BlockScores
from cellworth.strategy.block_adviser import NO_CELLS
from cellworth.strategy.block_batch import BlockOffers, Explored
from cellworth.strategy.block_prices import BlockPrices

MOST_CELLS = 4_000_000
"""Cells that can be had as arrays at once: about 100 MB."""


@dataclass(frozen=True, eq=False)
class CellsOfBlock:
    """Makes the arrays of a block's cells; sent to the workers."""

    offers: BlockOffers
    marked: MarkedCells

    def __call__(self, part: Part, scores: Float64Array | None) -> CellArrays:
        """Return the cells of some rows, given the scores of their numeric columns; None if all are 0."""
        known, listed = self.offers.known(part), self.offers.prices.on(part)
        worth = np.zeros(known.shape)
        if scores is not None:
            found = self.offers.worths(part, scores)[:, : known.shape[1]]
            worth[:, : found.shape[1]] = found
        status = self.marked.statuses(known, part.start + np.arange(len(known)))
        return CellArrays.of(status, ~known, listed.marginal(known), worth)


class WorthsOnBlocks:
    """The cells of a table in row blocks; see `CellWorths`. Keeps the newest round, not its scores."""

    def __init__(self, log: Log, in_force: BudgetAndPrices, make_rounds: Callable[[], Rounds]) -> None:
        self._log, self._in_force, self._make_rounds = log, in_force, make_rounds
        self._newest: tuple[tuple[int, Prices], NewestRound] | None = None

    def cells(self, first: int = 0, last: int | None = None) -> CellArrays:
        """Return the cells of a range of rows; a round if the table has changed, and their blocks."""
        n, width = self._log.state.index.n_rows, len(self._log.state.index.columns)
        first, last = check_range(first, last, n)
        if (last - first) * width > MOST_CELLS:
            enough = first + max(1, MOST_CELLS // width // 2)
            raise ParameterError(
                f"the table is in row blocks, and the {last - first:,} rows from {first:,} to {last:,} have "
                f"more cells than can be had at once, {MOST_CELLS:,}. Ask for fewer rows, as in "
                f"cells({first}, {enough}), or for their sums: worths.totals()."
            )
        found: tuple[tuple[int, CellArrays], ...] = self._reduce(_with_start, join, np.arange(first, last))
        return CellArrays.joined([each.of_rows(max(first - at, 0), last - at) for at, each in found])

    def totals(self) -> WorthTotals:
        """Return the totals of all cells; a round if the table has changed, and a pass."""
        totals: WorthTotals = self._reduce(_totals, WorthTotals.added, None)
        return totals

    def marked(self) -> MarkedCells:
        """Return the cells that were asked for, told or refused; reads no file."""
        return MarkedCells(*self._log.state.cells.marked())

    def _reduce(self, then: Callable[..., Any], merge: Callable[..., Any], rows: IntArray | None) -> Any:
        """Call ``then(start, cells)`` on the blocks of some rows, or on all, and merge what it returns."""
        state = self._log.state
        prices = BlockPrices.of(self._in_force.prices, state.table())
        marked = self.marked()
        if not self._left():
            source: Source = state.table().source()
            offers = BlockOffers(prices, state.table().unmeasured, NO_CELLS, NO_CELLS, Explored())
            source = source if rows is None else source.only(source.places_of(rows))
            return source.reduce(_Unscored(CellsOfBlock(offers, marked), then), merge)
        scores, offers = self._round().adviser.on_offer(prices)
        if rows is not None:
            scores = _only(scores, rows)
        return scores.reduce(_Scored(CellsOfBlock(offers, marked), then), merge)

    def _left(self) -> bool:
        state = self._log.state
        return any(state.count(each, labels=labels) for each in MAY_COME for labels in (False, True))

    def _round(self) -> NewestRound:
        key = self._log.state.table_number, self._in_force.prices
        if self._newest is None or self._newest[0] != key:
            self._newest = key, self._make_rounds().newest(since=self._log.state.table_number)
        return self._newest[1]


def _only(scores: BlockScores, rows: IntArray) -> BlockScores:
    return scores.only(scores.completed.source.places_of(rows))


@dataclass(frozen=True, eq=False)
class _Scored:
    """Makes the cells of a scored block, and calls a function on them."""

    cells: CellsOfBlock
    then: Callable[..., Any]

    def __call__(self, filled: FilledPart, scores: Float64Array) -> Any:
        return self.then(filled.part.start, self.cells(filled.part, scores))


@dataclass(frozen=True, eq=False)
class _Unscored:
    """The same, of a block that has nothing to buy."""

    cells: CellsOfBlock
    then: Callable[..., Any]

    def __call__(self, part: Part) -> Any:
        return self.then(part.start, self.cells(part, None))


def _with_start(start: int, cells: CellArrays) -> tuple[tuple[int, CellArrays], ...]:
    return ((start, cells),)


def _totals(start: int, cells: CellArrays) -> WorthTotals:
    return WorthTotals.of(cells)
