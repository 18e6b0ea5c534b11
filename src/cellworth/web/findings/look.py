"""A campaign after one of its events, with what several findings need of it worked out once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cellworth import strategy as strategies
from cellworth.campaign import Campaign
from cellworth.campaign.cells import CellArrays
from cellworth.campaign.status import Status
from cellworth.complete import FilledTable
from cellworth.report.measures import Measure, measure
from cellworth.table import Table

T = TypeVar("T")

_COSTLY = ("cells", "filled", "measures", "standing")


class Look:
    """A campaign as it was after an event; it stays so, whatever is told meanwhile.

    Attributes
    ----------
    view : Campaign
        A replay, up to the event.
    number : int
        Of the event.
    cells, filled, measures, standing
        What `Campaign.cells`, `Campaign.fill`, `measure` and `Campaign.status` say, each worked out at its
        first use. ``filled`` is None where no cell is missing.
    """

    def __init__(self, campaign: Campaign, before: Look | None = None) -> None:
        self.number = campaign.number
        self.view = campaign.replay(self.number)
        # All that is costly depends on the table and on what is refused. Refusals are only ever added to,
        # as long as the table stays the same: their number tells them apart.
        self._basis = self.view.table_number, self.view.totals().refused
        self._kept: dict[str, tuple[object, Any]] = {} if before is None else before._kept
        if before is not None and before._basis == self._basis:
            kept = {name: before.__dict__[name] for name in _COSTLY if name in before.__dict__}
            self.__dict__.update(kept)

    def once(self, what: str, key: object, make: Callable[[], T]) -> T:
        """Return what ``make`` gives for a key; the last one of each ``what`` is kept from look to look."""
        if what not in self._kept or self._kept[what][0] != key:
            self._kept[what] = key, make()
        result: T = self._kept[what][1]
        return result

    @property
    def table(self) -> Table:
        """The table with the answers so far."""
        return self.view.table

    @cached_property
    def cells(self) -> CellArrays:
        """The cells as arrays."""
        return self.view.cells()

    @cached_property
    def filled(self) -> FilledTable | None:
        """The table filled, with intervals."""
        return self.view.fill() if self.table.holes.any() else None

    @cached_property
    def measures(self) -> list[Measure | None]:
        """How well each column is filled."""
        return measure(self.table, strategies.get(self.view.strategy).completer)

    @cached_property
    def standing(self) -> Status:
        """Where the campaign stands; money and open cells may be of an earlier event."""
        return self.view.status()

    @property
    def standing_now(self) -> Status:
        """The standing, with the money and the open cells of this event."""
        view = self.view
        return replace(
            self.standing,
            number=self.number,
            reserved=view.reserved,
            left=view.left,
            open=len(view.open_purchases()),
        )

    @property
    def average_worth(self) -> float:
        """The mean worth of the cells that can be had: worths are told in units of it. 1 if it is 0."""
        available = self.cells.available
        return float(self.cells.worth[available].mean()) or 1.0 if available.any() else 1.0

    @property
    def out(self) -> NDArray[np.bool_]:
        """(n, p) bool: the cells that are asked for."""
        return self.cells.asked


_LAST: WeakKeyDictionary[Campaign, Look] = WeakKeyDictionary()


def look_of(campaign: Campaign) -> Look:
    """Return the campaign as of its newest event; the last look of each campaign is kept for the next call.

    O(n p + events) after a new event. What is costly is worked out anew only if the table has changed, or a
    cell was refused.
    """
    before = _LAST.get(campaign)
    if before is None or before.number != campaign.number:
        before = _LAST[campaign] = Look(campaign, before)
    return before
