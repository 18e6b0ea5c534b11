"""The budget and prices in force, and how they change during a campaign."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from cellworth.campaign.campaign_events import BudgetChanged, PricesChanged
from cellworth.campaign.event_codec import check_optional_text
from cellworth.campaign.log import Log
from cellworth.campaign.settings import check_budget
from cellworth.campaign.state import State
from cellworth.errors import ConflictError, ParameterError
from cellworth.prices import AnyPrices, Prices
from cellworth.prices.currency import money_text


class BudgetAndPrices:
    """The budget and prices in force as of the last event read: the last change, or those of the start."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._read: tuple[PricesChanged | None, Prices] | None = None
        self._groups: tuple[Prices, dict[str, str]] | None = None

    @property
    def budget(self) -> float | None:
        """The most that may be spent in the whole campaign; None for no limit."""
        change = self._log.state.new_budget
        found: float | None = self._log.settings["budget"] if change is None else change.new
        return found

    @property
    def prices(self) -> Prices:
        """The prices of cells asked for now."""
        return self.prices_as_of(self._log.state.number)

    def prices_as_of(self, number: int) -> Prices:
        """Return the prices that were in force after an event."""
        changes = (content for at, content in reversed(self._log.state.price_changes) if at <= number)
        change = next(changes, None)
        if self._read is None or self._read[0] is not change:
            stored: dict[str, Any] = self._log.settings["prices"] if change is None else change.prices
            self._read = change, Prices.from_dict(stored)
        return self._read[1]

    def check(self, prices: Prices) -> None:
        """Raise DataError if a cell of the table has no price by these."""
        self._log.founding.check_prices(prices, self._log.state.table())

    @property
    def groups(self) -> dict[str, str]:
        """The price group of each column that has one."""
        prices = self.prices
        if self._groups is None or self._groups[0] is not prices:
            found = {column: group.name for group in prices.groups for column in group.columns}
            self._groups = prices, found
        return self._groups[1]


class NewBudget:
    """A budget to put in force; None for no limit."""

    def __init__(self, in_force: BudgetAndPrices, budget: float | None, reason: str | None) -> None:
        self._in_force, self._budget = in_force, budget
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: State, time: datetime) -> BudgetChanged | None:
        """Return the change; None if there is none. ConflictError if more is spent and reserved."""
        old, currency = self._in_force.budget, self._in_force.prices.currency
        new = None if self._budget is None else check_budget(self._budget, currency)
        if new == old:
            return None
        ended = state.ended(time)
        if new is not None and state.money.left(new, ended) < 0:
            spent, reserved = state.money.spent, state.money.reserved(ended)
            least = money_text(state.money.committed(ended), currency)
            raise ConflictError(
                f"a budget of {money_text(new, currency)} is below what is spent, "
                f"{money_text(spent, currency)}, and reserved, {money_text(reserved, currency)}. "
                f"Give at least {least}, or cancel cells that are out first."
            )
        return BudgetChanged(old, new, self._reason)


class NewPrices:
    """Prices to put in force, for cells that are asked for from then on; by default in the same currency."""

    def __init__(self, in_force: BudgetAndPrices, prices: AnyPrices, reason: str | None) -> None:
        self._in_force, self._prices = in_force, Prices.of(prices)
        self._reason = check_optional_text("the reason", reason)

    def __call__(self, state: State, time: datetime) -> PricesChanged | None:
        """Return the change; None if there is none. DataError if a cell has no price."""
        old, new = self._in_force.prices, self._prices
        if new.currency is None:
            new = replace(new, currency=old.currency)
        if old.currency != new.currency:
            raise ParameterError(
                f"the currency of a campaign cannot change: it has {old.currency or 'none'}, and the new "
                f"prices are in {new.currency}."
            )
        stored = new.to_dict()
        if stored == old.to_dict():
            return None
        self._in_force.check(new)  # fail now if a cell has no price
        return PricesChanged(stored, self._reason)
