"""Choose the cells to ask for from the scores of a round, for a table in memory or in row blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import BoolArray, IntArray
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_values import HAS_VALUE, CellStatus
from cellworth.campaign.cells_on_blocks import CellsOnBlocks
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import NewestRound
from cellworth.campaign.spending import Terms
from cellworth.prices import PriceList, Prices
from cellworth.select import Selection
from cellworth.strategy import Strategy
from cellworth.strategy.block_prices import BlockPrices
from cellworth.strategy.choose_batch import choose
from cellworth.strategy.reasons import Reasons
from cellworth.table import Column


@dataclass(frozen=True, eq=False)
class ChosenCells:
    """Cells to ask for, best first.

    Attributes
    ----------
    cells : (k, 2) int array
        The positions of their rows and columns.
    prices, worths : list of float
    reasons : list of str
    terms : tuple of Terms or None
        What each cell owes; None if no fees are shared.
    """

    cells: IntArray
    prices: list[float]
    worths: list[float]
    reasons: list[str]
    terms: tuple[Terms, ...] | None


@dataclass(frozen=True)
class Limits:
    """The most money and the most cells of an ask; None for no limit."""

    budget: float | None
    count: int | None


class Chooser(Protocol):
    """Chooses the cells of an ask in the newest state of a log."""

    def can_buy(self, limits: Limits, time: datetime) -> bool:
        """Return False if it is plain, without a round, that nothing can be bought."""

    def cheapest(self, time: datetime) -> float:
        """Return a price that no cell left is below as the only one of a batch; infinite if none is left."""

    def choose(
        self, newest: NewestRound, strategy: Strategy, limits: Limits, time: datetime
    ) -> ChosenCells | None:
        """Return what to ask for by the scores of a round; None if nothing can be bought."""


class ChooserInMemory:
    """Chooses from arrays of all cells; O(n p)."""

    def __init__(self, log: Log, in_force: BudgetAndPrices) -> None:
        self._log = log
        self._in_force = in_force
        self._list: tuple[Prices, PriceList] | None = None

    def can_buy(self, limits: Limits, time: datetime) -> bool:
        """Return whether a cell is left that the money can buy."""
        cheapest = self.cheapest(time)
        if limits.count == 0 or cheapest == math.inf:
            return False
        return limits.budget is None or cheapest <= limits.budget

    def cheapest(self, time: datetime) -> float:
        """Return what the cheapest cell left costs as the only one of a batch; infinite if none is left."""
        available, before = self._offered(time)
        if not available.any():
            return math.inf
        return float(self._price_list().marginal(before)[available].min())

    def choose(
        self, newest: NewestRound, strategy: Strategy, limits: Limits, time: datetime
    ) -> ChosenCells | None:
        """Return what to ask for by the scores of a round; None if nothing can be bought."""
        state, prices = self._log.state, self._price_list()
        available, before = self._offered(time)
        selection = choose(
            strategy.selector,
            newest.scored,
            prices,
            available=available,
            before=before,
            budget=limits.budget,
            count=limits.count,
            asks_before=state.asks_by_round[newest.round],
            refused_labels=state.status[:, -1] == CellStatus.REFUSED if prices.labels else None,
        )
        if len(selection.cells) == 0:
            return None
        reasons = Reasons(
            state.index.columns[: state.index.features],
            newest.completer,
            newest.scored.scores,
            strategy.selector,
            prices=prices,
            available=available,
            before=before,
        )
        return ChosenCells(
            selection.cells,
            selection.prices.tolist(),
            selection.scores.tolist(),
            reasons.of(selection),
            terms_of(self._in_force.prices, prices, selection, before),
        )

    def _offered(self, time: datetime) -> tuple[BoolArray, BoolArray]:
        """Return which cells (n, p) can be bought, and which are known."""
        state = self._log.state
        available = state.status == CellStatus.HOLE
        for cell in state.open.expired(time):
            available[cell] = True
        for_sale = slice(0, self._price_list().own.shape[1])
        return available[:, for_sale], state.has(*HAS_VALUE)[:, for_sale]

    def _price_list(self) -> PriceList:
        """Return the prices of all cells, and of labels if they have one.

        They change only when rows are added or prices change.
        """
        prices = self._in_force.prices
        n = self._log.state.index.n_rows
        if self._list is None or self._list[0] is not prices or len(self._list[1].own) != n:
            self._list = prices, prices.on(self._log.state.table())
        return self._list[1]


def terms_of(
    stated: Prices, prices: PriceList, selection: Selection, before: BoolArray
) -> tuple[Terms, ...] | None:
    """Return what each cell of a selection owes; None if no fees are shared."""
    if prices.additive:
        return None
    opened = prices.opened(before, selection.cells[:, 0])
    found: list[Any] = []
    for place, (i, j) in enumerate(selection.cells.tolist()):
        group = int(prices.group_of[j])
        is_open = group < 0 or bool(opened[place, group])
        name = stated.groups[group].name if group >= 0 else None
        lasting = group >= 0 and bool(prices.lasting[group])
        fee = 0.0 if is_open else float(prices.fee[j])
        found.append(Terms(float(prices.own[i, j]), float(prices.visit), fee, name, lasting))
    return tuple(found)


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
