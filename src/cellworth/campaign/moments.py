"""The table of a campaign at some moments of its past, evenly spaced in money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellworth.campaign.state import State, Status
from cellworth.campaign.stores.store import Event
from cellworth.table import Table

_CHANGES = ("told", "corrected", "extended")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A campaign after one of its events.

    Attributes
    ----------
    number : int
        Of the event; 0 before the first.
    round : int
        Rounds asked by then.
    spent : float
        Money.
    bought : int
        Cells that were told.
    table : Table
    """

    number: int
    round: int
    spent: float
    bought: int
    table: Table


def snapshots(original: Table, events: Sequence[Event], most: int) -> list[Snapshot]:
    """Return the beginning, the newest table, and others between, at most ``most`` (2 or more) in all.

    One after each event that changed the table; of more than ``most``, some that are evenly spaced in money,
    or in number where nothing was spent. O(events), and O(n p) a snapshot.
    """
    wanted = _thin([0, *_changed(events)], [0.0, *_spent(events)], most)
    state = State(original)
    found = [_of(state)]
    for event in events:
        state.apply(event)
        if event.number in wanted:
            found.append(_of(state))
    return found


def _of(state: State) -> Snapshot:
    bought = int((state.status == Status.TOLD).sum())
    return Snapshot(state.number, len(state.rounds), state.money.spent, bought, state.table())


def _changed(events: Sequence[Event]) -> list[int]:
    return [event.number for event in events if event.kind in _CHANGES]


def _spent(events: Sequence[Event]) -> list[float]:
    """Return what was spent by each event that changed the table."""
    prices = [
        sum(cell[3] for cell in event.data["cells"]) if event.kind == "told" else 0.0
        for event in events
        if event.kind in _CHANGES
    ]
    return np.cumsum(prices).tolist()


def _thin(numbers: list[int], spent: list[float], most: int) -> set[int]:
    if len(numbers) <= most:
        return set(numbers)
    place = np.array(spent) if spent[-1] > 0 else np.arange(len(numbers), dtype=float)
    chosen = np.searchsorted(place, np.linspace(0, place[-1], most)[:-1])
    return {numbers[k] for k in chosen} | {numbers[0], numbers[-1]}
