"""From the scores of a round to the cells that are asked for, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.campaign.log import Data, Log
from cellworth.campaign.rounds import NewestRound, Rounds
from cellworth.campaign.state import State, Status
from cellworth.campaign.stores.store import Event
from cellworth.errors import ParameterError
from cellworth.prices import PriceList, Prices
from cellworth.select import Selection, Selector
from cellworth.select.offer import check_limits
from cellworth.strategy import Batch, Purchase
from cellworth.strategy.adviser import choose
from cellworth.table import Column
from cellworth.wording import shorten

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Wish:
    """What is asked: at most so much money, at most so many cells, and for how long they are reserved."""

    budget: float | None
    count: int | None
    lease: timedelta | None

    def __post_init__(self) -> None:
        if self.budget is not None or self.count is not None:
            check_limits(self.budget, self.count)

    def plain(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "budget": None if self.budget is None else float(self.budget),
            "count": None if self.count is None else int(self.count),
            "lease": None if self.lease is None else self.lease.total_seconds(),
        }


class Asker:
    """Chooses the cells to ask for. One ask costs a round, if one is due, and a selection."""

    def __init__(
        self,
        log: Log,
        rounds: Rounds,
        selector: Selector,
        prices: Prices,
        *,
        budget: float | None,
    ) -> None:
        self._log = log
        self._rounds = rounds
        self._selector = selector
        self._prices = prices
        self._budget = budget
        self._list: PriceList | None = None

    def asked(self, wish: Wish, time: datetime, *, may_begin: bool, tentative: bool = False) -> Data | None:
        """Return the data of the next event, on the newest state; None if nothing can be had.

        ``tentative`` if it is not meant to be recorded.
        """
        state = self._log.state
        available, before, limit = self._offered(wish, time)
        if wish.count == 0 or not available.any():
            return None
        prices = self._price_list()
        if limit is not None and prices.marginal(before)[available].min() > limit:
            return None
        standing = self._rounds.newest(may_begin=may_begin, tentative=tentative)
        selection = choose(
            self._selector,
            standing.scored,
            prices,
            available=available,
            before=before,
            budget=limit,
            count=wish.count,
            asks_before=self._log.state.asks_by_round[standing.round],
        )
        if len(selection.cells) == 0:
            return None
        scores = standing.scored.scores
        average = float(scores[available[: len(scores)]].mean())
        return {
            "round": standing.round,
            "based_on": standing.based_on,
            "until": None if wish.lease is None else (time + wish.lease).isoformat(),
            "cells": list(_cells(state, standing, selection, average)),
        }

    def _offered(self, wish: Wish, time: datetime) -> tuple[Mask, Mask, float | None]:
        """Return the cells that can be had, those that are known, and the most money to spend."""
        state = self._log.state
        expired = state.expired(time)
        available = state.status == Status.HOLE
        for cell in expired:
            available[cell] = True
        before = (state.status == Status.KNOWN) | (state.status == Status.TOLD)
        limit = wish.budget
        if self._budget is not None:
            left = state.money.spendable(self._budget, [state.asked[cell].price for cell in expired])
            limit = left if limit is None else min(left, limit)
        elif limit is None and wish.count is None:
            raise ParameterError(
                "an ask needs a limit, for the campaign has no budget: give budget=, count=, or both."
            )
        return available, before, limit

    def _price_list(self) -> PriceList:
        """Return the prices of the table's cells; they change only when rows are added."""
        if self._list is None or self._list.own.shape != self._log.state.values.shape:
            self._list = self._prices.on(self._log.state.table())
        return self._list


def purchases(event: Event, groups: dict[str, str]) -> Batch:
    """Return what an event asked for; ``groups`` has the price group of each column that is in one."""
    until = None if event.data["until"] is None else datetime.fromisoformat(event.data["until"])
    return Batch(
        Purchase(row, column, price, worth, groups.get(column), why, until, event.who)
        for row, column, price, worth, why in event.data["cells"]
    )


def _cells(state: State, standing: NewestRound, selection: Selection, average: float) -> Iterator[list[Any]]:
    chosen: Any = zip(
        selection.cells.tolist(), selection.prices.tolist(), selection.scores.tolist(), strict=True
    )
    starts = np.searchsorted(standing.owner, np.arange(len(state.places.columns) + 1))
    for (i, j), price, worth in chosen:
        row, column = state.places.names((i, j))
        guess = _guess(state.places.columns[j], standing.completer, i, slice(starts[j], starts[j + 1]))
        much = f"worth {worth / average:.2g} times the average hole; " if average > 0 else ""
        yield [row, column, price, worth, f"{guess}; {much}costs {price:.2f}"]


def _guess(column: Column, completer: Any, row: int, block: slice) -> str:
    """Say in words what is thought of a cell; ± is one standard deviation."""
    filled = np.asarray(completer.completed_[row, block], dtype=np.float64)
    if column.kind in ("number", "integer", "date"):
        unit = {"date": " days"}.get(column.kind, "" if column.unit is None else f" {column.unit}")
        variance = getattr(completer, "variance_", None)
        if variance is not None:
            return f"known only to ±{float(np.sqrt(variance[row, block.start])):.2g}{unit}"
        if column.kind != "date":
            return f"guessed to be {float(filled[0]):.3g}{unit}"
    best = float(np.argmax(filled)) if len(filled) > 1 else float(column.nearest(filled)[0])
    return f"guessed to be {shorten(column.format(best))}"
