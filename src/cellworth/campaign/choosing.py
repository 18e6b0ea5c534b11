"""Choose the cells to ask for from the scores of a round, for a table in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from cellworth.arrays import BoolArray, IntArray
from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.cell_values import HAS_VALUE, CellStatus
from cellworth.campaign.log import Log
from cellworth.campaign.rounds import NewestRound
from cellworth.campaign.spending import Terms
from cellworth.prices import PriceList, Prices
from cellworth.select import Selection
from cellworth.strategy import Strategy
from cellworth.strategy.choose_batch import choose
from cellworth.strategy.reasons import Reasons


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
