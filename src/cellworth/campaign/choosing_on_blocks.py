"""Choose the cells to ask for from the scores of a round, for a table in row blocks."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from cellworth.arrays import IntArray
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.cells_on_blocks import CellsOnBlocks
from cellworth.campaign.choosing import ChosenCells, Limits, terms_of
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import NewestRound
from cellworth.prices import Prices
from cellworth.strategy import Strategy
from cellworth.strategy.block_prices import BlockPrices
from cellworth.table import Column


class ChooserOnBlocks:
    """Chooses in one pass over the blocks, or two; memory is that of the rows that the batch could touch."""

    def __init__(self, log: Log, in_force: BudgetAndPrices) -> None:
        self._log = log
        self._in_force = in_force
        self._list: tuple[Prices, tuple[Column, ...], BlockPrices] | None = None

    def can_buy(self, limits: Limits, time: datetime) -> bool:
        """Return whether a cell or label is left, and the money buys the cheapest there could be."""
        if limits.count == 0 or not self._left(time):
            return False
        return limits.budget is None or self._prices().least <= limits.budget

    def cheapest(self, time: datetime) -> float:
        """Return a price that no cell is below as the only one of a batch; infinite if none is left."""
        return self._prices().least_alone if self._left(time) else np.inf

    def choose(
        self, newest: NewestRound, strategy: Strategy, limits: Limits, time: datetime
    ) -> ChosenCells | None:
        """Return what to ask for by the scores of a round; None if nothing can be bought."""
        state, prices = self._log.state, self._prices()
        gone, learned, lost = self._gone(time)
        choice = newest.adviser.choose(
            prices,
            gone=gone,
            learned=learned,
            refused_labels=lost,
            budget=limits.budget,
            count=limits.count,
            asks_before=state.asks_by_round[newest.round],
        )
        selection = choice.selection
        if len(selection.cells) == 0:
            return None
        cells = np.column_stack([choice.rows[selection.cells[:, 0]], selection.cells[:, 1]])
        state.index.rows.meet_places(cells[:, 0])
        return ChosenCells(
            cells,
            selection.prices.tolist(),
            selection.scores.tolist(),
            newest.adviser.reasons(choice),
            terms_of(self._in_force.prices, choice.offer.prices, selection, choice.offer.before),
        )

    def _left(self, time: datetime) -> int:
        """Return how many cells and labels can be bought."""
        state, labels = self._log.state, self._prices().base.labels
        left = state.count(CellStatus.HOLE) + (state.count(CellStatus.HOLE, labels=True) if labels else 0)
        p = state.index.features
        return left + sum(1 for _, column in state.open.expired(time) if column < p or labels)

    def _gone(self, time: datetime) -> tuple[IntArray, IntArray, IntArray]:
        """Return the holes that cannot be bought, and the cells that were told, (k, 2) each.

        And the rows (k,) whose label was refused.
        """
        state = self._log.state
        assert isinstance(state.cells, CellsOnBlocks)
        rows, columns, status, _ = state.cells.changed()
        cells = np.column_stack([rows, columns]).astype(np.intp)
        gone = cells[np.isin(status, (CellStatus.ASKED, CellStatus.REFUSED))]
        expired = set(state.open.expired(time))
        if expired:
            gone = gone[np.array([(i, j) not in expired for i, j in gone.tolist()], dtype=bool)]
        lost = rows[(columns == state.index.features) & (status == CellStatus.REFUSED)].astype(np.intp)
        return gone.reshape(-1, 2), cells[status == CellStatus.TOLD], lost

    def _prices(self) -> BlockPrices:
        prices, columns = self._in_force.prices, self._log.state.index.columns
        if self._list is None or self._list[0] is not prices or self._list[1] != columns:
            self._list = prices, columns, BlockPrices.of(prices, self._log.state.table())
        return self._list[2]
